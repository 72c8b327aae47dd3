// The interface that stops a read that has ended a shard's thread from ending it again and again.
import type { Message } from "./shard-life.js";

/**
 * Returns a text that describes a read's request; identical reads have identical texts. Called only if the
 * quarantine has suspects, or after a thread or an engine has ended.
 */
export type Subject = () => string;

export interface Isolation {
  /**
   * Call before sending a read. Returns true if the read is a suspect and must be sent with `sendApart`.
   * Throws or rejects if the read is refused.
   */
  enter(shard: number, subject: Subject): boolean | Promise<boolean>;
  sendApart(shard: number, message: Message, tenant: number, subject: Subject): Promise<Uint8Array>;
  /** Call after each read for which `enter` succeeded. `error` is null if the read succeeded. */
  leave(shard: number, subject: Subject, apart: boolean, error: unknown): void;
}
