// Does background work on one segment's vectors: fills its codes from stored vectors, computes missing
// vectors, and stores the codes once the index is quiet or closed. It does not compute vectors that come from
// an endpoint; it only records their documents as waiting.
import { VECTOR_BYTES } from "../../../engine-wasm/assembly/layout.js";
import { shardFault } from "../../fault.js";
import { decodeDocument } from "../../segments/document-record.js";
import {
  dropEntries,
  type LiveSegment,
  type OpenSegment,
  type SegmentCodes,
  takeEntries,
} from "../../segments/open-segment.js";
import { documentKey, numberOfKey, vectorKey, vectorRange } from "../../storage/keyspace.js";
import type { StoreOp } from "../../storage/store.js";
import { deleteCodes, writeCodes } from "../../vectors/stored-codes.js";
import { isNone, type VectorRecord, vectorPuts } from "../../vectors/vector-record.js";
import { seqsOf } from "../read/live-seqs.js";
import type { ShardIndexState } from "../state.js";
import type { JobContext } from "./job-context.js";

/** Number of rows whose vectors are read or written in one batch. */
const CHUNK_ROWS = 512;
const NO_VECTOR = new Uint8Array(VECTOR_BYTES);

/**
 * The first segment whose codes are missing, have another origin, or are not settled. Undefined if the index
 * has no vectors or no room for more codes.
 */
export function nextForVectors({ vectors, entries }: ShardIndexState): LiveSegment | undefined {
  const { space } = vectors;
  if (space === null || vectors.lacksRoom) return undefined;
  return entries.find(({ segment: { codes } }) => codes?.origin !== space.origin || !codes.settled);
}

/** The first segment whose current codes are not stored. */
export function nextToStore({ vectors, entries }: ShardIndexState): LiveSegment | undefined {
  return vectors.space === null
    ? undefined
    : entries.find(({ segment: { codes } }) => codes !== null && !codes.stored);
}

/** One run of vectorsJob and the segment that it works on. */
interface Work extends JobContext {
  segment: OpenSegment;
  seqs: Float64Array;
  codes: SegmentCodes;
  /** Vectors that arrived from an endpoint during the job, by row. */
  given: Map<number, Uint8Array>;
  /** True if another source or model is now current. */
  isSuperseded(): boolean;
  /** True if the job should end because it is superseded or was stopped. */
  isOver(): boolean;
}

/**
 * Resolves when the segment has settled codes of the current origin. If `stopped` ends the job early, the
 * vectors made until then stay stored, but the codes are not settled.
 */
export async function vectorsJob(
  context: JobContext,
  entry: LiveSegment,
  stopped: () => boolean,
): Promise<void> {
  const { state } = context;
  const { space } = state.vectors;
  if (space === null) return;
  const { segment } = entry;
  const { origin } = space;
  const isCurrent = segment.codes?.origin === origin;
  const codes = isCurrent ? segment.codes : state.vectors.codesIfRoom(segment, origin);
  if (codes === null) return;
  const given = new Map<number, Uint8Array>();
  state.onGiven = (one, row, vector) => {
    if (one === segment) given.set(row, vector);
  };
  takeEntries([entry]);
  codes.take();
  try {
    const isSuperseded = (): boolean => state.vectors.space?.origin !== origin;
    const isOver = (): boolean => stopped() || isSuperseded();
    const seqs = seqsOf(state.engine, segment);
    await bring({ ...context, segment, seqs, codes, given, isSuperseded, isOver });
  } finally {
    state.onGiven = () => undefined;
    codes.drop();
    dropEntries([entry]);
  }
}

async function bring(work: Work): Promise<void> {
  const { state, segment, codes, isOver } = work;
  const unknown = segment.codes === codes ? await unknownWithoutCode(work) : await unknownRows(work);
  if (isOver()) return;
  const deleted = state.deletedRows(segment);
  const missing = unknown.filter((row) => !deleted.has(row));
  if (state.vectors.policy.source === "endpoint") return settle(work, missing);
  let made: MadeVector[] = [];
  for await (const one of madeVectors(work, missing)) {
    if (made.push(one) < CHUNK_ROWS) continue;
    if (isOver()) return;
    await store(work, made);
    made = [];
  }
  if (isOver()) return;
  await store(work, made);
  await settle(work, []);
}

/**
 * Looks up the stored vector of each row without a code and fills in the code. Returns the rows for which no
 * vector record of this origin is stored. (A record may also say that the row has no vector; such a row gets
 * no code and is not returned.)
 */
async function unknownWithoutCode(work: Work): Promise<number[]> {
  const { state, slices, seqs, codes, isOver } = work;
  const unknown: number[] = [];
  const without = rowsWithoutCode(state.engine.codesParts(codes.address).next().value!, seqs.length);
  for (let at = 0; at < without.length && !isOver(); at += CHUNK_ROWS) {
    await slices.next();
    const rows = without.slice(at, at + CHUNK_ROWS);
    const keys = rows.map((row) => vectorKey(state.uid, seqs[row]!));
    for (const [i, value] of (await state.home.store.getMany(keys)).entries()) {
      const record = state.vectors.ofOrigin(codes.origin, keys[i]!, value);
      if (record === undefined) unknown.push(rows[i]!);
      else fill(work, rows[i]!, record);
    }
  }
  return unknown;
}

/**
 * Like unknownWithoutCode, but for new codes, in which no row has a code yet. Reads the stored vectors in one
 * scan, instead of looking up each.
 */
async function unknownRows(work: Work): Promise<number[]> {
  const { state, slices, segment, seqs, codes, isOver } = work;
  const unknown: number[] = [];
  let next = 0; // first unchecked row
  const range = vectorRange(state.uid, segment.record.firstSeq, segment.record.lastSeq);
  for await (const [key, value] of state.home.store.entries(range)) {
    const seq = numberOfKey(key);
    while (next < seqs.length && seqs[next]! < seq) unknown.push(next++);
    if (next === seqs.length || isOver()) break;
    if (seqs[next] !== seq) continue; // the document was deleted
    const record = state.vectors.ofOrigin(codes.origin, key, value);
    if (record === undefined) unknown.push(next);
    else fill(work, next, record);
    next++;
    await slices.pause();
  }
  while (next < seqs.length) unknown.push(next++);
  return unknown;
}

function fill({ state, codes }: Work, row: number, { vector }: VectorRecord): void {
  if (isNone(vector)) return;
  state.engine.fillCodes(codes.address, row, vector);
  codes.stored = false;
}

/**
 * Returns the rows without a code. `head`: the start of a codes region, which contains the bitset of rows
 * with a code.
 */
function rowsWithoutCode(head: Uint8Array, rows: number): number[] {
  const present = head.subarray(8);
  const without: number[] = [];
  for (let row = 0; row < rows; row++) if (((present[row >> 3]! >> (row & 7)) & 1) === 0) without.push(row);
  return without;
}

/** A row of a segment and its new vector. */
interface MadeVector {
  row: number;
  vector: Uint8Array;
}

/**
 * Makes the missing rows' vectors one at a time, with pauses. Ends early if the model is gone or has failed
 * too often.
 */
async function* madeVectors(
  { state, slices, segment, seqs, codes }: Work,
  missing: readonly number[],
): AsyncGenerator<MadeVector> {
  const { vectors, engine, uid, home } = state;
  if (missing.length === 0) return;
  if (vectors.policy.source === "documents") {
    const wanted = new Set(missing);
    const bytes = (): Uint8Array => engine.segmentView(segment.address);
    const rows = vectors.embedding?.embedRows(codes.origin, bytes, slices) ?? [];
    for await (const { row, vector } of rows) if (wanted.has(row)) yield { row, vector };
    return;
  }
  for (const row of missing) {
    const key = documentKey(uid, seqs[row]!);
    const value = await home.store.get(key);
    if (value === undefined) continue; // the document was deleted
    yield { row, vector: vectors.pushedVector(decodeDocument(key, value).raw) ?? NO_VECTOR };
    await slices.pause();
  }
}

/**
 * Stores the vectors of live rows. Runs in the lane, because a document must not be purged between the check
 * that it is live and the write of its vector.
 */
async function store(work: Work, made: readonly MadeVector[]): Promise<void> {
  const { state, lane, slices, segment, seqs, codes } = work;
  if (made.length === 0) return;
  await slices.next();
  await lane.run(async () => {
    if (work.isSuperseded()) return;
    const deleted = state.deletedRows(segment);
    const live = made.filter(({ row }) => !deleted.has(row));
    const puts = vectorPuts(state.uid, {
      origin: codes.origin,
      seqs: live.map(({ row }) => seqs[row]!),
      vectors: Buffer.concat(live.map(({ vector }) => vector)),
    });
    shardFault("vectors.before-store");
    await state.home.store.batch(puts, { sync: false, adds: true });
    shardFault("vectors.after-store");
    state.vectors.added();
    for (const { row, vector } of live) state.engine.fillCodes(codes.address, row, vector);
    codes.stored = false;
  });
}

/**
 * Marks the codes as settled and makes them the segment's codes. `missing`: rows waiting for a vector from an
 * endpoint.
 */
function settle(work: Work, missing: readonly number[]): Promise<void> {
  const { state, lane, segment, seqs, codes, given } = work;
  return lane.run(async () => {
    if (work.isSuperseded()) return;
    for (const [row, vector] of given) state.engine.fillCodes(codes.address, row, vector);
    const deleted = state.deletedRows(segment);
    const waiting = missing.filter((row) => !given.has(row) && !deleted.has(row));
    codes.waiting = new Set(waiting.map((row) => seqs[row]!));
    codes.settled = true;
    if (segment.codes !== codes || given.size > 0) codes.stored = false;
    if (segment.codes !== codes) segment.replaceCodes(codes);
    state.showCodes();
    state.vectors.forgetRead();
  });
}

/**
 * Deletes stored vectors that reads found damaged, and the stored codes derived from them. Both are then made
 * again.
 */
export function damagedVectorsJob({ state, lane }: JobContext): Promise<void> {
  return lane.run(async () => {
    const { vectors, uid, engine, entries } = state;
    const seqs = [...vectors.damaged];
    const places = engine.locate(state.snapshots.newest.address, Float64Array.from(seqs));
    const segments = new Set(places.flatMap(({ entry }) => entries[entry]?.segment ?? []));
    const ops: StoreOp[] = seqs.map((seq) => ({ type: "del", key: vectorKey(uid, seq) }));
    for (const { record } of segments) ops.push(...deleteCodes(uid, record));
    await state.home.store.batch(ops, { sync: false });
    for (const { entry, row } of places) {
      const codes = entries[entry]?.segment.codes ?? null;
      if (codes !== null) engine.fillCodes(codes.address, row, NO_VECTOR);
    }
    for (const { codes } of segments) {
      if (codes === null) continue;
      codes.settled = false;
      codes.stored = false;
    }
    vectors.damaged.clear();
  });
}

/** Deletes all vectors of an index that should no longer have any. */
export function clearVectorsJob({ state, lane }: JobContext): Promise<void> {
  return lane.run(async () => {
    for (const { segment } of state.entries) segment.replaceCodes(null);
    state.showCodes();
    await state.vectors.clear();
  });
}

/** Stores a segment's current codes. */
export async function storeCodesJob({ state, lane }: JobContext, { segment }: LiveSegment): Promise<void> {
  const { codes } = segment;
  if (codes === null) return;
  await lane.run(async () => {
    const bytes = state.engine.codesBytes(codes.address, segment.record.rows);
    shardFault("codes.before-store");
    await writeCodes(state.home.store, state.uid, segment.record.id, { origin: codes.origin, bytes });
    codes.stored = true;
  });
}

/**
 * Stores the codes that queries use but the database lacks. Called when the index is closed, so that queries
 * can use them as soon as it is reopened. An error is only logged: codes can be recomputed from the vectors.
 */
export async function storeAllCodes(context: JobContext): Promise<void> {
  const { uid, home, vectors, engine, entries } = context.state;
  try {
    for (const entry of entries) {
      const codes = engine.usable ? vectors.comparableCodes(entry.segment) : null;
      if (codes?.stored === false) await storeCodesJob(context, entry);
    }
  } catch (error) {
    home.report(`index ${uid}: codes could not be stored and will be recomputed`, error);
  }
}
