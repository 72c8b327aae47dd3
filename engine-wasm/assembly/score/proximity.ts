// How close the words of a query stand in a document: for every two words in a row the best pair of positions
// in one field. Reads positions, so it is asked only about rows that may be among the best, in any order.
import { Mem } from "../memory/mem";
import { wordAt, wordCount } from "../program/search-program";
import { positionsAt, positionsReset } from "../segment/positions";
import { nearRunBuffers, nearRunBytes, nearRuns, RUN_BYTES } from "./near-lists";

const GAP_MAX: u32 = 8;

/** The most that `proximityOf` can answer, summed in the same order. */
export function proximityBound(): f64 {
  let sum: f64 = 0;
  for (let i: u32 = 0; i + 1 < wordCount; i++) sum += min(wordAt(i).weight, wordAt(i + 1).weight);
  return sum;
}

/** Sum over neighbouring words of min(weights) * closeness in the row. */
export function proximityOf(row: u32): f64 {
  let left = nearRunBuffers();
  let right = left + nearRunBytes;
  positionsReset(false);
  let sum: f64 = 0;
  let leftCount = nearRuns(wordAt(0), row, left);
  for (let i: u32 = 1; i < wordCount; i++) {
    const rightCount = nearRuns(wordAt(i), row, right);
    const weight = min(wordAt(i - 1).weight, wordAt(i).weight);
    sum += weight * closest(left, leftCount, right, rightCount);
    const other = left;
    left = right;
    right = other;
    leftCount = rightCount;
  }
  return sum;
}

function closest(left: usize, leftCount: u32, right: usize, rightCount: u32): f64 {
  let best: f64 = 0;
  for (let i: usize = 0; i < <usize>leftCount; i++) {
    const a = left + i * RUN_BYTES;
    for (let j: usize = 0; j < <usize>rightCount; j++) {
      const b = right + j * RUN_BYTES;
      if (Mem.u32At(a) == Mem.u32At(b)) best = max(best, closeness(a, b));
    }
  }
  return best;
}

/** Best closeness of two ascending runs: 1/g for a step of g forward, 1/(2(g + 1)) for g back. */
function closeness(a: usize, b: usize): f64 {
  const aEnd = Mem.u32At(a + 8);
  const bFirst = Mem.u32At(b + 4);
  const bEnd = Mem.u32At(b + 8);
  let best: f64 = 0;
  let next = bFirst; // the first position of b behind p
  for (let i = Mem.u32At(a + 4); i < aEnd; i++) {
    const p = Mem.u32At(positionsAt(i));
    while (next < bEnd && Mem.u32At(positionsAt(next)) <= p) next++;
    if (next < bEnd) {
      const forward = Mem.u32At(positionsAt(next)) - p;
      if (forward <= GAP_MAX) best = max(best, 1 / <f64>forward);
    }
    if (next > bFirst) {
      const back = p - Mem.u32At(positionsAt(next - 1));
      if (back <= GAP_MAX) best = max(best, 1 / <f64>(2 * (back + 1)));
    }
  }
  return best;
}
