// A stored document: the value behind a document key. Read on the way to every answer, so it has no envelope:
//
//   | flags u8 | id length u16 | id UTF-8 | raw JSON ... |
//
// The id stands apart so that a hash collision is noticed without parsing JSON.

// ON DISK - never renumber
const FLAG_INTERNAL = 1; // has top-level members `embedding` or `_*`, which no answer may show
const AT_ID_LENGTH = 1;
const AT_ID = AT_ID_LENGTH + 2;

export interface DocumentRecord {
  internal: boolean;
  id: string;
  /** JSON bytes; decoding gives a view into the stored value. */
  raw: Uint8Array;
}

export function encodeDocument({ internal, id, raw }: DocumentRecord): Uint8Array {
  const idLength = Buffer.byteLength(id, "utf8");
  const value = Buffer.allocUnsafe(AT_ID + idLength + raw.length);
  value[0] = internal ? FLAG_INTERNAL : 0;
  value.writeUInt16LE(idLength, AT_ID_LENGTH);
  value.write(id, AT_ID, "utf8");
  value.set(raw, AT_ID + idLength);
  return value;
}

export function decodeDocument(value: Uint8Array): DocumentRecord {
  const view = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const idEnd = AT_ID + view.readUInt16LE(AT_ID_LENGTH);
  return {
    internal: (view[0]! & FLAG_INTERNAL) !== 0,
    id: view.toString("utf8", AT_ID, idEnd),
    raw: view.subarray(idEnd),
  };
}
