// State of one query on one snapshot while a kernel runs. Everything known about the query is in the `Run`,
// a struct in scratch memory that points to the structs of the modules below. Each struct is described in its
// own file and created here, once, in dependency order. Nothing survives the kernel call, and no module keeps
// any state.
//
//   Run -> program          what the query asks for (program/)
//       -> rules            hides, burials, boosts and pins (rank/rules.ts)
//       -> neighbours       rows near the query by their vectors (match/neighbours.ts)
//       -> matches          which rows match (match/)
//       -> sortKeys, top    how rows compare, and the best so far (rank/)
//       -> sieve            which rows could still enter, 64 at a time (rank/sieve.ts)
//       -> signals          what a row is worth, and bounds on it (score/signals.ts)
//       -> scorer           which rows are scored, and when (score/)

import { Filters } from "../filter/filter";
import { PhraseReader } from "../filter/phrase";
import { Matches } from "../match/match";
import { Neighbours } from "../match/neighbours";
import { scratchZeroed } from "../memory/arena";
import { bitsCount } from "../memory/bitset";
import { SearchProgram } from "../program/search-program";
import { Rules } from "../rank/rules";
import { Sieve } from "../rank/sieve";
import { SortKeys } from "../rank/sort-keys";
import { TopK } from "../rank/topk";
import { Scorer } from "../score/score";
import { Signals } from "../score/signals";
import { Seg, Snap } from "../segment/segment";
import { failed } from "../status";
import { BY_KEYS, browseOrder } from "./browse";

@unmanaged
export class Run {
  snapshot: usize;
  program: SearchProgram;
  rules: Rules;
  matches: Matches;
  sortKeys: SortKeys;
  top: TopK;
  sieve: Sieve;
  signals: Signals;
  scorer: Scorer;
  browseOrder: u32; // the order in which rows are visited if the query has no words (browse.ts)
  ranks: bool; // whether rows are ranked or explained, rather than just counted
}

/**
 * One segment in a run, after matching. Until the next segment starts, everything that the run points to is
 * set up for this one.
 */
@unmanaged
export class SegmentRun {
  segment: usize;
  summary: usize; // 0 = none
  rows: u32;
  bits: usize; // bitset: rows in the result
  found: u32; // number of rows in the result
}

/**
 * Reads a search program and creates everything the query needs. The run may be used only if `failed()` is
 * false.
 */
export function beginQuery(snapshot: usize, at: usize, bytes: usize, explaining: bool): Run {
  const run = changetype<Run>(scratchZeroed(offsetof<Run>()));
  const program = SearchProgram.read(at, bytes);
  if (failed()) return run;
  const phrase = PhraseReader.make();
  const filters = Filters.make(phrase);
  run.snapshot = snapshot;
  run.program = program;
  run.browseOrder = browseOrder(program);
  run.ranks = explaining || program.rowsWanted > 0;
  run.rules = Rules.make(program.ranking, filters);
  run.sortKeys = SortKeys.make(snapshot, program, run.rules);
  run.top = TopK.make(program, run.sortKeys, run.browseOrder != BY_KEYS);
  const neighbours = Neighbours.make(program.neighbours);
  const tiered = run.top.bySum && !explaining;
  run.matches = Matches.make(program, run.rules, neighbours, filters, phrase, tiered);
  run.sieve = Sieve.make(program, run.top);
  run.signals = Signals.make(program, run.rules, neighbours, run.top);
  run.scorer = Scorer.make(run.matches, run.signals, run.sieve);
  return run;
}

/**
 * Matches the rows of one of the snapshot's segments, and sets up everything that the run points to for this
 * segment.
 */
export function beginSegment(run: Run, entry: u32): SegmentRun {
  const here = changetype<SegmentRun>(scratchZeroed(offsetof<SegmentRun>()));
  const segment = Snap.segment(run.snapshot, entry);
  here.segment = segment;
  here.summary = Snap.summary(run.snapshot, entry);
  here.rows = Seg.rows(segment);
  here.bits = run.matches.rowsOf(segment, here.summary, Snap.live(run.snapshot, entry));
  if (failed()) return here;
  here.found = bitsCount(here.bits, here.rows);
  if (here.found == 0 || !run.ranks) return here;
  run.sortKeys.beginSegment(segment, here.summary);
  run.top.beginSegment(segment);
  run.sieve.beginSegment(segment);
  run.signals.beginSegment(segment, here.summary);
  return here;
}
