// Writes a reply's JSON as bytes into a buffer that is used again: documents are copied from where they are
// kept, and constants and numbers need no strings. The sender of a reply owns its buffer until it calls
// `release`. A buffer that is never released is collected as garbage; it is never shared by two replies.
import { ReplyTooLargeError } from "../fleet/threads/shard-errors.js";
import { QUERY_ID_TEXT_BYTES, type QueryId, writeQueryIdText } from "../query-log/rows/query-ids.js";

const FIRST_BYTES = 32 * 1024;
/** A buffer that has grown beyond this size is not used again. */
const SPARE_BYTES_MAX = 256 * 1024;
/** Number of buffers that wait for their next reply. */
const SPARE_MAX = 8;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const ZERO = 0x30;
/** How many digits of a number are written with 32-bit arithmetic at a time. */
const GROUP_DIGITS = 8;
const GROUP = 10 ** GROUP_DIGITS;

/** The escape sequence of each byte that JSON strings cannot contain; null for all others. */
const ESCAPES: readonly (Uint8Array | null)[] = Array.from({ length: 256 }, (_, byte) =>
  byte < SPACE || byte === QUOTE || byte === BACKSLASH
    ? Buffer.from(JSON.stringify(String.fromCharCode(byte)).slice(1, -1))
    : null,
);

/** The buffers of one thread's replies. */
export class ReplyBuffers {
  readonly #spare: ReplyWriter[] = [];

  /** Returns an empty writer. */
  take(): ReplyWriter {
    return this.#spare.pop() ?? new ReplyWriter((writer) => this.#give(writer));
  }

  #give(writer: ReplyWriter): void {
    if (writer.capacity <= SPARE_BYTES_MAX && this.#spare.length < SPARE_MAX) this.#spare.push(writer);
  }
}

export class ReplyWriter {
  /** Ends the use of `bytes`. Must be called at most once. */
  readonly release: () => void;
  #buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #length = 0;
  #bytesMax = Number.POSITIVE_INFINITY;

  constructor(give: (writer: ReplyWriter) => void) {
    this.release = () => {
      this.#length = 0;
      this.#bytesMax = Number.POSITIVE_INFINITY;
      give(this);
    };
  }

  get length(): number {
    return this.#length;
  }

  get capacity(): number {
    return this.#buffer.length;
  }

  /** The reply so far. Valid until more is written, or until `release`. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** From now on, throws SK-SE-413 once the reply is longer than this. */
  limitTo(bytesMax: number): void {
    this.#bytesMax = bytesMax;
    this.#room(0);
  }

  /** Grows the buffer at once, if this many bytes are likely to follow. */
  reserve(bytes: number): void {
    this.#grow(Math.min(this.#length + bytes, this.#bytesMax));
  }

  /** Appends bytes that are JSON. */
  put(json: Uint8Array): void {
    const at = this.#room(json.length);
    this.#buffer.set(json, at);
  }

  /** Appends a copy of the reply's bytes from `start` to `end`. */
  repeat(start: number, end: number): void {
    const at = this.#room(end - start);
    this.#buffer.copyWithin(at, start, end);
  }

  /** Appends a text that is JSON. */
  text(json: string): void {
    const at = this.#room(Buffer.byteLength(json));
    this.#buffer.write(json, at);
  }

  /** Appends a finite number. */
  number(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) this.text(String(value));
    else {
      let digits = 1;
      for (let end = 10; end <= value; end *= 10) digits++;
      this.#digits(value, this.#room(digits), digits);
    }
  }

  queryId(id: QueryId): void {
    const at = this.#room(QUERY_ID_TEXT_BYTES);
    writeQueryIdText(id, this.#buffer, at);
  }

  /** Appends valid UTF-8, from `start` to `end`, as the content of a JSON string. */
  escaped(utf8: Uint8Array, start: number, end: number): void {
    let bytes = end - start;
    for (let i = start; i < end; i++) bytes += (ESCAPES[utf8[i]!]?.length ?? 1) - 1;
    let at = this.#room(bytes);
    const buffer = this.#buffer;
    for (let i = start; i < end; i++) {
      const byte = utf8[i]!;
      const sequence = ESCAPES[byte]!;
      if (sequence === null) buffer[at++] = byte;
      else {
        buffer.set(sequence, at);
        at += sequence.length;
      }
    }
  }

  /** Writes the last `digits` digits of the number. */
  #digits(value: number, at: number, digits: number): void {
    if (digits > GROUP_DIGITS) {
      const high = Math.floor(value / GROUP);
      this.#digits(high, at, digits - GROUP_DIGITS);
      this.#digits(value - high * GROUP, at + digits - GROUP_DIGITS, GROUP_DIGITS);
      return;
    }
    let left = value | 0;
    for (let i = at + digits - 1; i >= at; i--) {
      const shorter = (left / 10) | 0;
      this.#buffer[i] = ZERO + left - shorter * 10;
      left = shorter;
    }
  }

  /** Makes room for this many bytes, which the caller writes. Returns their position. */
  #room(bytes: number): number {
    const at = this.#length;
    const end = at + bytes;
    if (end > this.#bytesMax) throw new ReplyTooLargeError();
    if (end > this.#buffer.length) this.#grow(end + (this.#buffer.length >> 2));
    this.#length = end;
    return at;
  }

  #grow(bytes: number): void {
    if (bytes <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(bytes);
    grown.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = grown;
  }
}
