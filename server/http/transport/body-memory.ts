// The memory of request bodies: how much all of them take together, and the block in which one large body is
// collected. Knows nothing of sockets.
import type { SharedAmount } from "../../fleet/threads/shared-amount.js";

/** All bodies in memory together, of all threads, so that many large requests at once cannot exhaust it. */
export class BodyMemory {
  readonly #amount: SharedAmount;

  constructor(
    readonly bytesMax: number,
    amount: SharedAmount,
  ) {
    this.#amount = amount;
  }

  /** False when there is no room. */
  reserve(bytes: number): boolean {
    this.#amount.add(bytes); // first, so that of two threads that want the last room one sees the other
    if (this.#amount.total <= this.bytesMax) return true;
    this.#amount.add(-bytes);
    return false;
  }

  release(bytes: number): void {
    this.#amount.add(-bytes);
  }
}

const GROWTH_BYTES = 1024 * 1024;

/**
 * The bytes of one body, one after the other. An ordinary buffer for each piece would come from the C heap, and the C heap
 * keeps the memory of many pieces after they are gone. A resizable buffer is a memory mapping of its own: it grows in
 * place, and `free` gives it back to the system.
 */
export class BodyBlock {
  readonly #buffer: ArrayBuffer;
  #bytes = 0;

  /** Throws RangeError when the process has no address range left for so many bytes. */
  constructor(bytesMax: number) {
    this.#buffer = new ArrayBuffer(0, { maxByteLength: bytesMax });
  }

  /** Appends a copy of the bytes, unless the body would exceed `bytesMax`. False when the system has no memory left. */
  append(chunk: Uint8Array): boolean {
    const end = this.#bytes + chunk.byteLength;
    const { byteLength, maxByteLength } = this.#buffer;
    if (end > maxByteLength) return true;
    try {
      if (end > byteLength) this.#buffer.resize(Math.min(maxByteLength, end + GROWTH_BYTES));
    } catch {
      return false;
    }
    new Uint8Array(this.#buffer, this.#bytes, chunk.byteLength).set(chunk);
    this.#bytes = end;
    return true;
  }

  /** A view of the body, which is empty after `free`. */
  bytes(): Uint8Array {
    return new Uint8Array(this.#buffer, 0, this.#bytes);
  }

  free(): void {
    this.#bytes = 0;
    this.#buffer.resize(0);
  }
}
