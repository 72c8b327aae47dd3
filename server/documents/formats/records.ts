// Reads JSON lines and JSON arrays as records, each with one document's unparsed bytes. A broken record is
// reported in its place and does not affect later ones. Keeps at most one chunk and one record in memory.

import { InputError } from "./input-error.js";

/** A document's bytes, or the reason why there are none. */
export interface JsonRecord {
  /** Line number (JSON lines) or position in the array, from 1. */
  readonly at: number;
  readonly bytes: Buffer;
  readonly problem?: string;
}

/**
 * Records longer than this are reported as broken. No document is that long, because the service accepts at
 * most 1 MiB.
 */
export const RECORD_BYTES_MAX = 16 * 1024 * 1024;

const NEWLINE = 0x0a;
const NO_BYTES = Buffer.alloc(0);
const TOO_LONG = `longer than ${RECORD_BYTES_MAX / 1024 / 1024} MiB`;

/** Yields one record per non-blank line, grouped by chunk. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<JsonRecord[]> {
  let line = 1;
  const rest = new Pieces();
  for await (const chunk of chunks) {
    const records: JsonRecord[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      rest.add(chunk.subarray(start, end));
      addRecord(records, line, rest);
      line++;
      start = end + 1;
    }
    rest.add(chunk.subarray(start));
    if (records.length > 0) yield records;
  }
  const last: JsonRecord[] = [];
  addRecord(last, line, rest);
  if (last.length > 0) yield last;
}

function addRecord(records: JsonRecord[], at: number, pieces: Pieces): void {
  if (pieces.overflowed) records.push({ at, bytes: NO_BYTES, problem: TOO_LONG });
  else {
    const bytes = pieces.join();
    if (!isBlank(bytes)) records.push({ at, bytes });
  }
  pieces.clear();
}

/**
 * Yields the elements of one JSON array, grouped by chunk. Throws InputError if the array itself is broken.
 */
export async function* readArray(chunks: AsyncIterable<Buffer>): AsyncGenerator<JsonRecord[]> {
  const scanner = new ArrayScanner();
  for await (const chunk of chunks) {
    const records = scanner.push(chunk);
    if (records.length > 0) yield records;
  }
  scanner.end();
}

const BEFORE_ARRAY = 0;
const BEFORE_ELEMENT = 1;
const IN_ELEMENT = 2;
const AFTER_ARRAY = 3;

/** Splits an array at its top-level commas. Chunks may end anywhere. */
class ArrayScanner {
  #state = BEFORE_ARRAY;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #count = 0;
  #commaSeen = false;
  readonly #element = new Pieces();

  push(chunk: Buffer): JsonRecord[] {
    const records: JsonRecord[] = [];
    let elementStart = 0;
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]!;
      if (this.#state === IN_ELEMENT) {
        if (this.#inString) this.#stepInString(byte);
        else if (byte === 0x22) this.#inString = true;
        else if (byte === 0x7b || byte === 0x5b) this.#depth++;
        else if ((byte === 0x7d || byte === 0x5d) && this.#depth > 0) this.#depth--;
        else if (this.#depth === 0 && (byte === 0x2c || byte === 0x5d)) {
          this.#element.add(chunk.subarray(elementStart, i));
          addRecord(records, ++this.#count, this.#element);
          this.#commaSeen = byte === 0x2c;
          this.#state = byte === 0x2c ? BEFORE_ELEMENT : AFTER_ARRAY;
        }
      } else if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) {
        this.#stepBetween(byte);
        elementStart = i;
        // Look at this byte again in the new state: as an element's first byte, it may open a string or a
        // bracket.
        if (this.#state === IN_ELEMENT) i--;
      }
    }
    if (this.#state === IN_ELEMENT) this.#element.add(chunk.subarray(elementStart));
    return records;
  }

  end(): void {
    if (this.#state === AFTER_ARRAY) return;
    throw new InputError(`the JSON array ends early, after element ${this.#count}; is the file complete?`);
  }

  #stepInString(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === 0x5c) this.#escaped = true;
    else if (byte === 0x22) this.#inString = false;
  }

  #stepBetween(byte: number): void {
    if (this.#state === BEFORE_ARRAY && byte === 0x5b) {
      this.#state = BEFORE_ELEMENT;
    } else if (this.#state === BEFORE_ELEMENT && byte === 0x5d && !this.#commaSeen) {
      this.#state = AFTER_ARRAY;
    } else if (this.#state === BEFORE_ELEMENT && byte !== 0x2c && byte !== 0x5d) {
      this.#state = IN_ELEMENT;
    } else {
      const found = JSON.stringify(String.fromCharCode(byte));
      const wanted = this.#state === AFTER_ARRAY ? "nothing more" : "a document";
      throw new InputError(`broken JSON array: ${found} after element ${this.#count}, expected ${wanted}`);
    }
  }
}

/** A record's bytes, which may span several chunks. They are copied only in that case. */
class Pieces {
  #pieces: Buffer[] = [];
  #bytes = 0;

  get overflowed(): boolean {
    return this.#bytes > RECORD_BYTES_MAX;
  }

  add(piece: Buffer): void {
    if (piece.byteLength === 0) return;
    this.#bytes += piece.byteLength;
    if (this.overflowed) this.#pieces = [];
    else this.#pieces.push(piece);
  }

  join(): Buffer {
    if (this.#pieces.length === 1) return this.#pieces[0]!;
    return this.#pieces.length === 0 ? NO_BYTES : Buffer.concat(this.#pieces, this.#bytes);
  }

  clear(): void {
    this.#pieces = [];
    this.#bytes = 0;
  }
}

function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== 0x20 && byte !== 0x0d && byte !== 0x09) return false;
  return true;
}
