// When a thread's heap counts as full.
import { getHeapStatistics } from "node:v8";
import { expect, test } from "vitest";
import { isHeapFull } from "../../../../../../server/http/frontends/thread/heap-mark.js";

const MIB = 1024 * 1024;
const ELEMENTS = 1024 * 1024; // of eight bytes each

/** Fills the heap with objects that are garbage once this returns. */
function fillTo(bytes: number): void {
  for (const held = []; used() < bytes; ) held.push(new Array(ELEMENTS).fill({}));
}

const used = (): number => getHeapStatistics().used_heap_size;

test("a heap below the mark is not full, and one that is above it after a collection is", () => {
  isHeapFull(1); // collects
  expect(isHeapFull(used() + 256 * MIB)).toBe(false);
  const held = Array.from({ length: 8 }, () => new Array(ELEMENTS).fill({}));
  expect(isHeapFull(used() - 1 * MIB)).toBe(true);
  expect(held).toHaveLength(8);
});

test("garbage does not fill a heap", () => {
  isHeapFull(1); // collects
  const mark = 2 * used() + 64 * MIB;
  fillTo(mark);
  expect(used()).toBeGreaterThanOrEqual(mark);
  expect(isHeapFull(mark)).toBe(false);
  expect(used()).toBeLessThan(mark);
});
