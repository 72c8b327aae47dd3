// Bytes of replies that are finished but not yet taken by their clients, of all connections of all threads together. While there
// are too many the service takes no more requests: clients that ask and do not read must not fill the memory.
import type { SharedAmount } from "../../fleet/threads/shared-amount.js";

/** Smaller replies are not counted, because the buffers of the operating system usually hold them. */
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
