// How reads of the owner reach the shards, and those of other threads that are suspected. Reads that have ended a shard before are refused
// here.
import type { Limits } from "../../ground/limits.js";
import type { Logger } from "../../ground/log.js";
import { Quarantine, type Subject } from "./quarantine.js";
import type { ReadSender } from "./read-calls.js";
import type { ReadGate } from "./read-gate.js";
import type { ShardEndedError } from "./shard-errors.js";
import type { Message, ShardPool } from "./shard-pool.js";

export class ShardReads implements ReadSender {
  readonly #pool: ShardPool;
  /** By shard. */
  readonly #quarantines: readonly Quarantine[];

  constructor(pool: ShardPool, gate: ReadGate, limits: Limits, log: Logger) {
    this.#pool = pool;
    this.#quarantines = Array.from(
      { length: pool.count },
      (_, shard) => new Quarantine(shard, gate, limits, log),
    );
  }

  /** See Quarantine. */
  blame(shard: number, subject: Subject, error: ShardEndedError): void {
    (this.#quarantines[shard] as Quarantine).blame(subject, error);
  }

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
