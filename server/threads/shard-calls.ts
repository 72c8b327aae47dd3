// Requests to shards with their answers decoded: to one shard, to all of them, or as a read that the quarantine may
// refuse. What a shard refuses becomes a SkeinError; damage that it met is reported.
import type { ShardError } from "../../shards/protocol/errors.js";
import type { Limits } from "../limits.js";
import type { Logger } from "../log.js";
import type { Subject } from "./quarantine.js";
import { decodeReply } from "./shard-errors.js";
import type { Message, ShardPool } from "./shard-pool.js";
import { ShardReads } from "./shard-reads.js";
import { LARGE_BYTES } from "./tenant-turns.js";

type Decode<T> = (reply: Uint8Array) => T;
type DecodeRead<T> = (reply: Uint8Array) => T | Promise<T>;

export class ShardCalls {
  readonly #pool: ShardPool;
  readonly #reads: ShardReads;
  readonly #onDamage: (shard: number, error: ShardError) => void;

  constructor(
    pool: ShardPool,
    limits: Limits,
    log: Logger,
    onDamage: (shard: number, error: ShardError) => void,
  ) {
    this.#pool = pool;
    this.#reads = new ShardReads(pool, limits, log);
    this.#onDamage = onDamage;
  }

  get shards(): number {
    return this.#pool.count;
  }

  /** Sent at once, in the order of the calls. */
  async call<T>(shard: number, request: Message, decode: Decode<T>): Promise<T> {
    const reply = await this.#pool.ask(shard, request);
    return decodeReply(reply, decode, (error) => this.#onDamage(shard, error));
  }

  /** The answers by shard. */
  everywhere<T>(encode: () => Message, decode: Decode<T>): Promise<T[]> {
    return Promise.all(Array.from({ length: this.shards }, (_, shard) => this.call(shard, encode(), decode)));
  }

  /** See ShardReads. A large reply is decoded after `nextTurn`. */
  read<T>(
    shard: number,
    tenant: number,
    nextTurn: () => Promise<void>,
    request: Message,
    decode: DecodeRead<T>,
    subject?: Subject,
  ): Promise<T> {
    const decoded = (reply: Uint8Array): T | Promise<T> =>
      decodeReply(reply, decode, (error) => this.#onDamage(shard, error));
    const inTurn = (reply: Uint8Array): T | Promise<T> =>
      reply.length > LARGE_BYTES ? nextTurn().then(() => decoded(reply)) : decoded(reply);
    return this.#reads.read(shard, tenant, request, inTurn, subject);
  }
}
