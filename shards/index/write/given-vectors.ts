// Vectors that an endpoint makes: which documents wait for one, and storing those that have come.
import { VECTOR_BYTES } from "../../../engine-wasm/assembly/layout.js";
import type { PendingDocument, PendingRequest, PutVectorsRequest } from "../../protocol/vectors.js";
import { decodeDocument } from "../../segments/document-record.js";
import type { SegmentCodes } from "../../segments/open-segment.js";
import { documentKey } from "../../storage/keyspace.js";
import { vectorPuts } from "../../vectors/vector-record.js";
import type { ShardIndexState } from "../state.js";

/** The first documents that wait for a vector. */
export async function pendingDocuments(
  state: ShardIndexState,
  { limit, bytesMax }: PendingRequest,
): Promise<PendingDocument[]> {
  const documents: PendingDocument[] = [];
  let bytes = 0;
  for (const seq of waitingSeqs(state).slice(0, limit)) {
    if (bytes >= bytesMax) break;
    const key = documentKey(state.uid, seq);
    const value = await state.home.store.get(key);
    if (value === undefined) continue; // it has died
    const { raw } = decodeDocument(key, value);
    bytes += raw.length;
    documents.push({ seq, raw });
  }
  return documents;
}

function waitingSeqs(state: ShardIndexState): number[] {
  return state.entries.flatMap(({ segment }) => {
    const { codes } = segment;
    if (codes === null || codes.waiting.length === 0) return [];
    const deleted = state.deletedRows(segment);
    if (deleted.count > 0) {
      const snapshot = state.snapshots.newest.address;
      const places = state.engine.locate(snapshot, Float64Array.from(codes.waiting));
      codes.waiting = codes.waiting.filter((_, i) => {
        const place = places[i]!;
        return place.entry >= 0 && !deleted.has(place.row);
      });
    }
    return codes.waiting;
  });
}

/** Stores the vectors of documents that still live; how many documents wait afterwards. To be run in the index's lane. */
export async function putVectors(
  state: ShardIndexState,
  { origin, seqs, vectors }: PutVectorsRequest,
): Promise<number> {
  if (state.vectors.space?.origin !== origin) return waitingSeqs(state).length;
  const places = state.engine.locate(state.snapshots.newest.address, Float64Array.from(seqs));
  const live = places.flatMap(({ entry, row }, i) => {
    const segment = state.entries[entry]?.segment;
    const codes = segment?.codes ?? null;
    if (segment === undefined || codes?.origin !== origin || state.deletedRows(segment).has(row)) return [];
    return [
      { codes, row, seq: seqs[i]!, vector: vectors.subarray(i * VECTOR_BYTES, (i + 1) * VECTOR_BYTES) },
    ];
  });
  const stored = Buffer.concat(live.map(({ vector }) => vector));
  const puts = vectorPuts(state.uid, { origin, seqs: live.map(({ seq }) => seq), vectors: stored });
  await state.home.store.batch(puts, { sync: state.home.sync, adds: true });
  const done = new Map<SegmentCodes, Set<number>>();
  for (const { codes, row, seq, vector } of live) {
    state.engine.fillCodes(codes.address, row, vector);
    codes.stored = false;
    done.set(codes, (done.get(codes) ?? new Set()).add(seq));
  }
  for (const [codes, ready] of done) codes.waiting = codes.waiting.filter((seq) => !ready.has(seq));
  state.vectors.forgetRead();
  return waitingSeqs(state).length;
}
