// The ranking signal "points", which a document gets because its vector is near the query's. The points are
// added to the word score or, if neighbours rank first, replace it. Only neighbours get points. There are few
// of them, so they are offered without checking bounds. `of` returns a row's points, also for explanations;
// `textMatch` includes them, and `textMost` is the bound.

import { Neighbours } from "../match/neighbours";
import { scratchZeroed } from "../memory/arena";
import { NeighbourProgram } from "../program/neighbour-program";
import { SearchProgram } from "../program/search-program";
import { textMatchOf, textMatchOfNeighbour } from "../rank/final-key";
import { textMatchIn } from "./row-state";

/** The neighbours' points in the current segment. Allocated in scratch memory. */
@unmanaged
export class NeighbourPoints {
  program: NeighbourProgram;
  neighbours: Neighbours;
  words: u32; // number of words in the query
  wordsOfFull: u32; // see SearchProgram.wordsOfFull

  static make(program: SearchProgram, neighbours: Neighbours): NeighbourPoints {
    const made = changetype<NeighbourPoints>(scratchZeroed(offsetof<NeighbourPoints>()));
    made.program = program.neighbours;
    made.neighbours = neighbours;
    made.words = program.wordCount;
    made.wordsOfFull = program.wordsOfFull;
    return made;
  }

  /**
   * True if the row's points are its whole text match, because the row is a neighbour that ranks before all
   * other rows.
   */
  areAll(row: u32): bool {
    return this.program.first && this.neighbours.matches(row);
  }

  /**
   * A row's points. 0 for a row that is not a neighbour and, with `first`, for a neighbour without
   * NEIGHBOUR_MATCHES.
   */
  of(row: u32): f64 {
    const neighbours = this.neighbours;
    const counts = this.program.first ? neighbours.matches(row) : neighbours.has(row);
    return counts ? neighbours.pointsOf(row) : 0;
  }

  /** Text match of a matching row. `score` is its word score, including closeness. */
  textMatch(row: u32, score: f64, state: u32): f64 {
    const points = this.of(row);
    if (this.areAll(row)) return textMatchOfNeighbour(points);
    // In a query without words, no row lacks a word. That must not make every row a full match.
    return this.words == 0
      ? textMatchOf(points, false, 0, false)
      : textMatchIn(score + points, state, this.wordsOfFull);
  }

  /**
   * Upper bound on a text match if words score at most `score` and no row has a better state than `state`.
   */
  textMost(score: f64, state: u32): f64 {
    const most = this.program.most;
    return this.program.first
      ? textMatchOfNeighbour(most)
      : textMatchIn(score + most, state, this.wordsOfFull);
  }
}
