// Copies an index's documents and their vectors from some shards to others, in the order of their sequence
// numbers, which do not change. Nothing may write to the index during the copy. The copy is not used until
// the caller commits it.
import type { Workbench } from "../../../engine-wasm/host/instance/workbench.js";
import { decodeOpenReply, encodeOpen } from "../../../shards/protocol/control.js";
import { encodeAdopt, encodeStoredModel } from "../../../shards/protocol/move.js";
import { decodeEmptyReply } from "../../../shards/protocol/reply.js";
import { decodeModelOfReply, encodeModel, type NumberedModel } from "../../../shards/protocol/vectors.js";
import { vectorPolicy } from "../../catalog/definition/embedder-sources.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import { type Location, type Places, shardOf } from "../../catalog/schema/placement.js";
import { resolvedSchemaOf } from "../../catalog/schema/resolved-schema.js";
import { decodeReply } from "../../fleet/threads/shard-errors.js";
import type { Message } from "../../fleet/threads/shard-pool.js";
import { DocumentStream } from "./document-stream.js";
import { type AskShard, NewPart } from "./new-part.js";

export interface Move {
  readonly record: IndexRecord;
  readonly workbench: Workbench;
  readonly source: Side;
  /** Where to copy to. These shards must not have any data under this data number yet. */
  readonly target: Side;
  /** Generation from which the copied documents are visible. Defaults to the source's generation. */
  readonly generation?: number;
  readonly onMoved?: () => void;
  /** Cancels the move, which then throws the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface Side {
  readonly ask: AskShard;
  readonly location: Location;
}

/**
 * Copies the documents and returns their number. The copies are then open and durable. Throws SkeinError, or
 * an Error if documents are missing.
 */
export async function moveIndex({
  record,
  workbench,
  source,
  target,
  generation: given,
  onMoved,
  signal,
}: Move): Promise<number> {
  const { ask, location } = target;
  const { data, places } = location;
  const stream = new DocumentStream(source.ask, source.location);
  const expected = await stream.open();
  const vectors = vectorPolicy(record, expected);
  const { shardSchema: schema } = resolvedSchemaOf(record);
  const open = { uid: data, schema, made: false, vectors, published: 0 };
  await each(ask, places, () => encodeOpen(open), decodeOpenReply);
  // Vectors are copied along with their documents. If a model made them, they are valid only in shards that
  // have the model.
  const model = vectors.source === "documents" ? await newestModel(source) : null;
  if (model !== null) await each(ask, places, () => encodeModel(data, model), decodeEmptyReply);
  const { maxSeq } = stream;
  const generation = given ?? stream.generation;
  const parts = places.map((shard) => new NewPart(ask, shard, data, generation));
  let read = 0;
  for (let next = await stream.next(); next !== null; next = await stream.next()) {
    signal?.throwIfAborted();
    await parts[shardOf(workbench.hash(next.id), parts.length)]!.add(next);
    read++;
    onMoved?.();
  }
  for (const part of parts) await part.flush();
  if (read !== expected)
    throw new Error(`the index "${record.name}" counts ${expected} documents but ${read} are stored`);
  const end = { uid: data, generation, maxSeq, documents: [] };
  await each(ask, places, () => encodeAdopt(end), decodeEmptyReply);
  return read;
}

/** Sends a request to each shard in parallel and waits for all replies. */
export async function each<T>(
  ask: AskShard,
  places: Places,
  encode: () => Message,
  decode: (reply: Uint8Array) => T,
): Promise<void> {
  await Promise.all(places.map(async (shard) => decodeReply(await ask(shard, encode()), decode)));
}

/** Returns the newest model stored in any shard, or null if none can be read. */
async function newestModel({ ask, location }: Side): Promise<NumberedModel | null> {
  let newest: NumberedModel | null = null;
  for (const shard of location.places) {
    const model = decodeReply(await ask(shard, encodeStoredModel(location.data)), decodeModelOfReply);
    if (model !== null && model.number > (newest?.number ?? 0)) newest = model;
  }
  return newest;
}
