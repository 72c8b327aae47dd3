// Encodes and decodes the stored form of an index's current schema in a shard, which is msgpack in an
// envelope.
import { pack, unpack } from "msgpackr/pack";
import { checkSchema, type ShardSchema } from "../protocol/control.js";
import { ENVELOPE_SCHEMA, seal, unseal } from "../storage/envelope.js";
import { schemaKey } from "../storage/keyspace.js";
import type { StoreOp } from "../storage/store.js";

const SCHEMA_VERSION = 1;

export function putSchema(uid: number, schema: ShardSchema): StoreOp {
  return { type: "put", key: schemaKey(uid), value: seal(ENVELOPE_SCHEMA, SCHEMA_VERSION, pack(schema)) };
}

/** Throws the envelope's errors. */
export function decodeSchema(bytes: Uint8Array, what: string): ShardSchema {
  return checkSchema(unpack(unseal(ENVELOPE_SCHEMA, SCHEMA_VERSION, bytes, what)));
}
