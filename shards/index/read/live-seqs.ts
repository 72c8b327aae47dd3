// The live documents of a snapshot by number, read from the segments: what is listed is what searches find, so a stored
// document that has been lost is missed when it is fetched, not left out.
import { SEG_SEQS } from "../../../engine-wasm/assembly/layout.js";
import type { Engine } from "../../../engine-wasm/host/instance/engine.js";
import type { LiveSegment } from "../../segments/open-segment.js";

/** Ascending seqs above `afterSeq`, at most `limit`. One uninterrupted step: addresses are used. */
export function liveSeqs(
  engine: Engine,
  entries: readonly LiveSegment[],
  afterSeq: number,
  limit: number,
): number[] {
  const seqs: number[] = [];
  for (const { segment, live } of entries) {
    const { rows, lastSeq } = segment.record;
    if (lastSeq <= afterSeq) continue;
    const bits = live === null ? null : engine.liveBytes(live.address, rows);
    const bytes = engine.segmentView(segment.address);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const at = view.getUint32(SEG_SEQS, true);
    const seqOf = (row: number): number => Number(view.getBigUint64(at + row * 8, true));
    for (let row = firstAbove(rows, seqOf, afterSeq); row < rows; row++) {
      if (seqs.length >= limit) return seqs;
      if (bits === null || ((bits[row >> 3]! >> (row & 7)) & 1) !== 0) seqs.push(seqOf(row));
    }
  }
  return seqs;
}

/** The first row whose seq is above, by halving. */
function firstAbove(rows: number, seqOf: (row: number) => number, seq: number): number {
  let low = 0;
  let high = rows;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (seqOf(middle) > seq) high = middle;
    else low = middle + 1;
  }
  return low;
}
