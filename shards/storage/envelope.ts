// The frame around every stored value except documents and vectors. It distinguishes foreign, newer and
// damaged bytes.
//
//   0        4       6          8          12       16
//   | "SKEN" | kind u16 | version u16 | length u32 | crc32 u32 | payload (length bytes) |
//
// The checksum covers bytes 0..12 and the payload. Knows nothing about the payload's contents.
import { crc32 } from "node:zlib";
import { Scratch } from "./scratch.js";

// ON DISK - never renumber
const MAGIC = 0x4e454b53; // "SKEN" little-endian
const AT_KIND = 4;
const AT_VERSION = AT_KIND + 2;
const AT_LENGTH = AT_VERSION + 2;
const AT_CRC = AT_LENGTH + 4;
const AT_PAYLOAD = AT_CRC + 4;

// ON DISK - never renumber
export const ENVELOPE_MANIFEST = 1;
export const ENVELOPE_PIECE = 2;
export const ENVELOPE_DELETED_ROWS = 3;
export const ENVELOPE_DEAD_DOCUMENTS = 4;
export const ENVELOPE_SCHEMA = 5;
export const ENVELOPE_UNFINISHED = 6;
export const ENVELOPE_MODEL = 7;
export const ENVELOPE_MODEL_PIECE = 8;
export const ENVELOPE_CODES = 9;
export const ENVELOPE_RELEASED_DOCUMENTS = 10;
export const ENVELOPE_CATALOG = 16;
export const ENVELOPE_LOG_JOURNAL = 32;
export const ENVELOPE_LOG_COUNTERS = 33;
export const ENVELOPE_LOG_SEARCHES = 34;
export const ENVELOPE_LOG_MARKS = 35;
export const ENVELOPE_LOG_EVENTS = 36;
export const ENVELOPE_LOG_ROLLUP = 37;

export class EnvelopeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/** The bytes were not written by Skein, or they are a different kind of value. */
export class ForeignBytesError extends EnvelopeError {}

/** The bytes were written by another version of Skein, in a layout that this version cannot read. */
export class OtherVersionError extends EnvelopeError {}

/** The bytes were written by Skein, but some were lost or changed. */
export class DamagedBytesError extends EnvelopeError {}

/** Frames a payload. The result is a copy in the scratch buffer. */
export function seal(
  kind: number,
  version: number,
  payload: Uint8Array,
  scratch = new Scratch(),
): Uint8Array {
  const bytes = scratch.room(AT_PAYLOAD + payload.length);
  bytes.writeUInt32LE(MAGIC, 0);
  bytes.writeUInt16LE(kind, AT_KIND);
  bytes.writeUInt16LE(version, AT_VERSION);
  bytes.writeUInt32LE(payload.length, AT_LENGTH);
  bytes.set(payload, AT_PAYLOAD);
  bytes.writeUInt32LE(checksum(bytes), AT_CRC);
  return bytes;
}

/**
 * Returns the payload as a view. Accepts the versions from `oldest` to `version`. Throws ForeignBytesError,
 * OtherVersionError or DamagedBytesError; `what` names the record in error messages.
 */
export function unseal(
  kind: number,
  version: number,
  bytes: Uint8Array,
  what: string,
  oldest = version,
): Uint8Array {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.length < 4 || view.readUInt32LE(0) !== MAGIC) {
    throw new ForeignBytesError(`${what}: not written by Skein`);
  }
  if (view.length < AT_PAYLOAD) throw new DamagedBytesError(`${what}: cut short`);
  const foundKind = view.readUInt16LE(AT_KIND);
  const foundVersion = view.readUInt16LE(AT_VERSION);
  const whole = view.readUInt32LE(AT_LENGTH) === view.length - AT_PAYLOAD;
  if (!whole || checksum(view) !== view.readUInt32LE(AT_CRC)) {
    throw new DamagedBytesError(`${what}: damaged (length or checksum)`);
  }
  if (foundKind !== kind) throw new ForeignBytesError(`${what}: kind ${foundKind}, expected ${kind}`);
  if (foundVersion < oldest || foundVersion > version) {
    throw new OtherVersionError(`${what}: format version ${foundVersion}, this build reads ${version}`);
  }
  return view.subarray(AT_PAYLOAD);
}

function checksum(bytes: Buffer): number {
  return crc32(bytes.subarray(AT_PAYLOAD), crc32(bytes.subarray(0, AT_CRC)));
}
