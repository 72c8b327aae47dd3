// Cuts a byte stream into batches of whole NDJSON lines. Skips blank lines. A line over the limit is
// reported; its bytes are dropped as they arrive. Holds at most one batch and one line. Knows nothing about
// documents.
import { keepShape } from "../../../engine-wasm/host/runtime/kept-shapes.js";

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

export interface LineBatch {
  /** Lines joined by newlines. None of them is blank. */
  readonly bytes: Uint8Array;
  /** Each line's number in the stream, from 1. */
  readonly numbers: readonly number[];
  /** Numbers of the lines left out of `bytes` because they were too long. */
  readonly tooLong: readonly number[];
}

export interface FrameLimits {
  readonly lineBytesMax: number;
  readonly batchBytes: number;
  readonly batchLinesMax: number;
}

export class LineFramer {
  readonly #limits: FrameLimits;
  #number = 1;
  #blankLines = 0;
  /** Pieces of the line that is still arriving. */
  #pieces: Uint8Array[] = [];
  #pieceBytes = 0;
  #skipping = false;
  #lines: Uint8Array[] = [];
  #lineBytes = 0;
  #numbers: number[] = [];
  #tooLong: number[] = [];

  constructor(limits: FrameLimits) {
    this.#limits = limits;
  }

  /** Number of consecutive blank lines just before the current position. */
  get blankLines(): number {
    return this.#blankLines;
  }

  /**
   * Yields the batches that are full after the next bytes. Takes ownership of the bytes: nobody may change
   * them afterwards.
   */
  *push(chunk: Uint8Array): Generator<LineBatch> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let at = 0;
    for (;;) {
      if (this.#pieceBytes === 0 && !this.#skipping) at = this.#passBlankLines(bytes, at);
      const newline = bytes.indexOf(NEWLINE, at);
      if (newline < 0) break;
      this.#extend(bytes.subarray(at, newline));
      this.#endLine();
      at = newline + 1;
      if (this.#full()) yield this.#batch();
    }
    this.#extend(bytes.subarray(at));
  }

  /** Returns the last batch, or null if no lines are left. */
  finish(): LineBatch | null {
    if (this.#pieceBytes > 0 || this.#skipping) this.#endLine();
    return this.#numbers.length + this.#tooLong.length === 0 ? null : this.#batch();
  }

  /**
   * Skips blank lines from `at` on and returns where the next line starts. Allocates nothing per line,
   * because a stream may have millions of blank lines.
   */
  #passBlankLines(bytes: Uint8Array, at: number): number {
    let start = at;
    for (let i = at; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      if (byte === NEWLINE) {
        start = i + 1;
        this.#number++;
        this.#blankLines++;
      } else if (!isSpace(byte)) break;
    }
    return start;
  }

  #extend(piece: Uint8Array): void {
    if (this.#skipping || piece.length === 0) return;
    if (this.#pieceBytes + piece.length > this.#limits.lineBytesMax) {
      this.#skipping = true;
      this.#pieces = [];
      this.#pieceBytes = 0;
      return;
    }
    this.#pieces.push(piece);
    this.#pieceBytes += piece.length;
  }

  #endLine(): void {
    const number = this.#number++;
    if (this.#skipping) {
      this.#skipping = false;
      this.#blankLines = 0;
      this.#tooLong.push(number);
      return;
    }
    let line: Uint8Array =
      this.#pieces.length === 1 ? (this.#pieces[0] as Uint8Array) : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#pieceBytes = 0;
    // If the stream is several files joined together, lines in the middle may begin with a byte order mark.
    // The marks must be removed here: a line that has only a mark is blank, and the splitter must count the
    // same lines.
    while (BYTE_ORDER_MARK.equals(line.subarray(0, 3))) line = line.subarray(3);
    if (isBlank(line)) {
      this.#blankLines++;
      return;
    }
    this.#blankLines = 0;
    this.#lines.push(line);
    this.#lineBytes += line.length + 1;
    this.#numbers.push(number);
  }

  #full(): boolean {
    const { batchBytes, batchLinesMax } = this.#limits;
    return this.#lineBytes >= batchBytes || this.#numbers.length + this.#tooLong.length >= batchLinesMax;
  }

  #batch(): LineBatch {
    const bytes = new Uint8Array(this.#lineBytes);
    let at = 0;
    for (const line of this.#lines) {
      bytes.set(line, at);
      at += line.length;
      bytes[at++] = NEWLINE;
    }
    const batch = { bytes, numbers: this.#numbers, tooLong: this.#tooLong };
    this.#lines = [];
    this.#lineBytes = 0;
    this.#numbers = [];
    this.#tooLong = [];
    return batch;
  }
}

function isBlank(line: Uint8Array): boolean {
  return line.every(isSpace);
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

keepShape(new LineFramer({ lineBytesMax: 0, batchBytes: 0, batchLinesMax: 0 }));
