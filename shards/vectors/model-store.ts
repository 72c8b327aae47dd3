// The embedded model of an index in the database: pieces, and a record that names those of the model in force. A model is
// written piece by piece under its own number, so that the record switches from one whole model to another.
import { pack, unpack } from "msgpackr/pack";
import {
  DamagedBytesError,
  ENVELOPE_MODEL,
  ENVELOPE_MODEL_PIECE,
  seal,
  unseal,
} from "../storage/envelope.js";
import { modelKey, modelPieceKey, modelPieces } from "../storage/keyspace.js";
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
  return decodeModelRecord(stored, `index ${uid}, model`);
}

/** Throws the envelope's errors, which name `what`. */
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
    const what = `index ${uid}, piece of model ${number}, piece ${piece}`;
    const stored = await store.get(modelPieceKey(uid, number, piece));
    if (stored === undefined) throw new DamagedBytesError(`${what}: missing`);
    const part = decodeModelPiece(stored, what);
    if (part.length !== Math.min(PIECE_BYTES, bytes - at))
      throw new DamagedBytesError(`${what}: wrong length`);
    model.set(part, at);
    at += part.length;
  }
  return model;
}

/** Throws the envelope's errors, which name `what`. */
export function decodeModelPiece(stored: Uint8Array, what: string): Uint8Array {
  return unseal(ENVELOPE_MODEL_PIECE, MODEL_VERSION, stored, what);
}

/** Puts a model in the place of `before`. After a crash the one or the other is in force. */
export async function writeModel(
  store: Store,
  uid: number,
  record: ModelRecord,
  model: Uint8Array,
  before: ModelRecord | null,
  sync: boolean,
): Promise<void> {
  await store.clear(modelPieces(uid, record.number)); // what a write that was cut short has left
  let ops: StoreOp[] = [];
  for (let piece = 0, at = 0; at < model.length; piece++, at += PIECE_BYTES) {
    const part = model.subarray(at, at + PIECE_BYTES);
    const value = seal(ENVELOPE_MODEL_PIECE, MODEL_VERSION, part);
    ops.push({ type: "put", key: modelPieceKey(uid, record.number, piece), value });
    if (ops.length < PIECES_PER_BATCH) continue;
    await store.batch(ops, { sync, adds: true });
    ops = [];
  }
  ops.push({ type: "put", key: modelKey(uid), value: seal(ENVELOPE_MODEL, MODEL_VERSION, pack(record)) });
  await store.batch(ops, { sync, adds: true });
  if (before !== null && before.number !== record.number) await store.clear(modelPieces(uid, before.number));
}
