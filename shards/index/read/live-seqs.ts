// Lists the sequence numbers of a snapshot's live documents. The list comes from the segments, as search
// results do, so a missing stored document is noticed when it is fetched, rather than silently left out.
import { SEG_ID_HASHES, SEG_ID_ROWS, SEG_SEQS } from "../../../engine-wasm/assembly/layout.js";
import type { Engine } from "../../../engine-wasm/host/instance/engine.js";
import type { LiveSegment, OpenSegment } from "../../segments/open-segment.js";
import { readSeqs } from "../../segments/segment-pieces.js";

/**
 * Returns at most `limit` seqs above `afterSeq`, ascending. Works with raw engine addresses, so it must stay
 * synchronous.
 */
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

/**
 * Returns at most `limit` live documents: those with the smallest id hashes, ascending by hash. Works with
 * raw engine addresses, so it must stay synchronous.
 */
export function leastIdHashes(
  engine: Engine,
  entries: readonly LiveSegment[],
  limit: number,
): { hash: bigint; seq: number }[] {
  let least: { hash: bigint; seq: number }[] = [];
  for (const { segment, live } of entries) {
    const { rows } = segment.record;
    const bits = live === null ? null : engine.liveBytes(live.address, rows);
    const bytes = engine.segmentView(segment.address);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const [hashes, hashRows, seqs] = [SEG_ID_HASHES, SEG_ID_ROWS, SEG_SEQS].map((at) =>
      view.getUint32(at, true),
    );
    const bound = least.length < limit ? null : least.at(-1)!.hash;
    let taken = 0;
    for (let i = 0; i < rows && taken < limit; i++) {
      const hash = view.getBigUint64(hashes! + i * 8, true);
      if (bound !== null && hash > bound) break;
      const row = view.getUint32(hashRows! + i * 4, true);
      if (bits !== null && ((bits[row >> 3]! >> (row & 7)) & 1) === 0) continue;
      least.push({ hash, seq: Number(view.getBigUint64(seqs! + row * 8, true)) });
      taken++;
    }
    least.sort((a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : a.seq - b.seq));
    least = least.slice(0, limit);
  }
  return least;
}

/** The seqs of all rows in a segment, including deleted rows. */
export function seqsOf(engine: Engine, { address }: OpenSegment): Float64Array {
  return readSeqs(engine.segmentView(address));
}

/** The seqs of these rows of a segment. */
export function seqsOfRows(engine: Engine, { address }: OpenSegment, rows: readonly number[]): number[] {
  const bytes = engine.segmentView(address);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const at = view.getUint32(SEG_SEQS, true);
  return rows.map((row) => Number(view.getBigUint64(at + row * 8, true)));
}

/** Finds the first row with a larger seq, by binary search. */
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
