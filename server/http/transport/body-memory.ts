// Manages the memory for request bodies: counts the total over all bodies, and grows the block in which one
// large body is collected. Knows nothing about sockets.
import type { SharedAmount } from "../shared-amount.js";

/**
 * Share of the memory for bodies that one tenant's requests on one thread may use, if the largest body fits.
 */
const TENANT_SHARE = 0.5;
/** Number of tenants whose counts are kept although they are 0, because a map is slow to delete from. */
const TENANTS_KEPT = 1_000;

/**
 * The total size in bytes of all request bodies in memory, over all threads. It is limited so that many large
 * requests cannot exhaust the memory, and so that no tenant can keep out the bodies of the others.
 */
export class BodyMemory {
  readonly #amount: SharedAmount;
  readonly #ofTenants = new Map<number, number>();
  readonly #tenantBytesMax: number;

  /** `largestBytes` is the size of the largest body that a request may have. */
  constructor(
    readonly bytesMax: number,
    largestBytes: number,
    amount: SharedAmount,
  ) {
    this.#tenantBytesMax = Math.max(bytesMax * TENANT_SHARE, Math.min(bytesMax, largestBytes));
    this.#amount = amount;
  }

  /**
   * Counts bytes of a body of this tenant; null if the tenant is not known yet. If that would exceed a limit,
   * counts nothing and returns false.
   */
  reserve(bytes: number, tenant: number | null): boolean {
    if (tenant !== null && this.#of(tenant) + bytes > this.#tenantBytesMax) return false;
    // Add first, then check: if two threads compete for the last bytes, at least one of them sees the other's
    // amount.
    this.#amount.add(bytes);
    if (this.#amount.total > this.bytesMax) {
      this.#amount.add(-bytes);
      return false;
    }
    this.#change(tenant, bytes);
    return true;
  }

  release(bytes: number, tenant: number | null): void {
    this.#amount.add(-bytes);
    this.#change(tenant, -bytes);
  }

  #of(tenant: number): number {
    return this.#ofTenants.get(tenant) ?? 0;
  }

  #change(tenant: number | null, bytes: number): void {
    if (tenant === null || bytes === 0) return;
    const now = this.#of(tenant) + bytes;
    if (now === 0 && this.#ofTenants.size > TENANTS_KEPT) this.#ofTenants.delete(tenant);
    else this.#ofTenants.set(tenant, now);
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
