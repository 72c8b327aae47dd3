// Manages the memory for request bodies: counts the total over all bodies, and grows the block in which one
// large body is collected. Knows nothing about sockets.
import type { SharedAmount } from "../shared-amount.js";

/**
 * The total size in bytes of all request bodies in memory, over all threads. It is limited so that many large
 * requests cannot exhaust the memory.
 */
export class BodyMemory {
  readonly #amount: SharedAmount;

  constructor(
    readonly bytesMax: number,
    amount: SharedAmount,
  ) {
    this.#amount = amount;
  }

  /** Counts a body's bytes. If that would exceed the limit, counts nothing and returns false. */
  reserve(bytes: number): boolean {
    // Add first, then check: if two threads compete for the last bytes, at least one of them sees the other's
    // amount.
    this.#amount.add(bytes);
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
 * Collects one body's bytes. Ordinary buffers would come from the C heap, which often keeps freed memory. A
 * resizable buffer has its own memory mapping: it grows in place, and `free` returns its memory to the
 * system.
 */
export class BodyBlock {
  readonly #buffer: ArrayBuffer;
  #bytes = 0;

  /** Throws RangeError if the process has no free address range of `bytesMax` bytes. */
  constructor(bytesMax: number) {
    this.#buffer = new ArrayBuffer(0, { maxByteLength: bytesMax });
  }

  /**
   * Appends a copy of `chunk`. Returns false if the system has no memory left. If the body would exceed
   * `bytesMax`, ignores the chunk and returns true; the caller must check the size.
   */
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

  /** Returns a view of the body, which is empty after `free`. */
  bytes(): Uint8Array {
    return new Uint8Array(this.#buffer, 0, this.#bytes);
  }

  free(): void {
    this.#bytes = 0;
    this.#buffer.resize(0);
  }
}
