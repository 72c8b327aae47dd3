// A request body on its way from the socket, which pushes pieces, to the route, which pulls them. The route
// either collects the body up to a limit or streams it with back-pressure. All kinds of exchange fill this
// queue. Knows nothing about content types and JSON.
import { type ErrorCode, SkeinError } from "../../ground/errors.js";
import type { Limits } from "../../ground/limits.js";
import { BodyBlock, type BodyMemory } from "./body-memory.js";
import { ClientGone } from "./port.js";

/** Pause the socket if more than this many bytes are waiting for a slow reader. */
const HIGH_WATER_BYTES = 1024 * 1024;
const LOW_WATER_BYTES = 256 * 1024;
/**
 * A body of at most this many bytes is collected as separate pieces; a larger body or one of unknown length
 * is collected in a BodyBlock.
 */
const PIECES_BYTES_MAX = 256 * 1024;

/** The chunks of a queue that has none, most of the time. */
const NO_CHUNKS: Uint8Array[] = [];

/** Pauses and resumes the socket. Repeated calls are allowed. */
export interface Flow {
  pause(): void;
  resume(): void;
}

export class BodyQueue {
  readonly #flow: Flow;
  readonly #limits: Limits;
  readonly #memory: BodyMemory;
  readonly #declaredBytes: number;
  #chunks: Uint8Array[] = NO_CHUNKS;
  #block: BodyBlock | null = null;
  #queuedBytes = 0;
  #reservedBytes = 0;
  /** The tenant whose share of the memory the body uses; null as long as it is not known. */
  #tenant: number | null = null;
  #ended = false;
  #discarding = false;
  #collecting = false;
  #collected = false;
  #paused = false;
  #failure: Error | null = null;
  #wake: (() => void) | null = null;

  /** `declaredBytes` is the Content-Length, or -1 if there is none. */
  constructor(flow: Flow, declaredBytes: number, limits: Limits, memory: BodyMemory) {
    this.#flow = flow;
    this.#declaredBytes = declaredBytes;
    this.#limits = limits;
    this.#memory = memory;
  }

  /** True if the remaining bytes will not be read. */
  get discarding(): boolean {
    return this.#discarding;
  }

  /** From now on, the body uses the tenant's share of the memory, including what has already arrived. */
  chargeTo(tenant: number): void {
    const reserved = this.#reservedBytes;
    this.#memory.release(reserved, null);
    this.#reservedBytes = 0;
    this.#tenant = tenant;
    if (this.#memory.reserve(reserved, tenant)) this.#reservedBytes = reserved;
    else this.fail(tooManyBodies());
  }

  /** Copies the bytes, because the caller may reuse them. */
  push(chunk: Uint8Array): void {
    if (this.#discarding || chunk.byteLength === 0) return;
    if (!this.#memory.reserve(chunk.byteLength, this.#tenant)) {
      this.fail(tooManyBodies());
      return;
    }
    this.#reservedBytes += chunk.byteLength;
    this.#keep(chunk);
    if (!this.#collecting && this.#queuedBytes > HIGH_WATER_BYTES) this.#pause();
    this.#wakeUp();
  }

  #keep(chunk: Uint8Array): void {
    this.#queuedBytes += chunk.byteLength;
    if (this.#block !== null) {
      if (!this.#block.append(chunk)) this.fail(tooManyBodies());
    } else if (this.#chunks === NO_CHUNKS) this.#chunks = [copyOf(chunk)];
    else this.#chunks.push(copyOf(chunk));
  }

  /** Marks the body as complete. */
  end(): void {
    this.#ended = true;
    this.#wakeUp();
  }

  /** Ends the body early. Its reader gets the error. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.discard();
    this.#wakeUp();
  }

  /** Drops the bytes received so far and all later ones. Repeated calls are allowed. */
  discard(): void {
    this.#discarding = true;
    this.#chunks = NO_CHUNKS;
    if (!this.#collected) this.#block?.free();
    this.#queuedBytes = 0;
    this.#memory.release(this.#reservedBytes, this.#tenant);
    this.#reservedBytes = 0;
    this.#resume();
  }

  /**
   * Frees the collected bytes. Must be called once the request has been answered. A reader that still waits
   * for the body gets ClientGone.
   */
  close(): void {
    if (this.#wake === null) this.discard();
    else this.fail(new ClientGone());
    this.#block?.free();
  }

  /**
   * Returns the whole body, which is valid until `close` is called; without a promise if it has already
   * arrived. Throws like HttpRequest.body.
   */
  collect(bytesMax: number, tooLarge: ErrorCode): Uint8Array | Promise<Uint8Array> {
    if (this.#declaredBytes > bytesMax) this.#refuse(bytesMax, tooLarge);
    return this.#ended || this.#failure !== null
      ? this.#whole(bytesMax, tooLarge)
      : this.#collectArriving(bytesMax, tooLarge);
  }

  async #collectArriving(bytesMax: number, tooLarge: ErrorCode): Promise<Uint8Array> {
    this.#collecting = true;
    if (!this.#isSmall()) this.#collectInBlock(bytesMax);
    this.#resume();
    const deadline = Date.now() + this.#limits.bodyTotalMsMax;
    while (!this.#ended && this.#failure === null && this.#queuedBytes <= bytesMax)
      await this.#arrival(deadline);
    return this.#whole(bytesMax, tooLarge);
  }

  /** Requires that the body has ended or failed, or is too large. */
  #whole(bytesMax: number, tooLarge: ErrorCode): Uint8Array {
    if (this.#failure !== null) throw this.#failure;
    if (this.#queuedBytes > bytesMax) this.#refuse(bytesMax, tooLarge);
    this.#collected = true;
    if (this.#block !== null) return this.#block.bytes();
    const chunks = this.#chunks;
    this.#chunks = NO_CHUNKS;
    if (chunks.length === 1) return chunks[0]!;
    return Buffer.concat(chunks, this.#queuedBytes);
  }

  #refuse(bytesMax: number, tooLarge: ErrorCode): never {
    this.discard();
    throw new SkeinError(tooLarge, `the body is larger than ${bytesMax} bytes`, {
      details: { limit: bytesMax },
    });
  }

  #isSmall(): boolean {
    return this.#declaredBytes >= 0 && this.#declaredBytes <= PIECES_BYTES_MAX;
  }

  #collectInBlock(bytesMax: number): void {
    this.#block = new BodyBlock(bytesMax);
    const pieces = this.#chunks;
    this.#chunks = NO_CHUNKS;
    this.#queuedBytes = 0;
    for (const piece of pieces) this.#keep(piece);
  }

  async *stream(): AsyncGenerator<Uint8Array> {
    for (;;) {
      if (this.#failure !== null) throw this.#failure;
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#queuedBytes -= chunk.byteLength;
        this.#reservedBytes -= chunk.byteLength;
        this.#memory.release(chunk.byteLength, this.#tenant);
        if (this.#queuedBytes < LOW_WATER_BYTES) this.#resume();
        yield chunk;
      } else if (this.#ended) return;
      else await this.#arrival(Number.POSITIVE_INFINITY);
    }
  }

  /**
   * Resolves when more bytes have arrived or the body has ended or failed. Makes the body fail if nothing
   * arrives within `bodyIdleMsMax` or before the deadline.
   */
  #arrival(deadline: number): Promise<void> {
    return new Promise((resolve) => {
      const patience = Math.max(0, Math.min(this.#limits.bodyIdleMsMax, deadline - Date.now()));
      const timer = setTimeout(() => {
        this.fail(new SkeinError("SK-SYS-408", "the body did not arrive in time"));
      }, patience);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = null;
        resolve();
      };
    });
  }

  #wakeUp(): void {
    this.#wake?.();
  }

  #pause(): void {
    if (this.#paused || this.#ended) return;
    this.#paused = true;
    this.#flow.pause();
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#flow.resume();
  }
}

/** A copy of the bytes. Copies of few bytes share memory. */
function copyOf(chunk: Uint8Array): Uint8Array {
  const copy = Buffer.allocUnsafe(chunk.byteLength);
  copy.set(chunk);
  return copy;
}

function tooManyBodies(): SkeinError {
  return new SkeinError("SK-SYS-503", "too many request bodies are waiting; retry in a moment", {
    retryAfter: 1,
  });
}

/** The Content-Length as a number, or -1 if there is none. */
export function declaredLength(header: string): number {
  return /^\d+$/.test(header) ? Number(header) : -1;
}
