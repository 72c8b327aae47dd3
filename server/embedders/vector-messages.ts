// What the coordinator tells and asks the shards about the making of vectors. Queries by vectors go through read views.

import { encodePolicy, type VectorPolicy } from "../../shards/protocol/control.js";
import { decodeEmptyReply } from "../../shards/protocol/reply.js";
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
} from "../../shards/protocol/vectors.js";
import type { ShardCalls } from "../threads/shard-calls.js";

/** The index must be open. All methods reject with a SkeinError when a shard refuses or ends. */
export class VectorMessages {
  readonly #calls: ShardCalls;

  constructor(calls: ShardCalls) {
    this.#calls = calls;
  }

  async setPolicy(uid: number, policy: VectorPolicy): Promise<void> {
    await this.#calls.everywhere(() => encodePolicy(uid, policy), decodeEmptyReply);
  }

  /** Puts a model in force in these shards. */
  async setModel(uid: number, model: NumberedModel, shards: readonly number[]): Promise<void> {
    await Promise.all(
      shards.map((shard) => this.#calls.call(shard, encodeModel(uid, model), decodeEmptyReply)),
    );
  }

  /** The model that a shard has, null when it has none. */
  modelOf(uid: number, shard: number): Promise<NumberedModel | null> {
    return this.#calls.call(shard, encodeModelOf(uid), decodeModelOfReply);
  }

  /** By shard: the documents with the smallest id hashes, ascending. */
  sample(uid: number, generation: number, limit: number): Promise<SampledDocument[][]> {
    return this.#calls.everywhere(() => encodeSample({ uid, generation, limit }), decodeSampleReply);
  }

  /** Documents of a shard that wait for a vector. */
  pending(uid: number, shard: number, limit: number, bytesMax: number): Promise<PendingDocument[]> {
    return this.#calls.call(shard, encodePending({ uid, limit, bytesMax }), decodePendingReply);
  }

  /** How many documents of the shard wait afterwards. */
  putVectors(shard: number, request: PutVectorsRequest): Promise<number> {
    return this.#calls.call(shard, encodePutVectors(request), decodePutVectorsReply);
  }
}
