// How reads reach the shards. Reads that have ended a shard before are refused here.
import type { Limits } from "../limits.js";
import type { Logger } from "../log.js";
import { Quarantine, type Subject } from "./quarantine.js";
import type { Message, ShardPool } from "./shard-pool.js";

export class ShardReads {
  readonly #pool: ShardPool;
  /** By shard. */
  readonly #quarantines: readonly Quarantine[];

  constructor(pool: ShardPool, limits: Limits, log: Logger) {
    this.#pool = pool;
    this.#quarantines = Array.from({ length: pool.count }, (_, shard) => new Quarantine(shard, limits, log));
  }

  /**
   * One read from one shard for a tenant, its reply decoded. A read with a subject is refused when it has ended the shard before.
   * The request's bytes must stay as they are; several shards may be asked with the same.
   */
  read<T>(
    shard: number,
    tenant: number,
    request: Message,
    decode: (reply: Uint8Array) => T | Promise<T>,
    subject: Subject | undefined,
  ): Promise<T> {
    const send = (alone: boolean): Promise<T> => {
      const reply = alone ? this.#pool.ask(shard, request.slice()) : this.#pool.read(shard, request, tenant);
      return reply.then(decode);
    };
    return subject === undefined ? send(false) : (this.#quarantines[shard] as Quarantine).run(subject, send);
  }
}

/** Date.now() after which the answer to a search that begins now is not wanted any more. */
export function searchDeadline({ searchMsMax }: Pick<Limits, "searchMsMax">): number {
  return Math.ceil(Date.now() + searchMsMax);
}
