// Messages to the shards about producing vectors. Queries by vector do not use them; they go through
// snapshots.

import { decodeEmptyReply } from "../../../shards/protocol/reply.js";
import {
  decodeModelOfReply,
  decodePendingReply,
  decodePutVectorsReply,
  decodeSampleReply,
  encodeModel,
  encodeModelOf,
  encodePending,
  encodePutVectors,
  encodeSample,
  type NumberedModel,
  type PendingDocument,
  type PutVectorsRequest,
  type SampledDocument,
} from "../../../shards/protocol/vectors.js";
import type { Location } from "../../catalog/schema/placement.js";
import type { OpenIndexes } from "../../fleet/owner/open-indexes.js";
import type { ShardCalls } from "../../fleet/threads/shard-calls.js";
import type { Message } from "../../fleet/threads/shard-pool.js";

/**
 * Sends messages about an open index. The parameter `shard` is a position among the shards that store the
 * index, from 0. All methods reject with a SkeinError if a shard refuses or dies.
 */
export class VectorMessages {
  readonly #calls: ShardCalls;
  readonly #indexes: Pick<OpenIndexes, "state">;

  constructor(calls: ShardCalls, indexes: Pick<OpenIndexes, "state">) {
    this.#calls = calls;
    this.#indexes = indexes;
  }

  /** Sends a model to these shards, which then use it. */
  async setModel(uid: number, model: NumberedModel, shards: readonly number[]): Promise<void> {
    await Promise.all(
      shards.map((shard) => this.#ask(uid, shard, (data) => encodeModel(data, model), decodeEmptyReply)),
    );
  }

  /** Returns a shard's model, or null if the shard has none. */
  modelOf(uid: number, shard: number): Promise<NumberedModel | null> {
    return this.#ask(uid, shard, encodeModelOf, decodeModelOfReply);
  }

  /**
   * Returns, for each shard, its `limit` documents with the smallest id hashes, in ascending order of hash.
   */
  sample(uid: number, generation: number, limit: number): Promise<SampledDocument[][]> {
    const { data, places } = this.#indexes.state(uid).locationAt(generation);
    return this.#calls.each(places, () => encodeSample({ uid: data, generation, limit }), decodeSampleReply);
  }

  /** Returns some of a shard's documents that are waiting for a vector. */
  pending(uid: number, shard: number, limit: number, bytesMax: number): Promise<PendingDocument[]> {
    const encode = (data: number): Message => encodePending({ uid: data, limit, bytesMax });
    return this.#ask(uid, shard, encode, decodePendingReply);
  }

  /**
   * Stores vectors for documents that `shard` listed as waiting when the index was in `shards` shards. Waits
   * while the index is being spread. If it has been spread since, any shard may own the documents, so the
   * vectors go to all of them and each stores those of its own documents.
   */
  async putVectors(shard: number, shards: number, request: PutVectorsRequest): Promise<void> {
    const state = this.#indexes.state(request.uid);
    await state.writing.enter();
    try {
      const { data, places } = state.newest;
      const asked = places.length === shards ? [places[shard]!] : places;
      await this.#calls.each(asked, () => encodePutVectors({ ...request, uid: data }), decodePutVectorsReply);
    } finally {
      state.writing.leave();
    }
  }

  #newest(uid: number): Location {
    return this.#indexes.state(uid).newest;
  }

  #ask<T>(
    uid: number,
    shard: number,
    encode: (data: number) => Message,
    decode: (reply: Uint8Array) => T,
  ): Promise<T> {
    const { data, places } = this.#newest(uid);
    return this.#calls.call(places[shard]!, encode(data), decode);
  }
}
