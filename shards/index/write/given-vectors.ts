// Handles vectors from an endpoint: lists the documents waiting for a vector, and stores arriving vectors.
import { VECTOR_BYTES } from "../../../engine-wasm/assembly/layout.js";
import type { PendingDocument, PendingRequest, PutVectorsRequest } from "../../protocol/vectors.js";
import { decodeDocument } from "../../segments/document-record.js";
import type { OpenSegment } from "../../segments/open-segment.js";
import { documentKey } from "../../storage/keyspace.js";
import { StoreWriteError } from "../../storage/store.js";
import { vectorPuts } from "../../vectors/vector-record.js";
import type { ShardIndexState } from "../state.js";

/** Returns the first documents waiting for a vector. */
export async function pendingDocuments(
  state: ShardIndexState,
  { limit, bytesMax }: PendingRequest,
): Promise<PendingDocument[]> {
  const documents: PendingDocument[] = [];
  let bytes = 0;
  for (const seq of firstWaiting(state, limit)) {
    if (bytes >= bytesMax) break;
    const key = documentKey(state.uid, seq);
    const value = await state.home.store.get(key);
    if (value === undefined) continue; // the document has died
    const { raw } = decodeDocument(key, value);
    bytes += raw.length;
    documents.push({ seq, raw });
  }
  return documents;
}

function firstWaiting({ entries }: ShardIndexState, limit: number): number[] {
  const seqs: number[] = [];
  for (const { segment } of entries) {
    for (const seq of segment.codes?.waiting ?? []) {
      if (seqs.length >= limit) return seqs;
      seqs.push(seq);
    }
  }
  return seqs;
}

function waitingCount({ entries }: ShardIndexState): number {
  return entries.reduce((sum, { segment }) => sum + (segment.codes?.waiting.size ?? 0), 0);
}

interface GivenVector {
  segment: OpenSegment;
  row: number;
  seq: number;
  vector: Uint8Array;
}

/**
 * Stores vectors for those live documents that are not known to have one, even if their segment has no codes
 * yet. Stores nothing if the origin is not the current one. Returns the number of documents still waiting.
 * Must run in the index's lane.
 */
export async function putVectors(state: ShardIndexState, request: PutVectorsRequest): Promise<number> {
  const { origin } = request;
  if (state.vectors.space?.origin !== origin) return waitingCount(state);
  const given = wanted(state, request);
  const puts = vectorPuts(state.uid, {
    origin,
    seqs: given.map(({ seq }) => seq),
    vectors: Buffer.concat(given.map(({ vector }) => vector)),
  });
  try {
    await state.home.store.batch(puts, { sync: state.home.sync, adds: true });
  } catch (error) {
    if (error instanceof StoreWriteError) state.short = true;
    throw error;
  }
  for (const { segment, row, seq, vector } of given) {
    const { codes } = segment;
    if (codes?.origin === origin) {
      state.engine.fillCodes(codes.address, row, vector);
      codes.stored = false;
      codes.waiting.delete(seq);
    }
    state.onGiven(segment, row, vector);
  }
  state.vectors.forgetRead();
  return waitingCount(state);
}

function wanted(state: ShardIndexState, { origin, seqs, vectors }: PutVectorsRequest): GivenVector[] {
  const places = state.engine.locate(state.snapshots.newest.address, Float64Array.from(seqs));
  return places.flatMap(({ entry, row }, i): GivenVector[] => {
    const segment = state.entries[entry]?.segment;
    const seq = seqs[i]!;
    if (segment === undefined || state.deletedRows(segment).has(row)) return [];
    const { codes } = segment;
    const isKnown = codes?.origin === origin && codes.settled && !codes.waiting.has(seq);
    const vector = vectors.subarray(i * VECTOR_BYTES, (i + 1) * VECTOR_BYTES);
    return isKnown ? [] : [{ segment, row, seq, vector }];
  });
}
