// The `nearest` kernel finds the rows whose codes differ least from a query vector's code, among the rows
// that a search program matches. Words, filter, phrases, exclusions, hidden and deleted rows determine which
// rows are compared; pins, order and facets have no effect. docs/FORMATS.md shows the layout of the input and
// the result.

import { NEAREST_ROW_BYTES, PROGRAM_NEAREST, VECTOR_SIZE } from "../layout";
import { scratch } from "../memory/arena";
import { Mem } from "../memory/mem";
import { Result } from "../memory/result";
import { ProgramReader, programBad } from "../program/program";
import { Snap } from "../segment/segment";
import { failed, status, statusReset } from "../status";
import { Codes } from "../vector/codes";
import { NearestCodes } from "../vector/nearest-codes";
import { beginQuery, beginSegment, Run } from "./run";

const QUERY_BYTES: usize = VECTOR_SIZE << 2;
const NUMBER_MAX: f32 = 2; // larger than any component of a unit vector, even after rounding

/** Runs the kernel on the `bytes` bytes at `input`. Returns the address of the result, or -STATUS_*. */
export function nearest(snapshot: usize, input: usize, bytes: usize): i32 {
  statusReset();
  const reader = ProgramReader.open(input, bytes, PROGRAM_NEAREST);
  const wanted = reader.u32();
  const query = readQuery(reader);
  if (failed()) return -status();
  const run = beginQuery(snapshot, reader.at, reader.end - reader.at, false);
  if (failed()) return -status();
  run.ranks = false;
  const entries = Snap.count(snapshot);
  const found = NearestCodes.make(query, entries);
  for (let i: u32 = 0; i < entries && !failed(); i++) compareEntry(run, i, found);
  if (failed()) return -status();
  const rows = found.select(wanted);
  const result = Result.open();
  result.putU32(found.compared);
  result.putU32(found.kept);
  result.putBytes(rows, <usize>found.kept * NEAREST_ROW_BYTES);
  return <i32>result.close();
}

/** Copies the query to its own scratch memory, where its numbers are aligned. */
function readQuery(reader: ProgramReader): usize {
  const query = scratch(QUERY_BYTES);
  const from = reader.bytes(QUERY_BYTES);
  if (from == 0) return query;
  Mem.copy(query, from, QUERY_BYTES);
  for (let at = query; at < query + QUERY_BYTES; at += 4)
    if (!(abs(Mem.f32At(at)) <= NUMBER_MAX)) programBad();
  return query;
}

/** Compares the matching rows of one segment in the snapshot with the query. */
function compareEntry(run: Run, entry: u32, found: NearestCodes): void {
  const codes = Snap.codes(run.snapshot, entry);
  if (codes == 0) return;
  const segment = Snap.segment(run.snapshot, entry);
  const here = beginSegment(run, entry);
  if (Codes.rows(codes) != here.rows) programBad();
  if (failed() || here.found == 0) return;
  const matched = run.rules.matched;
  found.add(segment, codes, matched != 0 ? matched : here.bits);
}
