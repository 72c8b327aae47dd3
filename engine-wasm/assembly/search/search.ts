// The search kernel, which runs one program on one snapshot. Segments are visited newest first, so that among
// equal rows the newest are kept. docs/FORMATS.md shows the layout of the program and the result.

import { checkDeadline } from "../env";
import { SORT_FIELD, SORT_SEQ } from "../layout";
import { passBegin, passesBegin } from "../memory/arena";
import { Bits } from "../memory/bitset";
import { Result } from "../memory/result";
import { numberOfKey } from "../rank/sort-keys";
import { KIND_STRING } from "../segment/field-type";
import { Seg, Snap } from "../segment/segment";
import { failed, status, statusReset } from "../status";
import { browse, browseNeighbours, browseRanked, OLDEST_FIRST } from "./browse";
import { facetAdd, facetFinish, facetWrite } from "./facets";
import { beginQuery, beginSegment, Run } from "./run";

const ROWS_A_CHECK: u32 = 1023;
const BITSETS_A_PASS: u32 = 12; // as many bitsets as most queries need for a segment

/** Runs a search program on a snapshot. Returns the address of the result, or -STATUS_*. */
export function search(snapshot: usize, program: usize, bytes: usize): i32 {
  statusReset();
  const run = beginQuery(snapshot, program, bytes, false);
  if (failed()) return -status();
  const segments = Snap.count(snapshot);
  // Nothing refers to a segment's bitsets once the next segment is visited. A single segment needs no passes.
  if (segments > 1) passesBegin(<usize>BITSETS_A_PASS * Bits.bytes(mostRows(snapshot)));
  let found: u32 = 0;
  for (let i: u32 = 0; i < segments && !failed(); i++) {
    found += visit(run, run.browseOrder == OLDEST_FIRST ? i : segments - 1 - i);
  }
  if (failed()) return -status();
  run.top.finish();
  for (let i: u32 = 0; i < run.program.facetCount; i++) facetFinish(run.program.facetAt(i));
  return write(run, found);
}

/** Matches, counts and ranks one segment's rows. Returns the number of matching rows. */
function visit(run: Run, entry: u32): u32 {
  const program = run.program;
  passBegin();
  const here = beginSegment(run, entry);
  if (failed() || here.found == 0) return 0;
  for (let i: u32 = 0; i < program.facetCount; i++) {
    facetAdd(program.facetAt(i), here.segment, here.summary, here.bits, here.found);
  }
  if (!run.ranks) return here.found;
  if (program.wordCount > 0) run.scorer.scoreRows(here.segment, here.summary, here.bits, here.found);
  else if (program.neighbours.given) browseNeighbours(run.signals, here.bits, here.rows);
  else if (!program.ranking.isPlain) browseRanked(run.signals, here.bits, here.rows);
  else browse(run.top, run.sieve, here.bits, here.rows, run.browseOrder);
  return here.found;
}

/** Number of rows in the snapshot's largest segment. */
function mostRows(snapshot: usize): u32 {
  let most: u32 = 0;
  for (let i: u32 = 0; i < Snap.count(snapshot); i++) most = max(most, Seg.rows(Snap.segment(snapshot, i)));
  return most;
}

function write(run: Run, found: u32): i32 {
  const program = run.program;
  const top = run.top;
  const ranking = program.ranking;
  const result = Result.open();
  result.putU32(found);
  result.putU32(run.rules.pinnedOnly);
  result.putU32(top.kept);
  result.putU8(program.sortCount);
  for (let i: u32 = 0; i < top.kept; i++) result.putF64(top.seqOf(i));
  for (let i: u32 = 0; i < top.kept; i++) {
    if ((i & ROWS_A_CHECK) == 0) checkDeadline();
    result.putF64(top.textMatchOf(i));
    result.putF64(top.bonusOf(i));
    result.putU8(top.flagsOf(i));
    for (let key: u32 = 0; key < program.sortCount; key++) writeKey(result, run, i, key);
  }
  for (let i: u32 = 0; i < program.facetCount; i++) facetWrite(result, program.facetAt(i));
  for (let i: u32 = 0; i < ranking.ruleCount; i++) result.putU8(ranking.ruleAt(i).applied);
  result.putU8(run.rules.pinsApplied ? 1 : 0);
  return <i32>result.close();
}

function writeKey(result: Result, run: Run, i: u32, number: u32): void {
  const key = run.program.sortKeyAt(number);
  const present = run.top.hasKey(i, number);
  result.putU8(present ? 1 : 0);
  if (!present) return;
  if (key.by == SORT_SEQ) return result.putF64(run.top.seqOf(i));
  const value = run.top.keyOf(i, number);
  if (key.by != SORT_FIELD) return result.putU64(key.descending != 0 ? value : ~value);
  if (key.kind != KIND_STRING) return result.putU64(numberOfKey(key, value));
  result.putU32(<u32>value);
  result.putBytes(<usize>(value >> 32), <usize>(<u32>value));
}
