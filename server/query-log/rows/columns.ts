// Encodes columns of whole numbers as bytes. Numbers below 2^53 are LEB128 encoded; differences that may be
// negative are zigzag encoded first. Does not know what the columns mean.

/** Appends numbers to a growing buffer. */
export class ColumnWriter {
  #bytes = Buffer.allocUnsafe(4096);
  #length = 0;

  /** Writes a whole number in [0, 2^53). */
  put(value: number): void {
    if (this.#bytes.length - this.#length < 8) this.#grow(8);
    const bytes = this.#bytes;
    let rest = value;
    while (rest >= 0x80) {
      bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = rest < 0x80000000 ? rest >>> 7 : Math.floor(rest / 0x80);
    }
    bytes[this.#length++] = rest;
  }

  putAll(values: Iterable<number>): void {
    for (const value of values) this.put(value);
  }

  /** Writes non-decreasing numbers as differences from their predecessors. */
  putRising(values: Iterable<number>): void {
    let before = 0;
    for (const value of values) {
      this.put(value - before);
      before = value;
    }
  }

  /**
   * Writes numbers in any order as differences from their predecessors. The result is small if neighbouring
   * numbers are close together.
   */
  putNear(values: Iterable<number>): void {
    let before = 0;
    for (const value of values) {
      const difference = value - before;
      this.put(difference >= 0 ? difference * 2 : -difference * 2 - 1);
      before = value;
    }
  }

  /** Writes the length, then the text as UTF-8. */
  putText(text: string): void {
    const length = Buffer.byteLength(text);
    this.put(length);
    this.#grow(length);
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** Returns everything written, as a view. Nothing may be written afterwards. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(bytes: number): void {
    if (this.#bytes.length - this.#length >= bytes) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + bytes));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

/**
 * Reads what a ColumnWriter wrote, in the same order. Throws RangeError at an attempt to read past the end.
 */
export class ColumnReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  next(): number {
    const bytes = this.#bytes;
    let byte = this.#byte();
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let factor = 0x80; ; factor *= 0x80) {
      byte = bytes[this.#at++] as number;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      if (this.#at > bytes.length) throw cutShort();
    }
  }

  /**
   * Reads the number of entries that follow, each at least one byte long. Throws RangeError if too few bytes
   * remain for them.
   */
  count(): number {
    const count = this.next();
    this.room(count);
    return count;
  }

  /** Throws RangeError if the remaining bytes are too few for this many entries of at least one byte. */
  room(entries: number): void {
    if (entries > this.#bytes.length - this.#at) throw cutShort();
  }

  into<T extends Uint8Array | Uint16Array | Uint32Array | Float64Array>(values: T): T {
    for (let i = 0; i < values.length; i++) values[i] = this.next();
    return values;
  }

  risingInto<T extends Uint32Array | Float64Array>(values: T): T {
    let value = 0;
    for (let i = 0; i < values.length; i++) {
      value += this.next();
      values[i] = value;
    }
    return values;
  }

  nearInto<T extends Uint32Array | Float64Array>(values: T): T {
    let value = 0;
    for (let i = 0; i < values.length; i++) {
      const folded = this.next();
      value += folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
      values[i] = value;
    }
    return values;
  }

  text(): string {
    const length = this.next();
    const at = this.#take(length);
    return this.#bytes.toString("utf8", at, at + length);
  }

  #byte(): number {
    return this.#bytes[this.#take(1)] as number;
  }

  #take(bytes: number): number {
    const at = this.#at;
    this.#at += bytes;
    if (this.#at > this.#bytes.length) throw cutShort();
    return at;
  }
}

function cutShort(): RangeError {
  return new RangeError("a column of the query log is cut short");
}
