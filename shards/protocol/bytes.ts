// Reads and writes the bytes of messages sequentially, in little-endian order. Every read is checked against
// the end of the message: a message of the wrong length throws a ShardError and never yields a wrong value.
// Knows nothing about particular messages.
import { keepShape } from "../../engine-wasm/host/runtime/kept-shapes.js";
import { SHARD_BAD_MESSAGE, ShardError } from "./errors.js";

/**
 * Throws unless the number is whole. Sequence numbers, generations and counts that may exceed 2^32 are sent
 * as f64.
 */
function checkWhole(value: number, least = 0): number {
  if (!Number.isSafeInteger(value) || value < least) {
    throw new ShardError(SHARD_BAD_MESSAGE, `not a whole number: ${value}`);
  }
  return value;
}

/**
 * Appends values to a buffer that grows as needed. `finish` returns bytes with their own ArrayBuffer, ready
 * to transfer.
 */
export class MessageWriter {
  #bytes: Buffer;
  #at = 0;

  /** `capacity`: expected length in bytes. If it is exact, `finish` does not copy. */
  constructor(capacity = 256) {
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(capacity, 16));
  }

  #room(bytes: number): number {
    const at = this.#at;
    const end = at + bytes;
    if (end > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(end, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    this.#at = end;
    return at;
  }

  u8(value: number): this {
    const at = this.#room(1);
    this.#bytes.writeUInt8(value, at);
    return this;
  }

  u16(value: number): this {
    const at = this.#room(2);
    this.#bytes.writeUInt16LE(value, at);
    return this;
  }

  u32(value: number): this {
    const at = this.#room(4);
    this.#bytes.writeUInt32LE(value, at);
    return this;
  }

  u64(value: bigint): this {
    const at = this.#room(8);
    this.#bytes.writeBigUInt64LE(value, at);
    return this;
  }

  f32(value: number): this {
    const at = this.#room(4);
    this.#bytes.writeFloatLE(value, at);
    return this;
  }

  /** Appends a whole number below 2^53 as f64. */
  whole(value: number): this {
    const at = this.#room(8);
    this.#bytes.writeDoubleLE(checkWhole(value), at);
    return this;
  }

  /** Appends a time in whole Date.now() milliseconds, which are negative before 1970, as f64. */
  time(value: number): this {
    const at = this.#room(8);
    this.#bytes.writeDoubleLE(checkWhole(value, Number.NEGATIVE_INFINITY), at);
    return this;
  }

  bytes(value: Uint8Array): this {
    const at = this.#room(value.length);
    this.#bytes.set(value, at);
    return this;
  }

  /** Appends a u32 length, then the bytes. */
  block(value: Uint8Array): this {
    return this.u32(value.length).bytes(value);
  }

  /** Appends a u16 length, then UTF-8. Throws a RangeError for more than 65,535 bytes. */
  text(value: string): this {
    const length = Buffer.byteLength(value, "utf8");
    this.u16(length);
    const at = this.#room(length);
    this.#bytes.write(value, at, "utf8");
    return this;
  }

  finish(): Uint8Array<ArrayBuffer> {
    const buffer = this.#bytes.buffer as ArrayBuffer;
    return this.#at === buffer.byteLength
      ? new Uint8Array(buffer)
      : new Uint8Array(buffer.slice(0, this.#at));
  }
}

/** Reads values in the order in which they were written. Byte arrays are views into the message. */
export class MessageReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  #take(bytes: number): number {
    const at = this.#at;
    if (bytes > this.#bytes.length - at) {
      throw new ShardError(
        SHARD_BAD_MESSAGE,
        `message ends at byte ${this.#bytes.length}, wanted ${at + bytes}`,
      );
    }
    this.#at = at + bytes;
    return at;
  }

  u8(): number {
    return this.#bytes.readUInt8(this.#take(1));
  }

  u16(): number {
    return this.#bytes.readUInt16LE(this.#take(2));
  }

  u32(): number {
    return this.#bytes.readUInt32LE(this.#take(4));
  }

  u64(): bigint {
    return this.#bytes.readBigUInt64LE(this.#take(8));
  }

  f32(): number {
    return this.#bytes.readFloatLE(this.#take(4));
  }

  whole(): number {
    return checkWhole(this.#bytes.readDoubleLE(this.#take(8)));
  }

  time(): number {
    return checkWhole(this.#bytes.readDoubleLE(this.#take(8)), Number.NEGATIVE_INFINITY);
  }

  bytes(length: number): Uint8Array {
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }

  block(): Uint8Array {
    return this.bytes(this.u32());
  }

  text(): string {
    const length = this.u16();
    const at = this.#take(length);
    return this.#bytes.toString("utf8", at, at + length);
  }

  /**
   * Reads a count of items of at least `itemBytes` each. Throws if that many items cannot fit into the rest
   * of the message.
   */
  count(itemBytes: number): number {
    const count = this.u32();
    if (count * itemBytes > this.#bytes.length - this.#at) {
      throw new ShardError(SHARD_BAD_MESSAGE, `message too short for ${count} items`);
    }
    return count;
  }

  rest(): Uint8Array {
    return this.bytes(this.#bytes.length - this.#at);
  }

  /** Throws unless the whole message has been read. */
  end(): void {
    if (this.#at !== this.#bytes.length) {
      throw new ShardError(SHARD_BAD_MESSAGE, `${this.#bytes.length - this.#at} bytes too many`);
    }
  }
}

keepShape(new MessageWriter(1));
keepShape(new MessageReader(new Uint8Array(0)));
