// Finds the rows to delete among the newest snapshot's live rows. Called in the index's lane, so no write can
// intervene.
import { ALL_ROWS } from "../../../engine-wasm/host/programs/search-program.js";
import { seqsOfResult } from "../../../engine-wasm/host/programs/search-result.js";
import type { DeleteWhereRequest } from "../../protocol/program.js";
import type { UnseenRequest } from "../../protocol/unseen.js";
import { liveSeqs } from "../read/live-seqs.js";
import type { Slices } from "../slices.js";
import type { ShardIndexState } from "../state.js";
import type { DyingRow } from "./write-plan.js";

/** Number of rows checked per slice, which takes under a millisecond. */
const SLICE_ROWS = 10_000;

/** The rows that match a search program. */
export function matchingRows(
  state: ShardIndexState,
  { program, generation }: DeleteWhereRequest,
): DyingRow[] {
  const seqs = seqsOfResult(state.engine.search(state.snapshots.newest.address, program), 0, ALL_ROWS);
  return located(state, seqs, generation);
}

/** Returns the rows with a seq below `beforeSeq` that are not in `kept`. Runs in time slices. */
export async function unseenRows(
  state: ShardIndexState,
  { generation, beforeSeq, kept }: UnseenRequest,
  slices: Slices,
): Promise<DyingRow[]> {
  const found: DyingRow[] = [];
  let last = 0;
  for (;;) {
    const seqs = liveSeqs(state.engine, state.entries, last, SLICE_ROWS);
    const unseen = seqs.filter((seq) => seq < beforeSeq && !kept.has(seq));
    for (const row of located(state, Float64Array.from(unseen), generation)) found.push(row);
    last = seqs.at(-1) ?? beforeSeq;
    if (seqs.length < SLICE_ROWS || last >= beforeSeq) return found;
    await slices.pause();
  }
}

function located(state: ShardIndexState, seqs: Float64Array, died: number): DyingRow[] {
  const found: DyingRow[] = [];
  for (const [i, { entry, row }] of state.engine.locate(state.snapshots.newest.address, seqs).entries()) {
    if (entry >= 0) found.push({ entry, row, seq: seqs[i]!, died });
  }
  return found;
}
