// Isolates reads that may end a shard's thread. Handles the owner's own reads, and suspect reads that other
// threads send through the owner.
import type { Logger } from "../../ground/log.js";
import type { Isolation, Subject } from "./isolation.js";
import { Quarantine } from "./quarantine.js";
import type { ShardEndedError } from "./shard-errors.js";
import type { ShardGate } from "./shard-gate.js";
import type { Message, ShardPool } from "./shard-pool.js";

export class Quarantines implements Isolation {
  readonly #pool: ShardPool;
  readonly #byShard: readonly Quarantine[];

  constructor(pool: ShardPool, gate: ShardGate, log: Logger) {
    this.#pool = pool;
    this.#byShard = Array.from({ length: pool.count }, (_, shard) => new Quarantine(shard, gate, log));
  }

  enter(shard: number, subject: Subject): boolean | Promise<boolean> {
    return this.#of(shard).enter(subject);
  }

  /** Sends the read in a message of its own. */
  sendApart(shard: number, message: Message): Promise<Uint8Array> {
    return this.#pool.ask(shard, message.slice());
  }

  leave(shard: number, subject: Subject, apart: boolean, error: unknown): void {
    this.#of(shard).leave(subject, apart, error);
  }

  /** See Quarantine. */
  blame(shard: number, subject: Subject, error: ShardEndedError): void {
    this.#of(shard).blame(subject, error);
  }

  #of(shard: number): Quarantine {
    return this.#byShard[shard] as Quarantine;
  }
}
