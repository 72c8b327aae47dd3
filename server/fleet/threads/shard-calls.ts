// Requests to shards that are not reads, with their replies decoded. They reach a shard at once, in the order
// of the calls.
import type { ShardError } from "../../../shards/protocol/errors.js";
import { decodeReply } from "./shard-errors.js";
import type { Message, ShardPool } from "./shard-pool.js";

type Decode<T> = (reply: Uint8Array) => T;

export class ShardCalls {
  readonly #pool: ShardPool;
  readonly #onDamage: (shard: number, error: ShardError) => void;

  constructor(pool: ShardPool, onDamage: (shard: number, error: ShardError) => void) {
    this.#pool = pool;
    this.#onDamage = onDamage;
  }

  get shards(): number {
    return this.#pool.count;
  }

  /** The reply as it is. */
  ask(shard: number, request: Message): Promise<Uint8Array> {
    return this.#pool.ask(shard, request);
  }

  /** The reply decoded. Rejects with a SkeinError if the shard refuses; damage that it met is reported. */
  async call<T>(shard: number, request: Message, decode: Decode<T>): Promise<T> {
    const reply = await this.#pool.ask(shard, request);
    return decodeReply(reply, decode, (error) => this.#onDamage(shard, error));
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
