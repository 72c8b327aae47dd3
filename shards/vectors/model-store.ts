// Stores an index's embedded model in the database, as pieces and a record that names the active model's
// pieces. Each model's pieces are written under its own number, so writing the record switches models
// atomically.
import { pack, unpack } from "msgpackr/pack";
import { shardFault } from "../fault.js";
import {
  DamagedBytesError,
  ENVELOPE_MODEL,
  ENVELOPE_MODEL_PIECE,
  seal,
  unseal,
} from "../storage/envelope.js";
import {
  allModelPieces,
  describeKey,
  modelKey,
  modelPieceKey,
  modelPieces,
  segmentOfKey,
} from "../storage/keyspace.js";
import type { Store, StoreOp } from "../storage/store.js";

const MODEL_VERSION = 1;
const PIECE_BYTES = 512 * 1024;
const PIECES_PER_BATCH = 8;

export interface ModelRecord {
  /** Larger than the number of the index's previous model. */
  number: number;
  /**
   * Number of the oldest model whose vectors are in the same space. Later models were aligned to that space.
   */
  since: number;
  bytes: number;
  /** Number of documents in the index when the model was trained. */
  documents: number;
  /** Fingerprint of the fields on which the model was trained, computed by the coordinator. */
  fields: number;
  /** Unix seconds. */
  trainedAt: number;
  /** Training time in milliseconds. */
  tookMs: number;
}

/** Returns null if there is no record. Throws the envelope's errors. */
export async function readModelRecord(store: Store, uid: number): Promise<ModelRecord | null> {
  const stored = await store.get(modelKey(uid));
  if (stored === undefined) return null;
  return decodeModelRecord(stored, describeKey(modelKey(uid)));
}

/** Throws the envelope's errors. */
export function decodeModelRecord(stored: Uint8Array, what: string): ModelRecord {
  const payload = unseal(ENVELOPE_MODEL, MODEL_VERSION, stored, what);
  let fields: Partial<ModelRecord>;
  try {
    fields = unpack(payload) as Partial<ModelRecord>;
  } catch {
    throw new DamagedBytesError(`${what}: not msgpack`);
  }
  const { number, since, bytes, documents, fields: trainedOn, trainedAt, tookMs } = fields;
  const all = { number, since, bytes, documents, fields: trainedOn, trainedAt, tookMs };
  if (!Object.values(all).every((value) => Number.isSafeInteger(value)) || since! > number!)
    throw new DamagedBytesError(`${what}: not a record of a model`);
  return all as ModelRecord;
}

/**
 * Returns the active model's bytes. Throws the envelope's errors, and DamagedBytesError if a piece is
 * missing.
 */
export async function readModel(
  store: Store,
  uid: number,
  { number, bytes }: ModelRecord,
): Promise<Uint8Array> {
  const model = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  for (let piece = 0; at < bytes; piece++) {
    const key = modelPieceKey(uid, number, piece);
    const what = describeKey(key);
    const stored = await store.get(key);
    if (stored === undefined) throw new DamagedBytesError(`${what}: missing`);
    const part = decodeModelPiece(stored, what);
    if (part.length !== Math.min(PIECE_BYTES, bytes - at))
      throw new DamagedBytesError(`${what}: wrong length`);
    model.set(part, at);
    at += part.length;
  }
  return model;
}

/** Decodes part of a model. Throws the envelope's errors. */
export function decodeModelPiece(stored: Uint8Array, what: string): Uint8Array {
  return unseal(ENVELOPE_MODEL_PIECE, MODEL_VERSION, stored, what);
}

/** Yields put operations for a model's pieces, then for the record that activates it. */
export function* putModel(uid: number, record: ModelRecord, model: Uint8Array): Iterable<StoreOp> {
  for (let piece = 0, at = 0; at < model.length; piece++, at += PIECE_BYTES) {
    const value = seal(ENVELOPE_MODEL_PIECE, MODEL_VERSION, model.subarray(at, at + PIECE_BYTES));
    yield { type: "put", key: modelPieceKey(uid, record.number, piece), value };
  }
  yield { type: "put", key: modelKey(uid), value: seal(ENVELOPE_MODEL, MODEL_VERSION, pack(record)) };
}

/**
 * Activates a model. The previous model's pieces stay. After a crash, or if the store refuses a write, either
 * the old or the new model is active.
 */
export async function writeModel(
  store: Store,
  uid: number,
  record: ModelRecord,
  model: Uint8Array,
  sync: boolean,
): Promise<void> {
  await store.clear(modelPieces(uid, record.number)); // leftovers of an interrupted write
  let ops: StoreOp[] = [];
  for (const op of putModel(uid, record, model)) {
    if (ops.length === PIECES_PER_BATCH) {
      await store.batch(ops, { sync, adds: true });
      ops = [];
    }
    ops.push(op);
  }
  shardFault("model.before-switch");
  await store.batch(ops, { sync, adds: true });
  shardFault("model.after-switch");
}

/** Deletes the pieces of inactive models: leftovers of a crash, and replaced models. */
export async function deleteStrayModels(
  store: Store,
  uid: number,
  inForce: ModelRecord | null,
): Promise<void> {
  const stray: StoreOp[] = [];
  for await (const key of store.keys(allModelPieces(uid)))
    if (segmentOfKey(key) !== inForce?.number) stray.push({ type: "del", key: Uint8Array.from(key) });
  if (stray.length > 0) await store.batch(stray, { sync: false });
}
