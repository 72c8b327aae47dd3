// Background work on the vectors of one segment: makes its codes of stored vectors, makes the vectors that are missing, and
// stores the codes when the index is quiet. An endpoint's vectors are not made here: their documents are noted as waiting.
import { VECTOR_BYTES } from "../../../engine-wasm/assembly/layout.js";
import { decodeDocument } from "../../segments/document-record.js";
import {
  dropEntries,
  type LiveSegment,
  type OpenSegment,
  type SegmentCodes,
  takeEntries,
} from "../../segments/open-segment.js";
import { documentKey, numberOfKey, vectorKey, vectorRange } from "../../storage/keyspace.js";
import type { Space } from "../../vectors/space.js";
import { writeCodes } from "../../vectors/stored-codes.js";
import { isNone, vectorPuts } from "../../vectors/vector-record.js";
import { seqsOf } from "../read/live-seqs.js";
import type { ShardIndexState } from "../state.js";
import type { JobContext } from "./job-context.js";

/** Rows whose vectors are read or written at a time. */
const CHUNK_ROWS = 512;
const NO_VECTOR = new Uint8Array(VECTOR_BYTES);

/** The first segment whose vectors are not as the source in force would have them. */
export function nextForVectors({ vectors, entries }: ShardIndexState): LiveSegment | undefined {
  const { space } = vectors;
  if (space === null) return undefined;
  return entries.find(({ segment: { codes } }) => codes?.origin !== space.origin || !codes.settled);
}

/** The first segment whose codes are not stored as they are. */
export function nextToStore({ vectors, entries }: ShardIndexState): LiveSegment | undefined {
  return vectors.space === null
    ? undefined
    : entries.find(({ segment: { codes } }) => codes !== null && !codes.stored);
}

/** Ends with settled codes of the present origin. It has no effect on answers when `stopped` turns true on the way. */
export async function vectorsJob(
  context: JobContext,
  entry: LiveSegment,
  stopped: () => boolean,
): Promise<void> {
  const { state } = context;
  const { space, policy } = state.vectors;
  if (space === null) return;
  takeEntries([entry]);
  try {
    const { segment } = entry;
    const seqs = seqsOf(state.engine, segment);
    const known = await knownCodes(context, segment, seqs, space);
    known.codes.take();
    try {
      const missing = known.missing.filter((row) => !state.deletedRows(segment).has(row));
      if (stopped()) return;
      if (missing.length === 0 || policy.source === "endpoint") {
        await settle(
          context,
          segment,
          known.codes,
          missing.map((row) => seqs[row]!),
        );
        return;
      }
      let made: MadeVector[] = [];
      let count = 0;
      for await (const one of madeVectors(context, segment, seqs, missing)) {
        if (stopped()) return;
        count++;
        if (made.push(one) < CHUNK_ROWS) continue;
        await store(context, segment, known.codes, seqs, made);
        made = [];
      }
      await store(context, segment, known.codes, seqs, made);
      if (count > 0) await settle(context, segment, known.codes, []);
    } finally {
      known.codes.drop();
    }
  } finally {
    dropEntries([entry]);
  }
}

interface KnownCodes {
  codes: SegmentCodes;
  /** Rows of which it is not stored whether they have a vector. */
  missing: number[];
}

/** The segment's codes as far as stored vectors tell. */
async function knownCodes(
  { state, turns }: JobContext,
  segment: OpenSegment,
  seqs: Float64Array,
  { origin }: Space,
): Promise<KnownCodes> {
  const { engine, vectors, uid, home } = state;
  const isCurrent = segment.codes?.origin === origin;
  const codes = isCurrent ? segment.codes! : vectors.newCodes(segment, origin);
  const missing: number[] = [];
  if (isCurrent) {
    const without = rowsWithoutCode(engine.codesBytes(codes.address, seqs.length), seqs.length);
    for (let at = 0; at < without.length; at += CHUNK_ROWS) {
      await turns.next();
      const rows = without.slice(at, at + CHUNK_ROWS);
      const keys = rows.map((row) => vectorKey(uid, seqs[row]!));
      for (const [i, value] of (await home.store.getMany(keys)).entries()) {
        const record = vectors.decoded(keys[i]!, value);
        if (record === undefined || record.origin !== origin) missing.push(rows[i]!);
        else if (!isNone(record.vector)) engine.fillCodes(codes.address, rows[i]!, record.vector);
      }
    }
    return { codes, missing };
  }
  let next = 0; // the first row that was not looked at
  const range = vectorRange(uid, segment.record.firstSeq, segment.record.lastSeq);
  for await (const [key, value] of home.store.entries(range)) {
    const seq = numberOfKey(key);
    while (next < seqs.length && seqs[next]! < seq) missing.push(next++);
    if (next === seqs.length) break;
    if (seqs[next] !== seq) continue; // of a document that has died
    const record = vectors.decoded(key, value);
    if (record === undefined || record.origin !== origin) missing.push(next);
    else if (!isNone(record.vector)) engine.fillCodes(codes.address, next, record.vector);
    next++;
    await turns.pause();
  }
  while (next < seqs.length) missing.push(next++);
  return { codes, missing };
}

function rowsWithoutCode(codes: Uint8Array, rows: number): number[] {
  const present = codes.subarray(8);
  const without: number[] = [];
  for (let row = 0; row < rows; row++) if (((present[row >> 3]! >> (row & 7)) & 1) === 0) without.push(row);
  return without;
}

/** A row of a segment and the vector that was made for it. */
interface MadeVector {
  row: number;
  vector: Uint8Array;
}

/** Makes the vectors of the missing rows one after the other, with pauses. Ends early when the model is gone. */
async function* madeVectors(
  { state, turns }: JobContext,
  segment: OpenSegment,
  seqs: Float64Array,
  missing: readonly number[],
): AsyncGenerator<MadeVector> {
  const { vectors, engine, uid, home } = state;
  if (vectors.policy.source === "documents") {
    const wanted = new Set(missing);
    for await (const { row, vector } of vectors.embedRows(engine.segmentView(segment.address), turns))
      if (wanted.has(row)) yield { row, vector };
    return;
  }
  for (const row of missing) {
    const key = documentKey(uid, seqs[row]!);
    const value = await home.store.get(key);
    if (value === undefined) continue; // it has died
    yield { row, vector: vectors.pushedVector(decodeDocument(key, value).raw) ?? NO_VECTOR };
    await turns.pause();
  }
}

/**
 * Stores vectors of rows that live, in the lane: a document must not be purged between a look at it and the put of its vector.
 */
async function store(
  { state, lane, turns }: JobContext,
  segment: OpenSegment,
  codes: SegmentCodes,
  seqs: Float64Array,
  made: readonly MadeVector[],
): Promise<void> {
  await turns.next();
  await lane.run(async () => {
    const live = made.filter(({ row }) => !state.deletedRows(segment).has(row));
    const vectors = Buffer.concat(live.map(({ vector }) => vector));
    const puts = vectorPuts(state.uid, {
      origin: codes.origin,
      seqs: live.map(({ row }) => seqs[row]!),
      vectors,
    });
    await state.home.store.batch(puts, { sync: false, adds: true });
    for (const { row, vector } of live) state.engine.fillCodes(codes.address, row, vector);
  });
}

/** Puts the codes in the place of those before. */
function settle(
  { state, lane }: JobContext,
  segment: OpenSegment,
  codes: SegmentCodes,
  waiting: number[],
): Promise<void> {
  return lane.run(async () => {
    codes.waiting = waiting;
    codes.settled = true;
    codes.stored = false;
    if (segment.codes !== codes) segment.replaceCodes(codes);
    state.vectors.forgetRead();
  });
}

/** Gives back what is left of vectors where there are to be none. */
export function clearVectorsJob({ state, lane }: JobContext): Promise<void> {
  return lane.run(async () => {
    for (const { segment } of state.entries) segment.replaceCodes(null);
    await state.vectors.clear();
  });
}

/** Stores the codes of a segment as they are. */
export async function storeCodesJob({ state, lane }: JobContext, { segment }: LiveSegment): Promise<void> {
  const { codes } = segment;
  if (codes === null) return;
  await lane.run(async () => {
    const bytes = state.engine.codesBytes(codes.address, segment.record.rows);
    codes.stored = true; // what is filled in from now on makes it false again
    await writeCodes(state.home.store, state.uid, segment.record.id, { origin: codes.origin, bytes });
  });
}
