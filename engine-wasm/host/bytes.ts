// A growable writer and a bounds-checked reader for sequences of little-endian values, as in the engine's
// programs and results. Knows nothing about what the values mean.

const FIRST_BYTES = 1024;
/** A finished writer's buffer is reused by the next writer, unless it has grown beyond this size. */
const SPARE_BYTES_MAX = 64 * 1024;
/** ASCII strings up to this length, which covers most words, are written without an intermediate array. */
const SHORT_MAX = 32;
const encoder = new TextEncoder();

let spare: { readonly bytes: Uint8Array<ArrayBuffer>; readonly view: DataView } | null = null;

/** Appends numbers and strings to a growing buffer. `finish` returns the bytes; the writer is then spent. */
export class ByteWriter {
  #bytes: Uint8Array<ArrayBuffer>;
  #view: DataView;
  #length = 0;

  constructor() {
    this.#bytes = spare?.bytes ?? new Uint8Array(FIRST_BYTES);
    this.#view = spare?.view ?? new DataView(this.#bytes.buffer);
    spare = null;
  }

  /** Number of bytes written so far. */
  get length(): number {
    return this.#length;
  }

  u8(value: number): void {
    const at = this.#room(1);
    this.#view.setUint8(at, value);
  }

  u16(value: number): void {
    const at = this.#room(2);
    this.#view.setUint16(at, value, true);
  }

  u32(value: number): void {
    const at = this.#room(4);
    this.#view.setUint32(at, value, true);
  }

  i64(value: bigint): void {
    const at = this.#room(8);
    this.#view.setBigInt64(at, value, true);
  }

  u64(value: bigint): void {
    const at = this.#room(8);
    this.#view.setBigUint64(at, value, true);
  }

  f64(value: number): void {
    const at = this.#room(8);
    this.#view.setFloat64(at, value, true);
  }

  /** Overwrites an earlier u16. */
  u16At(at: number, value: number): void {
    this.#view.setUint16(at, value, true);
  }

  /** Overwrites an earlier u32. */
  u32At(at: number, value: number): void {
    this.#view.setUint32(at, value, true);
  }

  bytes(value: Uint8Array): void {
    const at = this.#room(value.length);
    this.#bytes.set(value, at);
  }

  /** Writes a u16 length, then the UTF-8 bytes. Throws a RangeError beyond 65,535 bytes. */
  string16(value: string | Uint8Array): void {
    if (typeof value === "string" && value.length <= SHORT_MAX && isAscii(value)) {
      this.u16(value.length);
      this.#ascii(value);
      return;
    }
    const bytes = typeof value === "string" ? encoder.encode(value) : value;
    if (bytes.length > 0xffff)
      throw new RangeError(`a string of ${bytes.length} bytes does not fit a u16 length`);
    this.u16(bytes.length);
    this.bytes(bytes);
  }

  /** Writes a u32 length, then the UTF-8 bytes. */
  string32(value: string | Uint8Array): void {
    const bytes = typeof value === "string" ? encoder.encode(value) : value;
    this.u32(bytes.length);
    this.bytes(bytes);
  }

  /** Writes a count that must fit into u16. `what` says what is counted, for the error message. */
  count16(count: number, what: string): void {
    if (count > 0xffff) throw new RangeError(`${count} ${what}: at most 65535 fit a program`);
    this.u16(count);
  }

  /** Returns a copy of everything written. The writer must not be used afterwards. */
  finish(): Uint8Array {
    const written = this.#bytes.subarray(0, this.#length);
    if (this.#bytes.length > SPARE_BYTES_MAX) return written.slice();
    spare = { bytes: this.#bytes, view: this.#view };
    return Buffer.from(written);
  }

  #ascii(value: string): void {
    const at = this.#room(value.length);
    for (let i = 0; i < value.length; i++) this.#bytes[at + i] = value.charCodeAt(i);
  }

  #room(bytes: number): number {
    const at = this.#length;
    const end = at + bytes;
    if (end > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(end, this.#bytes.length * 2));
      grown.set(this.#bytes);
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    this.#length = end;
    return at;
  }
}

function isAscii(value: string): boolean {
  for (let i = 0; i < value.length; i++) if (value.charCodeAt(i) > 0x7f) return false;
  return true;
}

/** Reads bytes written by a ByteWriter or the engine. Throws a RangeError when reading past the end. */
export class ByteReader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Current position in bytes. */
  get at(): number {
    return this.#at;
  }

  get remaining(): number {
    return this.#view.byteLength - this.#at;
  }

  u8(): number {
    const value = this.#view.getUint8(this.#at);
    this.#at += 1;
    return value;
  }

  u16(): number {
    const value = this.#view.getUint16(this.#at, true);
    this.#at += 2;
    return value;
  }

  u32(): number {
    const value = this.#view.getUint32(this.#at, true);
    this.#at += 4;
    return value;
  }

  i64(): bigint {
    const value = this.#view.getBigInt64(this.#at, true);
    this.#at += 8;
    return value;
  }

  u64(): bigint {
    const value = this.#view.getBigUint64(this.#at, true);
    this.#at += 8;
    return value;
  }

  f64(): number {
    const value = this.#view.getFloat64(this.#at, true);
    this.#at += 8;
    return value;
  }

  skip(length: number): void {
    this.#at = this.#end(length);
  }

  /** Moves to byte `at`. */
  seek(at: number): void {
    this.#at = 0;
    this.skip(at);
  }

  /** Returns a view of the next `length` bytes; it shares memory with the input. */
  bytes(length: number): Uint8Array {
    const end = this.#end(length);
    const view = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return view;
  }

  string16(): string {
    return this.#string(this.u16());
  }

  string32(): string {
    return this.#string(this.u32());
  }

  #string(length: number): string {
    const end = this.#end(length);
    const text = this.#bytes.toString("utf8", this.#at, end);
    this.#at = end;
    return text;
  }

  #end(length: number): number {
    const end = this.#at + length;
    if (end > this.#view.byteLength) throw new RangeError("the bytes end in the middle of a value");
    return end;
  }
}
