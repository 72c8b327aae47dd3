// The port through which a thread keeps a read that has ended a shard's thread from ending it again and
// again.
import type { Message } from "./shard-life.js";

/** Says what a read asks; repetitions say the same. Called only after a thread or an engine has ended. */
export type Subject = () => string;

export interface Isolation {
  /**
   * Before a read is sent. True: it is a suspect and goes by `sendApart`. Throws or rejects if the read is
   * refused.
   */
  enter(shard: number, subject: Subject): boolean | Promise<boolean>;
  sendApart(shard: number, message: Message, tenant: number, subject: Subject): Promise<Uint8Array>;
  /** After each read that entered. `error` is null if it was answered. */
  leave(shard: number, subject: Subject, apart: boolean, error: unknown): void;
}
