// The ranking signal "points": the worth of a neighbour's nearness. It is added to the score of the words, or
// counts alone if neighbours come first. Only neighbours get it. They are few, so they are offered without
// checking bounds. Value: `of`, which `textMatch` includes. Bound: `textMost`. Explanation: `of`.

import { Neighbours } from "../match/neighbours";
import { scratchZeroed } from "../memory/arena";
import { NeighbourProgram } from "../program/neighbour-program";
import { SearchProgram } from "../program/search-program";
import { textMatchOf, textMatchOfNeighbour } from "../rank/final-key";
import { textMatchIn } from "./row-state";

/** Points of the neighbours among the rows of the current segment. In scratch. */
@unmanaged
export class NeighbourPoints {
  program: NeighbourProgram;
  neighbours: Neighbours;
  words: u32; // words of the query
  wordsOfFull: u32; // SearchProgram

  static make(program: SearchProgram, neighbours: Neighbours): NeighbourPoints {
    const made = changetype<NeighbourPoints>(scratchZeroed(offsetof<NeighbourPoints>()));
    made.program = program.neighbours;
    made.neighbours = neighbours;
    made.words = program.wordCount;
    made.wordsOfFull = program.wordsOfFull;
    return made;
  }

  /** True if the row precedes all rows that are not neighbours and only its points count. */
  areAll(row: u32): bool {
    return this.program.first && this.neighbours.matches(row);
  }

  /** The points of a row. */
  of(row: u32): f64 {
    const neighbours = this.neighbours;
    const counts = this.program.first ? neighbours.matches(row) : neighbours.has(row);
    return counts ? neighbours.pointsOf(row) : 0;
  }

  /** Text match of a matching row; `score` is that of its words with their closeness. */
  textMatch(row: u32, score: f64, state: u32): f64 {
    const points = this.of(row);
    if (this.areAll(row)) return textMatchOfNeighbour(points);
    // In a query without words, a row lacks none. It has no full match because of that.
    return this.words == 0
      ? textMatchOf(points, false, 0, false)
      : textMatchIn(score + points, state, this.wordsOfFull);
  }

  /** Upper bound on a text match if words score at most `score` and no row is in a better state. */
  textMost(score: f64, state: u32): f64 {
    const most = this.program.most;
    return this.program.first
      ? textMatchOfNeighbour(most)
      : textMatchIn(score + most, state, this.wordsOfFull);
  }
}
