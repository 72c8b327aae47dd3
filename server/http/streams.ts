// Sends streamed replies. Holds back the beginning of a reply, so that an early error can still be sent with
// its own status. Knows nothing about the contents.
import { errorBody, SkeinError } from "../ground/errors.js";
import type { Logger } from "../ground/log.js";
import { unexpected } from "./respond.js";
import { ClientGone, type HttpReply } from "./transport/port.js";

type Header = readonly [name: string, value: string];
type Pieces = AsyncGenerator<Uint8Array>;

/**
 * Waits for the first piece before starting the reply, so that an error before that piece still gets its own
 * status. A later error closes the connection.
 */
export async function startedReply(pieces: Pieces, type: Header): Promise<HttpReply> {
  const first = await pieces.next();
  if (first.done === true) return { status: 200, headers: [type], body: "" };
  return { status: 200, headers: [type], body: new Continued([first.value], pieces, null) };
}

/**
 * Holds the reply back until it is complete or exceeds `heldBytesMax`. If the rest of it fails, sends what
 * `lastWords` makes of the error, or closes the connection if it is null.
 */
export async function heldReply(
  pieces: Pieces,
  type: Header,
  heldBytesMax: number,
  lastWords: ((error: unknown) => Uint8Array) | null,
): Promise<HttpReply> {
  const held: Uint8Array[] = [];
  let bytes = 0;
  while (bytes <= heldBytesMax) {
    const next = await pieces.next();
    if (next.done === true) return { status: 200, headers: [type], body: Buffer.concat(held) };
    held.push(next.value);
    bytes += next.value.byteLength;
  }
  return { status: 200, headers: [type], body: new Continued(held, pieces, lastWords) };
}

/**
 * Yields the held pieces and then `rest`. Closing it also closes `rest`, even before the first piece has been
 * read.
 */
class Continued implements AsyncIterableIterator<Uint8Array> {
  readonly #held: Uint8Array[];
  readonly #rest: Pieces;
  readonly #lastWords: ((error: unknown) => Uint8Array) | null;

  /**
   * If `rest` throws, yields `lastWords(error)` as the last piece. If `lastWords` is null, rethrows the
   * error.
   */
  constructor(held: Uint8Array[], rest: Pieces, lastWords: ((error: unknown) => Uint8Array) | null) {
    this.#held = held;
    this.#rest = rest;
    this.#lastWords = lastWords;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    const held = this.#held.shift();
    if (held !== undefined) return { done: false, value: held };
    try {
      return await this.#rest.next();
    } catch (error) {
      if (this.#lastWords === null) throw error;
      return { done: false, value: this.#lastWords(error) };
    }
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    return this.#rest.return(undefined);
  }
}

/** Returns the error as the last line of an NDJSON reply. */
export function errorLine(error: unknown, log: Logger): Uint8Array {
  const known = error instanceof SkeinError;
  if (!known && !(error instanceof ClientGone))
    log.error({ err: error }, "a stream failed after its reply had begun");
  return Buffer.from(`${JSON.stringify(errorBody(known ? error : unexpected()))}\n`);
}
