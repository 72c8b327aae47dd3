// Reads LevelDB's tables and performs the checks that LevelDB omits. Removes blocks on which LevelDB would
// abort the process. Does not interpret values, and looks at keys only to check their order.
//
//   table:  data blocks, each              | data | type u8 | crc u32 |
//           filter blocks, the meta index block that lists them, the index block that lists the data blocks
//           a footer of 48 bytes with the positions of the meta index and the index
//   block:  entries                        | shared, own, value bytes: varints | rest of the key | value |
//           u32 offsets of entries that share nothing, u32 number of these offsets
//   key:    the store's key, then u64: type u8, write number 7 bytes
//
// Checksums are CRC-32C, masked by a rotation.
import { crc32c } from "./crc32c.js";
import { unpackSnappy } from "./snappy.js";

const FOOTER_BYTES = 48;
const MAGIC = 0xdb4775248b80fb57n;
const TRAILER_BYTES = 5;
const TYPE_PLAIN = 0;
const TYPE_SNAPPY = 1;
const KEY_TAG_BYTES = 8;
/** Highest key type. The types are 0 (deleted) and 1 (stored). */
const KEY_TYPE_MAX = 1;
const MASK = 0xa282ead8;

interface Handle {
  at: number;
  length: number;
}

interface Entry {
  key: Buffer;
  value: Buffer;
}

export function tableDamage(bytes: Buffer): string | null {
  const footer = footerOf(bytes);
  if (footer === null) return "it does not end like a table";
  const meta = entriesOf(bytes, footer.meta);
  if (meta === null) return "its meta index fails its checksum";
  const index = entriesOf(bytes, footer.index);
  if (index === null) return "its index fails its checksum";
  const handles = [...index, ...meta].map(({ value }) => handleOf(value));
  const bad = handles.find((handle) => !isWhole(bytes, handle));
  return bad === undefined ? null : `the block at byte ${bad.at} fails its checksum`;
}

/**
 * Returns the table without the blocks that LevelDB cannot read; if it can read all of them, returns `bytes`
 * itself. A block with a wrong checksum is kept if its keys are in order, because most of its values are
 * intact. Null if nothing is readable.
 */
export function readableTable(bytes: Buffer): Buffer | null {
  const footer = footerOf(bytes);
  const meta = footer === null || entriesOf(bytes, footer.meta) === null ? null : footer.meta;
  const index = footer === null ? null : entriesOf(bytes, footer.index);
  const kept = index === null ? foundIndex(bytes, meta?.at ?? bytes.length) : readable(bytes, index);
  if (kept.length === 0) return null;
  if (meta !== null && kept.length === index?.length) return bytes;
  const metaBlock = meta === null ? sealed(blockOf([])) : Buffer.alloc(0);
  const indexBlock = sealed(blockOf(kept));
  const indexAt = bytes.length + metaBlock.length;
  const end = encodeFooter(meta ?? { at: bytes.length, length: metaBlock.length - TRAILER_BYTES }, {
    at: indexAt,
    length: indexBlock.length - TRAILER_BYTES,
  });
  return Buffer.concat([bytes, metaBlock, indexBlock, end]);
}

function readable(bytes: Buffer, index: readonly Entry[]): Entry[] {
  return index.filter(({ key, value }, i) => {
    const handle = handleOf(value);
    return isWhole(bytes, handle) || isOrdered(bytes, handle, index[i - 1]?.key ?? null, key);
  });
}

/**
 * Builds an index by walking through the blocks up to the first damaged block. Each block begins where the
 * previous block ends.
 */
function foundIndex(bytes: Buffer, end: number): Entry[] {
  const index: Entry[] = [];
  for (let at = 0; at < end; ) {
    const handle = { at, length: blockLength(bytes, at, end) };
    const block = handle.length < 0 ? null : unpacked(bytes, handle);
    const last = (block === null ? null : entriesIn(block))?.at(-1);
    if (last === undefined || !isOrdered(bytes, handle, index.at(-1)?.key ?? null, last.key)) break;
    index.push({ key: last.key, value: Buffer.concat([handle.at, handle.length].map(varint)) });
    at += handle.length + TRAILER_BYTES;
  }
  return index;
}

/**
 * Finds the length of the block at `start` by trying lengths until the checksum matches. Returns -1 if the
 * block is damaged.
 */
function blockLength(bytes: Buffer, start: number, end: number): number {
  let crc = 0;
  for (let at = start; at + TRAILER_BYTES <= end; at++) {
    crc = crc32c(bytes.subarray(at, at + 1), crc);
    if (bytes[at]! <= TYPE_SNAPPY && crc === unmask(bytes.readUInt32LE(at + 1))) return at - start;
  }
  return -1;
}

function footerOf(bytes: Buffer): { meta: Handle; index: Handle } | null {
  if (bytes.length < FOOTER_BYTES || bytes.readBigUInt64LE(bytes.length - 8) !== MAGIC) return null;
  const reader = new VarintReader(bytes, bytes.length - FOOTER_BYTES);
  const [metaAt, metaLength, at, length] = [reader.next(), reader.next(), reader.next(), reader.next()];
  return { meta: { at: metaAt, length: metaLength }, index: { at, length } };
}

function encodeFooter(meta: Handle, index: Handle): Buffer {
  const end = Buffer.alloc(FOOTER_BYTES);
  Buffer.concat([meta.at, meta.length, index.at, index.length].map(varint)).copy(end);
  end.writeBigUInt64LE(MAGIC, FOOTER_BYTES - 8);
  return end;
}

function isWhole(bytes: Buffer, { at, length }: Handle): boolean {
  const end = at + length;
  if (end + TRAILER_BYTES > bytes.length) return false;
  return crc32c(bytes.subarray(at, end + 1)) === unmask(bytes.readUInt32LE(end + 1));
}

/** Returns a block's entries; null if its checksum is wrong or LevelDB could not read it. */
function entriesOf(bytes: Buffer, handle: Handle): Entry[] | null {
  const block = isWhole(bytes, handle) ? unpacked(bytes, handle) : null;
  return block === null ? null : entriesIn(block);
}

/**
 * Returns a block's uncompressed bytes; null if they cannot be uncompressed. The block must lie within the
 * table.
 */
function unpacked(bytes: Buffer, { at, length }: Handle): Buffer | null {
  const block = bytes.subarray(at, at + length);
  const type = bytes[at + length];
  if (type === TYPE_SNAPPY) return unpackSnappy(block);
  return type === TYPE_PLAIN ? block : null;
}

/** Returns an uncompressed block's entries; null if LevelDB would read outside the block. */
function entriesIn(block: Buffer): Entry[] | null {
  const restarts = block.length < 4 ? 0 : block.readUInt32LE(block.length - 4);
  const end = block.length - 4 - restarts * 4;
  if (restarts === 0 || end < 0) return null;
  const entries: Entry[] = [];
  const starts = new Set([0]);
  const reader = new VarintReader(block, 0);
  let key: Buffer = Buffer.alloc(0);
  while (reader.at < end) {
    const start = reader.at;
    const [shared, own, valueBytes] = [reader.next(), reader.next(), reader.next()];
    const valueAt = reader.at + own;
    if (shared > key.length || valueAt + valueBytes > end) return null;
    key = Buffer.concat([key.subarray(0, shared), block.subarray(reader.at, valueAt)]);
    entries.push({ key, value: block.subarray(valueAt, valueAt + valueBytes) });
    if (shared === 0) starts.add(start);
    reader.at = valueAt + valueBytes;
  }
  for (let i = 0; i < restarts; i++) if (!starts.has(block.readUInt32LE(end + i * 4))) return null;
  return entries;
}

/**
 * True if a damaged block is readable and its keys ascend: from above `before`, the previous block's last
 * key, up to `last`, the block's key in the index.
 */
function isOrdered(bytes: Buffer, handle: Handle, before: Buffer | null, last: Buffer): boolean {
  if (handle.at + handle.length + TRAILER_BYTES > bytes.length) return false;
  const block = unpacked(bytes, handle);
  const entries = block === null ? null : entriesIn(block);
  if (entries === null || entries.length === 0) return false;
  let previous = before;
  for (const { key } of entries) {
    if (key.length < KEY_TAG_BYTES || key[key.length - KEY_TAG_BYTES]! > KEY_TYPE_MAX) return false;
    if (previous !== null && compareKeys(previous, key) >= 0) return false;
    previous = key;
  }
  return previous !== null && compareKeys(previous, last) <= 0;
}

/** Compares keys in table order. If a key was written twice, the newer write comes first. */
function compareKeys(a: Buffer, b: Buffer): number {
  const [ownA, ownB] = [a.length - KEY_TAG_BYTES, b.length - KEY_TAG_BYTES];
  const order = Buffer.compare(a.subarray(0, ownA), b.subarray(0, ownB));
  if (order !== 0) return order;
  const [tagA, tagB] = [a.readBigUInt64LE(ownA), b.readBigUInt64LE(ownB)];
  return tagA > tagB ? -1 : tagA < tagB ? 1 : 0;
}

/** Builds a block whose entries do not share key bytes, as in an index block. */
function blockOf(entries: readonly Entry[]): Buffer {
  const parts: Buffer[] = [];
  const starts: number[] = [];
  let bytes = 0;
  for (const { key, value } of entries) {
    starts.push(bytes);
    const head = Buffer.concat([0, key.length, value.length].map(varint));
    parts.push(head, key, value);
    bytes += head.length + key.length + value.length;
  }
  if (starts.length === 0) starts.push(0);
  const tail = Uint32Array.from([...starts, starts.length]);
  return Buffer.concat([...parts, Buffer.from(tail.buffer)]);
}

/** Returns the block followed by its type and checksum. */
function sealed(block: Buffer): Buffer {
  const whole = Buffer.concat([block, Buffer.alloc(TRAILER_BYTES)]);
  const crc = crc32c(whole.subarray(0, block.length + 1));
  whole.writeUInt32LE((((crc >>> 15) | (crc << 17)) + MASK) >>> 0, block.length + 1);
  return whole;
}

function handleOf(value: Buffer): Handle {
  const reader = new VarintReader(value, 0);
  return { at: reader.next(), length: reader.next() };
}

export function unmask(crc: number): number {
  const rotated = (crc - MASK) >>> 0;
  return ((rotated >>> 17) | (rotated << 15)) >>> 0;
}

/** Encodes a number below 2^53 as a varint. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Buffer.from([...bytes, rest]);
}

export class VarintReader {
  readonly #bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  /** Reads the next varint, which must be below 2^53. Bytes past the end read as 0. */
  next(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.at++] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80 || scale > 2 ** 45) return value;
    }
  }
}
