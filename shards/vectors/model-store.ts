// The embedded model of an index in the database: pieces, and a record that names those of the model in force. A model is
// written piece by piece under its own number, so that the record switches from one whole model to another.
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
  /** Each model of an index has a larger number than the one before. */
  number: number;
  /** The first model whose vectors lie in the same space: later ones were aligned to it. */
  since: number;
  bytes: number;
  /** How many documents the index had when it was trained. */
  documents: number;
  /** Which fields it was trained on, as the coordinator numbers that. */
  fields: number;
  /** Unix seconds. */
  trainedAt: number;
  /** How long the training took. */
  tookMs: number;
}

/** Null when there is none. Throws the envelope's errors. */
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

/** The bytes of the model in force. Throws the envelope's errors, and DamagedBytesError for a missing piece. */
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

/** Part of a model. Throws the envelope's errors. */
export function decodeModelPiece(stored: Uint8Array, what: string): Uint8Array {
  return unseal(ENVELOPE_MODEL_PIECE, MODEL_VERSION, stored, what);
}

/** Puts of the pieces of a model, then of the record that puts it in force. */
export function* putModel(uid: number, record: ModelRecord, model: Uint8Array): Iterable<StoreOp> {
  for (let piece = 0, at = 0; at < model.length; piece++, at += PIECE_BYTES) {
    const value = seal(ENVELOPE_MODEL_PIECE, MODEL_VERSION, model.subarray(at, at + PIECE_BYTES));
    yield { type: "put", key: modelPieceKey(uid, record.number, piece), value };
  }
  yield { type: "put", key: modelKey(uid), value: seal(ENVELOPE_MODEL, MODEL_VERSION, pack(record)) };
}

/**
 * Puts a model in force; the pieces of the one before stay. After a crash the one or the other is in force. When the store
 * refuses a part, the one before stays in force.
 */
export async function writeModel(
  store: Store,
  uid: number,
  record: ModelRecord,
  model: Uint8Array,
  sync: boolean,
): Promise<void> {
  await store.clear(modelPieces(uid, record.number)); // what a write that was cut short has left
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

/** Deletes the pieces of models that are not in force: what a crash may have left, and a model that was replaced. */
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
