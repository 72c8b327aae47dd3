// Requests to shards with their answers decoded: to one shard, to all of them, or as a read that the quarantine may
// refuse.
import type { ShardError } from "../../../shards/protocol/errors.js";
import { type Decode, ReadCalls, type ReadSender } from "./read-calls.js";
import type { Message, ShardPool } from "./shard-pool.js";

export class ShardCalls extends ReadCalls {
  readonly #pool: ShardPool;

  constructor(pool: ShardPool, sender: ReadSender, onDamage: (shard: number, error: ShardError) => void) {
    super(pool.count, sender, onDamage);
    this.#pool = pool;
  }

  /** Sent at once, in the order of the calls; the reply as it is. */
  ask(shard: number, request: Message): Promise<Uint8Array> {
    return this.#pool.ask(shard, request);
  }

  /** As `ask`, the reply decoded. */
  async call<T>(shard: number, request: Message, decode: Decode<T>): Promise<T> {
    return this.decoded(shard, await this.ask(shard, request), decode);
  }

  /** The answers of some shards, in their order. */
  each<T>(shards: readonly number[], encode: () => Message, decode: Decode<T>): Promise<T[]> {
    return Promise.all(shards.map((shard) => this.call(shard, encode(), decode)));
  }

  /** The answers of all shards. */
  everywhere<T>(encode: () => Message, decode: Decode<T>): Promise<T[]> {
    return this.each([...Array(this.shards).keys()], encode, decode);
  }
}
