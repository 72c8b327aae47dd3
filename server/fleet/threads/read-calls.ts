// Reads of shards with their answers decoded. What a shard refuses becomes a SkeinError; damage that it met is reported. Knows
// nothing of how a read reaches its shard.
import type { ShardError } from "../../../shards/protocol/errors.js";
import type { Subject } from "./quarantine.js";
import { decodeReply } from "./shard-errors.js";
import type { Message } from "./shard-pool.js";
import { LARGE_BYTES } from "./tenant-turns.js";

export type Decode<T> = (reply: Uint8Array) => T;
type DecodeRead<T> = (reply: Uint8Array) => T | Promise<T>;

/** How reads reach the shards. */
export interface ReadSender {
  /**
   * One read from one shard for a tenant, its reply decoded. A read with a subject is refused when it has ended the shard before.
   * The request's bytes must stay as they are; several shards may be asked with the same.
   */
  read<T>(
    shard: number,
    tenant: number,
    request: Message,
    decode: DecodeRead<T>,
    subject: Subject | undefined,
  ): Promise<T>;
}

export class ReadCalls {
  readonly shards: number;
  readonly #sender: ReadSender;
  readonly #onDamage: (shard: number, error: ShardError) => void;

  constructor(shards: number, sender: ReadSender, onDamage: (shard: number, error: ShardError) => void) {
    this.shards = shards;
    this.#sender = sender;
    this.#onDamage = onDamage;
  }

  /** See ReadSender. A large reply is decoded after `nextTurn`. */
  read<T>(
    shard: number,
    tenant: number,
    nextTurn: () => Promise<void>,
    request: Message,
    decode: DecodeRead<T>,
    subject?: Subject,
  ): Promise<T> {
    const decoded = (reply: Uint8Array): T | Promise<T> => this.decoded(shard, reply, decode);
    const inTurn = (reply: Uint8Array): T | Promise<T> =>
      reply.length > LARGE_BYTES ? nextTurn().then(() => decoded(reply)) : decoded(reply);
    return this.#sender.read(shard, tenant, request, inTurn, subject);
  }

  protected decoded<T>(shard: number, reply: Uint8Array, decode: Decode<T>): T {
    return decodeReply(reply, decode, (error) => this.#onDamage(shard, error));
  }
}
