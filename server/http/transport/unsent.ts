// Counts the bytes of finished replies that clients have not received yet, over all connections of all
// threads. Above a limit, the service refuses requests, so that clients that never read cannot fill the
// memory.
import type { SharedAmount } from "../shared-amount.js";

/** Replies up to this size are not counted, because the operating system's buffers usually hold them. */
export const HELD_REPLY_BYTES = 64 * 1024;

export class UnsentBytes {
  readonly #amount: SharedAmount;

  constructor(
    readonly bytesMax: number,
    amount: SharedAmount,
  ) {
    this.#amount = amount;
  }

  get bytes(): number {
    return this.#amount.total;
  }

  get full(): boolean {
    return this.bytes > this.bytesMax;
  }

  add(bytes: number): void {
    this.#amount.add(bytes);
  }

  remove(bytes: number): void {
    this.#amount.add(-bytes);
  }
}
