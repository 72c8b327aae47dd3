// Rows that may be among the best, taken out the most promising first: by the most that text match and bonus can be
// together, of equal rows the newest. Knows numbers, not how they came about.
//
//   entry: | f64 bound | u32 row | u32 number of the row where it was scored |
import { scratch } from "../memory/arena";
import { Mem } from "../memory/mem";

const ENTRY_ROW: usize = 8;
const ENTRY_NUMBER: usize = 12;
const ENTRY_BYTES: usize = 16;
const ENTRIES_FIRST: u32 = 1024;

let entries: usize = 0;
let capacity: u32 = 0;
let held: u32 = 0;
let largest: usize = 0; // f64: a heap, the smallest on top
let largestRoom: u32 = 0;

/** Must be called before the first use in a kernel call. */
export function bestFirstSetUp(): void {
  capacity = 0;
  largestRoom = 0;
}

export function bestFirstClear(): void {
  held = 0;
}

/** Puts a row in; `bestFirstReady` must follow before rows are taken out. */
export function bestFirstAdd(bound: f64, row: u32, number: u32): void {
  if (held == capacity) grow();
  const entry = entries + <usize>held * ENTRY_BYTES;
  held++;
  Mem.putF64(entry, bound);
  Mem.putU32(entry + ENTRY_ROW, row);
  Mem.putU32(entry + ENTRY_NUMBER, number);
}

function grow(): void {
  capacity = max(ENTRIES_FIRST, capacity * 2);
  const grown = scratch(<usize>capacity * ENTRY_BYTES);
  Mem.copy(grown, entries, <usize>held * ENTRY_BYTES);
  entries = grown;
}

export function bestFirstCount(): u32 {
  return held;
}

/** Number of the i-th row that was put in, until `bestFirstReady`. */
export function bestFirstNumberAt(i: u32): u32 {
  return Mem.u32At(entries + <usize>i * ENTRY_BYTES + ENTRY_NUMBER);
}

/** Makes a heap of the rows. */
export function bestFirstReady(): void {
  for (let i = held >> 1; i > 0; i--) sink(i - 1, Mem.v128At(entries + <usize>(i - 1) * ENTRY_BYTES));
}

export function bestFirstAny(): bool {
  return held > 0;
}
export function bestFirstBound(): f64 {
  return Mem.f64At(entries);
}
export function bestFirstRow(): u32 {
  return Mem.u32At(entries + ENTRY_ROW);
}
export function bestFirstNumber(): u32 {
  return Mem.u32At(entries + ENTRY_NUMBER);
}

/** Takes the first row out. */
export function bestFirstDrop(): void {
  held--;
  if (held > 0) sink(0, Mem.v128At(entries + <usize>held * ENTRY_BYTES));
}

/** Puts an entry in place of number i or below. */
function sink(i: u32, entry: v128): void {
  const bound = f64x2.extract_lane(entry, 0);
  const row = <u32>i32x4.extract_lane(entry, 2);
  while (true) {
    let child: u32 = 2 * i + 1;
    if (child >= held) break;
    let at = entries + <usize>child * ENTRY_BYTES;
    if (child + 1 < held && before(at + ENTRY_BYTES, Mem.f64At(at), Mem.u32At(at + ENTRY_ROW))) {
      child++;
      at += ENTRY_BYTES;
    }
    if (!before(at, bound, row)) break;
    Mem.putV128(entries + <usize>i * ENTRY_BYTES, Mem.v128At(at));
    i = child;
  }
  Mem.putV128(entries + <usize>i * ENTRY_BYTES, entry);
}

function before(entry: usize, bound: f64, row: u32): bool {
  const own = Mem.f64At(entry);
  return own > bound || (own == bound && Mem.u32At(entry + ENTRY_ROW) > row);
}

/** The k-th largest of `count` numbers at `values`, -Infinity when there are fewer. NaN counts as no number. */
export function kthLargest(values: usize, count: u32, k: u32): f64 {
  if (k == 0 || count < k) return -Infinity;
  if (k > largestRoom) {
    largest = scratch((<usize>k) << 3);
    largestRoom = k;
  }
  for (let i: usize = 0; i < <usize>k; i++) Mem.putF64(largest + (i << 3), -Infinity);
  let least = -Infinity;
  for (let i: usize = 0; i < <usize>count; i++) {
    const value = Mem.f64At(values + (i << 3));
    if (!(value > least)) continue;
    replaceLeast(value, k);
    least = Mem.f64At(largest);
  }
  return least;
}

function replaceLeast(value: f64, k: u32): void {
  let i: u32 = 0;
  while (true) {
    let child: u32 = 2 * i + 1;
    if (child >= k) break;
    if (
      child + 1 < k &&
      Mem.f64At(largest + ((<usize>(child + 1)) << 3)) < Mem.f64At(largest + ((<usize>child) << 3))
    )
      child++;
    const below = Mem.f64At(largest + ((<usize>child) << 3));
    if (below >= value) break;
    Mem.putF64(largest + ((<usize>i) << 3), below);
    i = child;
  }
  Mem.putF64(largest + ((<usize>i) << 3), value);
}
