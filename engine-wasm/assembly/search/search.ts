// The search kernel: one program on one snapshot. Segments are visited newest first, so that among equal rows
// the first ones found stay. The bytes of program and result are drawn in docs/FORMATS.md.

import { SORT_FIELD, SORT_SEQ } from "../layout";
import {
  putResultBytes,
  putResultF64,
  putResultU8,
  putResultU32,
  putResultU64,
  resultClose,
  resultOpen,
} from "../memory/result";
import { KIND_STRING, numberOfKey } from "../rank/sort-keys";
import { Snap } from "../segment/segment";
import { failed, status, statusReset } from "../status";
import { browse, browseRanked, OLDEST_FIRST } from "./browse";
import { facetAdd, facetFinish, facetWrite } from "./facets";
import { beginQuery, beginSegment, Run } from "./run";

/** Runs a search program on a snapshot. Returns the address of the result, or -STATUS_*. */
export function search(snapshot: usize, program: usize, bytes: usize): i32 {
  statusReset();
  const run = beginQuery(snapshot, program, bytes, false);
  if (failed()) return -status();
  const segments = Snap.count(snapshot);
  let found: u32 = 0;
  for (let i: u32 = 0; i < segments && !failed(); i++) {
    found += visit(run, run.browseOrder == OLDEST_FIRST ? i : segments - 1 - i);
  }
  if (failed()) return -status();
  run.top.finish();
  for (let i: u32 = 0; i < run.program.facetCount; i++) facetFinish(run.program.facetAt(i));
  return write(run, found);
}

/** Matches, counts and ranks the rows of one segment. Returns how many match. */
function visit(run: Run, entry: u32): u32 {
  const program = run.program;
  const here = beginSegment(run, entry);
  if (failed() || here.found == 0) return 0;
  for (let i: u32 = 0; i < program.facetCount; i++) {
    facetAdd(program.facetAt(i), here.segment, here.summary, here.bits, here.found);
  }
  if (!run.ranks) return here.found;
  if (program.wordCount > 0) run.scorer.scoreRows(here.segment, here.bits, here.found);
  else if (!program.ranking.isPlain) browseRanked(run.signals, here.bits, here.rows);
  else browse(run.top, run.sieve, here.bits, here.rows, run.browseOrder);
  return here.found;
}

function write(run: Run, found: u32): i32 {
  const program = run.program;
  const top = run.top;
  const ranking = program.ranking;
  resultOpen();
  putResultU32(found);
  putResultU32(run.rules.pinnedOnly);
  putResultU32(top.kept);
  putResultU8(program.sortCount);
  for (let i: u32 = 0; i < top.kept; i++) putResultF64(top.seqOf(i));
  for (let i: u32 = 0; i < top.kept; i++) {
    putResultF64(top.textMatchOf(i));
    putResultF64(top.bonusOf(i));
    putResultU8(top.flagsOf(i));
    for (let key: u32 = 0; key < program.sortCount; key++) writeKey(run, i, key);
  }
  for (let i: u32 = 0; i < program.facetCount; i++) facetWrite(program.facetAt(i));
  for (let i: u32 = 0; i < ranking.ruleCount; i++) putResultU8(ranking.ruleAt(i).applied);
  putResultU8(run.rules.pinsApplied ? 1 : 0);
  return <i32>resultClose();
}

function writeKey(run: Run, i: u32, number: u32): void {
  const key = run.program.sortKeyAt(number);
  const present = run.top.hasKey(i, number);
  putResultU8(present ? 1 : 0);
  if (!present) return;
  if (key.by == SORT_SEQ) return putResultF64(run.top.seqOf(i));
  const value = run.top.keyOf(i, number);
  if (key.by != SORT_FIELD) return putResultU64(key.descending != 0 ? value : ~value);
  if (key.kind != KIND_STRING) return putResultU64(numberOfKey(key, value));
  putResultU32(<u32>value);
  putResultBytes(<usize>(value >> 32), <usize>(<u32>value));
}
