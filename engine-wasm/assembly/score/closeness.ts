// The ranking signal "closeness", which rewards neighbouring query words that are close to each other in a
// row. For each pair of neighbouring query words, the best pair of positions in one field counts. Only rows
// with several words get it. `of` computes the signal. It reads positions, so it is called only for rows that
// may be among the best; they may come in any order. `most` bounds the signal for any row, `bound` for a row
// whose words are known. `sumOf` returns the value before weighting, for explanations.

import { scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { SearchProgram } from "../program/search-program";
import { NearLists, RUN_BYTES } from "./near-lists";
import { ALL_WORDS, hasWord, wordsMatched } from "./row-state";

const GAP_MAX: u32 = 8;

/** Closeness of the words in the current segment's rows. Allocated in scratch memory. */
@unmanaged
export class Closeness {
  program: SearchProgram;
  near: NearLists;
  most: f64; // the most that closeness can add to any row's score

  static make(program: SearchProgram, near: NearLists): Closeness {
    const made = changetype<Closeness>(scratchZeroed(offsetof<Closeness>()));
    made.program = program;
    made.near = near;
    made.most = program.proximityWeight * made.sumMost(ALL_WORDS);
    return made;
  }

  /** True if closeness can add to the score of rows in this state: they need several matched words. */
  applies(state: u32): bool {
    return this.program.proximityWeight > 0 && wordsMatched(state) > 1;
  }

  /** Upper bound on what closeness adds to the score of a row in this state that has these words. */
  bound(state: u32, words: u64): f64 {
    return this.applies(state) ? this.program.proximityWeight * this.sumMost(words) : 0;
  }

  /**
   * How much closeness adds to the score of a row with these words. `applies` must be true for the row's
   * state.
   */
  of(row: u32, words: u64): f64 {
    return this.program.proximityWeight * this.sumOf(row, words);
  }

  /** Upper bound on `sumOf`, with the summands added in the same order. */
  private sumMost(words: u64): f64 {
    const count = this.program.wordCount;
    let sum: f64 = 0;
    for (let i: u32 = 1; i < count; i++) if (this.isPair(words, i)) sum += this.weightOf(i);
    return sum;
  }

  /** Sum of min(weights) * closeness over the pairs of neighbouring words that the row has. */
  sumOf(row: u32, words: u64): f64 {
    const program = this.program;
    const near = this.near;
    let left = near.runBuffers();
    let right = left + near.runBytes;
    this.near.positions.clear();
    let sum: f64 = 0;
    let leftCount: u32 = 0;
    // 1 + index of the word whose runs (see RUN_BYTES) are in the left buffer; 0 = none.
    let leftWord: u32 = 0;
    for (let i: u32 = 1; i < program.wordCount; i++) {
      if (!this.isPair(words, i)) continue;
      if (leftWord != i) leftCount = near.runs(program.wordAt(i - 1), row, left);
      const rightCount = near.runs(program.wordAt(i), row, right);
      sum += this.weightOf(i) * this.closest(left, leftCount, right, rightCount);
      const other = left;
      left = right;
      right = other;
      leftCount = rightCount;
      leftWord = i + 1;
    }
    return sum;
  }

  /** The most that closeness can add to a row's score for the word and the one before it. */
  pairMost(word: u32): f64 {
    return this.program.proximityWeight * this.weightOf(word);
  }

  /** True if both the word and the one before it are among `words`. */
  private isPair(words: u64, word: u32): bool {
    return hasWord(words, word - 1) && hasWord(words, word);
  }

  /**
   * What the pair of the word and its predecessor adds to the sum at closeness 1, that is, if the two are
   * adjacent.
   */
  private weightOf(word: u32): f64 {
    return min(this.program.wordAt(word - 1).weight, this.program.wordAt(word).weight);
  }

  private closest(left: usize, leftCount: u32, right: usize, rightCount: u32): f64 {
    let best: f64 = 0;
    for (let i: usize = 0; i < <usize>leftCount; i++) {
      const a = left + i * RUN_BYTES;
      for (let j: usize = 0; j < <usize>rightCount; j++) {
        const b = right + j * RUN_BYTES;
        if (Mem.u32At(a) == Mem.u32At(b)) best = max(best, this.closeness(a, b));
      }
    }
    return best;
  }

  /**
   * Best closeness of two positions, one from each run. A position in `b` counts 1/g if it is g after the
   * position in `a`, 1/(2(g + 1)) if it is g before it, and 0 if g is above GAP_MAX.
   */
  private closeness(a: usize, b: usize): f64 {
    const near = this.near;
    const aEnd = Mem.u32At(a + 8);
    const bFirst = Mem.u32At(b + 4);
    const bEnd = Mem.u32At(b + 8);
    let best: f64 = 0;
    let next = bFirst; // index of the first position in run `b` that is after `p`
    for (let i = Mem.u32At(a + 4); i < aEnd; i++) {
      const p = Mem.u32At(near.positions.at(i));
      while (next < bEnd && Mem.u32At(near.positions.at(next)) <= p) next++;
      if (next < bEnd) {
        const forward = Mem.u32At(near.positions.at(next)) - p;
        if (forward <= GAP_MAX) best = max(best, 1 / <f64>forward);
      }
      if (next > bFirst) {
        const back = p - Mem.u32At(near.positions.at(next - 1));
        if (back <= GAP_MAX) best = max(best, 1 / <f64>(2 * (back + 1)));
      }
    }
    return best;
  }
}
