// Encodes and decodes stored documents, which are the values of document keys. Documents are read for every
// answer, so the frame is small:
//
//   | head u8 | id length u16 | crc32 u32 | id UTF-8 | raw JSON ... |
//
// The checksum covers the key, head, id length and everything after the checksum, so a document under the
// wrong key counts as damaged. The id is stored separately so that a hash collision is noticed without
// parsing JSON. Early builds wrote records with head 0 or 1 and no checksum, in which the id follows its
// length. No single flipped bit turns one kind of head into the other.
import { crc32 } from "node:zlib";
import { DamagedBytesError } from "../storage/envelope.js";
import { describeKey } from "../storage/keyspace.js";
import { Scratch } from "../storage/scratch.js";

// ON DISK - never renumber
const FLAG_INTERNAL = 1; // has top-level members `embedding` or `_*`, which no answer may show
const HEAD_CHECKED = 0xa4; // without FLAG_INTERNAL
const AT_ID_LENGTH = 1;
const AT_CRC = AT_ID_LENGTH + 2;
const AT_ID = AT_CRC + 4;

const ID_SHOWN_BYTES_MAX = 200;

export interface DocumentRecord {
  internal: boolean;
  id: string;
  /** JSON bytes. After decoding, a view into the stored value. */
  raw: Uint8Array;
}

/** Encodes a document's stored value into the scratch buffer. */
export function encodeDocument(
  key: Uint8Array,
  { internal, id, raw }: DocumentRecord,
  scratch = new Scratch(),
): Uint8Array {
  const idLength = Buffer.byteLength(id, "utf8");
  const value = scratch.room(AT_ID + idLength + raw.length);
  value[0] = HEAD_CHECKED | (internal ? FLAG_INTERNAL : 0);
  value.writeUInt16LE(idLength, AT_ID_LENGTH);
  value.write(id, AT_ID, "utf8");
  value.set(raw, AT_ID + idLength);
  value.writeUInt32LE(checksum(key, value), AT_CRC);
  return value;
}

/**
 * Throws DamagedBytesError, with a message that names the key, if the value is not what was stored under it.
 */
export function decodeDocument(key: Uint8Array, value: Uint8Array): DocumentRecord {
  const view = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const head = (view[0] ?? 0) & ~FLAG_INTERNAL;
  const atId = head === 0 ? AT_CRC : AT_ID;
  if ((head !== 0 && head !== HEAD_CHECKED) || view.length < atId) throw damaged(key);
  const idEnd = atId + view.readUInt16LE(AT_ID_LENGTH);
  if (head === HEAD_CHECKED && checksum(key, view) !== view.readUInt32LE(AT_CRC)) throw damaged(key);
  if (idEnd > view.length) throw damaged(key);
  return {
    internal: (view[0]! & FLAG_INTERNAL) !== 0,
    id: view.toString("utf8", atId, idEnd),
    raw: view.subarray(idEnd),
  };
}

/** True if the record has a checksum. Early builds wrote records without one. */
export function isChecked(value: Uint8Array): boolean {
  return ((value[0] ?? 0) & ~FLAG_INTERNAL) === HEAD_CHECKED;
}

/**
 * The apparent id in a damaged record, which helps people recognise the document. Unverified; "" if there is
 * none.
 */
export function idOfDamaged(value: Uint8Array): string {
  if (value.length <= AT_ID) return "";
  const view = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const id = view.toString(
    "utf8",
    AT_ID,
    AT_ID + Math.min(view.readUInt16LE(AT_ID_LENGTH), ID_SHOWN_BYTES_MAX),
  );
  return id.replace(/\p{C}|\ufffd/gu, "?");
}

function checksum(key: Uint8Array, value: Buffer): number {
  return crc32(value.subarray(AT_ID), crc32(value.subarray(0, AT_CRC), crc32(key)));
}

function damaged(key: Uint8Array): DamagedBytesError {
  return new DamagedBytesError(`${describeKey(key)}: damaged (length or checksum)`);
}
