// Reads LevelDB's own files and checks what LevelDB does not: it verifies no block of a table when it reads one,
// and drops damaged records of its log without a word. Only reads, never repairs; knows no key and no value.
//
//   log:    blocks of 32 KiB of records    | crc u32 | length u16 | type u8 | data |
//   table:  blocks, each                   | data | type u8 | crc u32 |
//           then the index block and 48 bytes at the end that say where it lies
//
// Checksums are CRC-32C, masked by a rotation.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32c } from "./crc32c.js";
import { unpackSnappy } from "./snappy.js";

const LOG_BLOCK_BYTES = 32 * 1024;
const RECORD_HEAD_BYTES = 7;
const RECORD_FULL = 1;
const RECORD_FIRST = 2;
const FOOTER_BYTES = 48;
const TABLE_MAGIC = 0xdb4775248b80fb57n;
const BLOCK_TRAILER_BYTES = 5;
const TYPE_SNAPPY = 1;

/** Damage in the files of a closed database, one sentence each. `tables`: read those through as well. */
export function levelDamage(location: string, tables: boolean): string[] {
  const damage: string[] = [];
  const names = fileNames(location);
  if (names.some(isData)) damage.push(...currentDamage(location, names));
  for (const name of names.filter(isData)) {
    const isTable = /\.(ldb|sst)$/.test(name);
    if (isTable && !tables) continue;
    const bytes = readFileSync(join(location, name));
    const found = isTable ? tableDamage(bytes) : logDamage(bytes);
    if (found !== null) damage.push(`the file ${name} is damaged: ${found}`);
  }
  return damage;
}

function fileNames(location: string): string[] {
  try {
    return readdirSync(location).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** CURRENT names the list of tables in force; without it LevelDB would begin a new database and delete the old. */
function currentDamage(location: string, names: readonly string[]): string[] {
  if (!names.includes("CURRENT")) return ["the file CURRENT is missing"];
  const named = readFileSync(join(location, "CURRENT"), "latin1");
  const good = named.endsWith("\n") && names.includes(named.slice(0, -1));
  return good ? [] : ["the file CURRENT names no file of the database"];
}

function isData(name: string): boolean {
  return /^(\d+\.(ldb|sst|log)|MANIFEST-\d+)$/.test(name);
}

function unmask(crc: number): number {
  const rotated = (crc - 0xa282ead8) >>> 0;
  return ((rotated >>> 17) | (rotated << 15)) >>> 0;
}

/**
 * A bad record with the beginning of another write behind it. What is bad up to the end is how a write that a power
 * failure cut short looks, and was never acknowledged: no damage.
 */
function logDamage(bytes: Buffer): string | null {
  let at = 0;
  while (at < bytes.length) {
    const end = recordEnd(bytes, at);
    if (end < 0) break;
    at = end;
  }
  const bad = at;
  // the length of a bad record cannot be trusted, so the next one may begin anywhere
  for (at = bad + 1; at + RECORD_HEAD_BYTES <= bytes.length; at++) {
    const type = bytes[at + 6];
    const begins = type === RECORD_FULL || type === RECORD_FIRST;
    if (begins && recordEnd(bytes, at) > 0) return `a record at byte ${bad} fails its checksum`;
  }
  return null;
}

/** Where the record at `at`, or the zeros that fill its block up, end; negative for a bad record. */
function recordEnd(bytes: Buffer, at: number): number {
  const blockEnd = Math.min(bytes.length, (Math.floor(at / LOG_BLOCK_BYTES) + 1) * LOG_BLOCK_BYTES);
  if (blockEnd - at < RECORD_HEAD_BYTES) return blockEnd;
  const length = bytes.readUInt16LE(at + 4);
  const type = bytes[at + 6]!;
  const crc = bytes.readUInt32LE(at);
  if (crc === 0 && length === 0 && type === 0) return blockEnd;
  const end = at + RECORD_HEAD_BYTES + length;
  if (end > blockEnd || crc32c(bytes.subarray(at + 6, end)) !== unmask(crc)) return -1;
  return end;
}

function tableDamage(bytes: Buffer): string | null {
  if (bytes.length < FOOTER_BYTES || bytes.readBigUInt64LE(bytes.length - 8) !== TABLE_MAGIC) {
    return "it does not end like a table";
  }
  const footer = new VarintReader(bytes, bytes.length - FOOTER_BYTES);
  const [metaAt, metaBytes, indexAt, indexBytes] = [
    footer.next(),
    footer.next(),
    footer.next(),
    footer.next(),
  ];
  if (blockOf(bytes, metaAt, metaBytes) === null) return "its meta index fails its checksum";
  const stored = blockOf(bytes, indexAt, indexBytes);
  if (stored === null) return "its index fails its checksum";
  const index = bytes[indexAt + indexBytes] === TYPE_SNAPPY ? unpackSnappy(stored) : stored;
  if (index === null) return "its index cannot be unpacked";
  for (const [at, length] of blockHandles(index)) {
    if (blockOf(bytes, at, length) === null) return `the block at byte ${at} fails its checksum`;
  }
  return null;
}

/** The bytes of a block whose checksum holds. */
function blockOf(bytes: Buffer, at: number, length: number): Buffer | null {
  const end = at + length;
  if (end + BLOCK_TRAILER_BYTES > bytes.length - FOOTER_BYTES) return null;
  const crc = unmask(bytes.readUInt32LE(end + 1));
  return crc32c(bytes.subarray(at, end + 1)) === crc ? bytes.subarray(at, end) : null;
}

/** Places of the data blocks: the values of an index block, whose checksum holds. */
function blockHandles(index: Buffer): [at: number, length: number][] {
  const entriesEnd = index.length - 4 - index.readUInt32LE(index.length - 4) * 4;
  const handles: [number, number][] = [];
  const reader = new VarintReader(index, 0);
  while (reader.at < entriesEnd) {
    reader.next(); // bytes of the key shared with the one before
    const keyBytes = reader.next();
    const valueBytes = reader.next();
    const valueAt = reader.at + keyBytes;
    const value = new VarintReader(index, valueAt);
    handles.push([value.next(), value.next()]);
    reader.at = valueAt + valueBytes;
  }
  return handles;
}

class VarintReader {
  readonly #bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  /** Bytes behind the end read as 0; numbers are below 2^53. */
  next(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.at++] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80 || scale > 2 ** 45) return value;
    }
  }
}
