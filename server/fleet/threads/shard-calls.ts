// Sends all requests other than reads to the shards, and decodes the replies. A shard receives its requests
// immediately, in call order.
import type { ShardError } from "../../../shards/protocol/errors.js";
import { decodeReply } from "./shard-errors.js";
import type { Message, ShardPool } from "./shard-pool.js";

type Decode<T> = (reply: Uint8Array) => T;

export class ShardCalls {
  readonly #pool: Pick<ShardPool, "ask" | "count">;
  readonly #onDamage: (shard: number, error: ShardError) => void;

  constructor(pool: Pick<ShardPool, "ask" | "count">, onDamage: (shard: number, error: ShardError) => void) {
    this.#pool = pool;
    this.#onDamage = onDamage;
  }

  get shards(): number {
    return this.#pool.count;
  }

  /** Returns the raw reply. */
  ask(shard: number, request: Message): Promise<Uint8Array> {
    return this.#pool.ask(shard, request);
  }

  /**
   * Returns the decoded reply. If the shard refuses the request, rejects with a SkeinError and reports any
   * damage that the shard found.
   */
  async call<T>(shard: number, request: Message, decode: Decode<T>): Promise<T> {
    const reply = await this.#pool.ask(shard, request);
    return decodeReply(reply, decode, (error) => this.#onDamage(shard, error));
  }

  /** Sends a request to each of the given shards and returns their replies, in the same order. */
  each<T>(shards: readonly number[], encode: () => Message, decode: Decode<T>): Promise<T[]> {
    return Promise.all(shards.map((shard) => this.call(shard, encode(), decode)));
  }

  /** Sends a request to every shard and returns their replies. */
  everywhere<T>(encode: () => Message, decode: Decode<T>): Promise<T[]> {
    return this.each([...Array(this.shards).keys()], encode, decode);
  }
}
