// The port that keeps a read that has ended a shard's thread from ending it over and over.
import type { Message } from "./shard-life.js";

/**
 * Describes a read's request; identical reads have identical descriptions. Called only after a thread or an
 * engine has ended.
 */
export type Subject = () => string;

export interface Isolation {
  /**
   * Must be called before a read is sent. Returns true if the read is a suspect and must be sent with
   * `sendApart`. Throws or rejects if the read is refused.
   */
  enter(shard: number, subject: Subject): boolean | Promise<boolean>;
  sendApart(shard: number, message: Message, tenant: number, subject: Subject): Promise<Uint8Array>;
  /** Must be called after each read for which `enter` succeeded. `error` is null if the read succeeded. */
  leave(shard: number, subject: Subject, apart: boolean, error: unknown): void;
}
