// The ranking signal "points": what the nearness of a neighbour is worth. It is added to the score of the words, or it is all
// that counts when neighbours come first. Only neighbours get it; they are few, so they are offered without a look at bounds.
// Value: `of`, which `textMatch` counts. Bound: `textMost`. Explanation: `of`.

import { Neighbours } from "../match/neighbours";
import { scratchZeroed } from "../memory/arena";
import { NeighbourProgram } from "../program/neighbour-program";
import { SearchProgram } from "../program/search-program";
import { textMatchOf, textMatchOfNeighbour } from "../rank/final-key";
import { textMatchIn } from "./row-state";

/** What the neighbours among the rows of the segment at hand are worth. In scratch. */
@unmanaged
export class NeighbourPoints {
  program: NeighbourProgram;
  neighbours: Neighbours;
  words: u32; // of the query
  wordsOfFull: u32; // SearchProgram

  static make(program: SearchProgram, neighbours: Neighbours): NeighbourPoints {
    const made = changetype<NeighbourPoints>(scratchZeroed(offsetof<NeighbourPoints>()));
    made.program = program.neighbours;
    made.neighbours = neighbours;
    made.words = program.wordCount;
    made.wordsOfFull = program.wordsOfFull;
    return made;
  }

  /** The row comes before all that are no neighbours, and nothing but its points counts. */
  areAll(row: u32): bool {
    return this.program.first && this.neighbours.matches(row);
  }

  /** The points that count for a row. */
  of(row: u32): f64 {
    const neighbours = this.neighbours;
    const counts = this.program.first ? neighbours.matches(row) : neighbours.has(row);
    return counts ? neighbours.pointsOf(row) : 0;
  }

  /** The text match of a row that matches; `score` is that of its words with their closeness. */
  textMatch(row: u32, score: f64, state: u32): f64 {
    const points = this.of(row);
    if (this.areAll(row)) return textMatchOfNeighbour(points);
    // A row lacks no word of a query without words. It has no full match for that.
    return this.words == 0
      ? textMatchOf(points, false, 0, false)
      : textMatchIn(score + points, state, this.wordsOfFull);
  }

  /** The most that a text match can be when words score at most `score` and no row is in a better state. */
  textMost(score: f64, state: u32): f64 {
    const most = this.program.most;
    return this.program.first
      ? textMatchOfNeighbour(most)
      : textMatchIn(score + most, state, this.wordsOfFull);
  }
}
