// A binary heap of addresses, worst on top, and a sort that turns it into an array, best first. The order is
// passed in as a function, so the heap knows nothing about what the addresses point to.
import { checkDeadline } from "../env";
import { CHECKED } from "./checked";
import { Mem } from "./mem";

const ADDRESSES_A_CHECK: u32 = 255;

/**
 * Returns true if `a` comes before `b` in the final order. Must not be true for both (a, b) and (b, a); if it
 * is false for both, `a` and `b` may end up in either order. `context` is passed through from the heap's
 * caller and is usually the address of data that the order depends on.
 */
type Before = (a: usize, b: usize, context: usize) => bool;

function at(heap: usize, i: u32): usize {
  return <usize>Mem.u32At(heap + ((<usize>i) << 2));
}
function put(heap: usize, i: u32, address: usize): void {
  Mem.putU32(heap + ((<usize>i) << 2), <u32>address);
}

/** Restores the heap after an address was appended: moves the last of `count` addresses up. */
export function heapRise(heap: usize, count: u32, before: Before, context: usize): void {
  let i = count - 1;
  const held = at(heap, i);
  while (i > 0) {
    const parent = (i - 1) >> 1;
    if (!before(at(heap, parent), held, context)) break;
    put(heap, i, at(heap, parent));
    i = parent;
  }
  put(heap, i, held);
}

/** Restores the heap after its top was replaced: moves the first of `count` addresses down. */
export function heapSink(heap: usize, count: u32, before: Before, context: usize): void {
  let i: u32 = 0;
  const held = at(heap, 0);
  while (true) {
    let child: u32 = 2 * i + 1;
    if (child >= count) break;
    if (child + 1 < count && before(at(heap, child), at(heap, child + 1), context)) child++;
    if (!before(held, at(heap, child), context)) break;
    put(heap, i, at(heap, child));
    i = child;
  }
  put(heap, i, held);
}

/** True if no address comes after its parent. */
function isHeap(heap: usize, count: u32, before: Before, context: usize): bool {
  for (let i: u32 = 1; i < count; i++) if (before(at(heap, (i - 1) >> 1), at(heap, i), context)) return false;
  return true;
}

function isSorted(heap: usize, count: u32, before: Before, context: usize): bool {
  for (let i: u32 = 1; i < count; i++) if (before(at(heap, i), at(heap, i - 1), context)) return false;
  return true;
}

/** Turns the heap into an array, best first. */
export function heapSort(heap: usize, count: u32, before: Before, context: usize): void {
  if (CHECKED) assert(isHeap(heap, count, before, context), "the worst address of a heap is on top");
  for (let left = count; left > 1; left--) {
    if ((left & ADDRESSES_A_CHECK) == 0) checkDeadline();
    const worst = at(heap, 0);
    put(heap, 0, at(heap, left - 1));
    put(heap, left - 1, worst);
    heapSink(heap, left - 1, before, context);
  }
  if (CHECKED) assert(isSorted(heap, count, before, context), "a sorted heap has the best address first");
}
