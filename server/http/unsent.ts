// Bytes of replies that are finished but not yet taken by their clients, of all connections together. While there are
// too many the service takes no more requests: clients that ask and do not read must not fill the memory.

/** Smaller replies are not counted, because the buffers of the operating system usually hold them. */
export const HELD_REPLY_BYTES = 64 * 1024;

export class UnsentBytes {
  #bytes = 0;

  constructor(readonly bytesMax: number) {}

  get bytes(): number {
    return this.#bytes;
  }

  get full(): boolean {
    return this.#bytes > this.bytesMax;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }

  remove(bytes: number): void {
    this.#bytes -= bytes;
  }
}
