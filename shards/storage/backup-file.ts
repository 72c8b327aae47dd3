// Stores a database as one file: all its keys and values in order, in checksummed blocks. It is written from
// a view and read back one block at a time. The backup's manifest lists the files that belong together. Knows
// nothing about the meaning of keys and values.
//
//   | magic "SKBK" u32 | version u16 | 0 u16 |                                          head
//   | length u32 | crc32 of the payload u32 | payload: records |                        block, repeated
//   | key length u32 | value length u32 | key | value |                                 record
//   | 0 u32 | crc32 of the next 8 bytes u32 | records f64 |                             end
import { createHash, type Hash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { DamagedBytesError, ForeignBytesError, OtherVersionError } from "./envelope.js";
import type { Store, StoreOp, StoreSnapshot } from "./store.js";

// ON DISK - never renumber
const MAGIC = 0x4b424b53; // "SKBK" little-endian
const VERSION = 1;
const HEAD_BYTES = 8;
const BLOCK_HEAD_BYTES = 8;
const RECORD_HEAD_BYTES = 8;
const END_BYTES = 8;

/** Size at which a block is finished. The thread hashes and writes a block without pausing. */
const BLOCK_BYTES = 128 * 1024;
/**
 * No record is longer than a request body. A block that claims a greater length than this is therefore
 * damaged, and is not read.
 */
const BLOCK_BYTES_MAX = 1024 * 1024 * 1024;
const RESTORE_BATCH_BYTES = 2 * 1024 * 1024;
const EVERYTHING = { from: new Uint8Array(0), to: Buffer.alloc(16, 0xff) };

/** Length, record count and checksum of a finished file. */
export interface BackupFileSums {
  readonly bytes: number;
  readonly records: number;
  /** The file's SHA-256 in hex. */
  readonly sha256: string;
}

/**
 * Writes the whole view to a new file and syncs it. Awaits `pause` before every block; if `pause` throws,
 * stops writing and throws that error. An unfinished file is not deleted; it lacks the end block.
 */
export async function writeBackupFile(
  path: string,
  view: StoreSnapshot,
  pause: () => Promise<void>,
): Promise<BackupFileSums> {
  const file = await open(path, "wx", 0o600);
  try {
    const out = new Output(file);
    await out.append(head());
    let parts: Uint8Array[] = [];
    let bytes = 0;
    let records = 0;
    for await (const [key, value] of view.entries(EVERYTHING)) {
      parts.push(recordHead(key, value), key, value);
      bytes += RECORD_HEAD_BYTES + key.length + value.length;
      records++;
      if (bytes < BLOCK_BYTES) continue;
      await pause();
      await out.append(block(parts, bytes));
      parts = [];
      bytes = 0;
    }
    await pause();
    if (bytes > 0) await out.append(block(parts, bytes));
    await out.append(end(records));
    await file.sync();
    return { bytes: out.bytes, records, sha256: out.hash.digest("hex") };
  } finally {
    await file.close();
  }
}

/** Returns the file's length and SHA-256. Reads the whole file. */
export async function hashFile(path: string): Promise<{ bytes: number; sha256: string }> {
  const file = await open(path, "r");
  try {
    const hash = createHash("sha256");
    const buffer = Buffer.allocUnsafe(1024 * 1024);
    let bytes = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return { bytes, sha256: hash.digest("hex") };
      hash.update(buffer.subarray(0, bytesRead));
      bytes += bytesRead;
    }
  } finally {
    await file.close();
  }
}

/**
 * Writes all of the file's records to the store, durably. `what` names the file in error messages. Throws
 * ForeignBytesError, OtherVersionError or DamagedBytesError.
 */
export async function restoreBackupFile(path: string, store: Store, what: string): Promise<void> {
  let ops: StoreOp[] = [];
  let bytes = 0;
  for await (const [key, value] of readRecords(path, what)) {
    ops.push({ type: "put", key, value });
    bytes += key.length + value.length;
    if (bytes < RESTORE_BATCH_BYTES) continue;
    await store.batch(ops, { sync: true });
    ops = [];
    bytes = 0;
  }
  await store.batch(ops, { sync: true });
}

async function* readRecords(path: string, what: string): AsyncGenerator<[key: Buffer, value: Buffer]> {
  const file = await open(path, "r");
  try {
    checkHead(await readExactly(file, HEAD_BYTES, what), what);
    let records = 0;
    for (;;) {
      const blockHead = await readExactly(file, BLOCK_HEAD_BYTES, what);
      const length = blockHead.readUInt32LE(0);
      if (length > BLOCK_BYTES_MAX) throw new DamagedBytesError(`${what}: damaged (length)`);
      const payload = await readExactly(file, length === 0 ? END_BYTES : length, what);
      if (crc32(payload) !== blockHead.readUInt32LE(4))
        throw new DamagedBytesError(`${what}: damaged (checksum)`);
      if (length === 0) {
        if (payload.readDoubleLE(0) === records) return;
        throw new DamagedBytesError(`${what}: ${records} records, not the number it says`);
      }
      for (const record of recordsOf(payload, what)) {
        records++;
        yield record;
      }
    }
  } finally {
    await file.close();
  }
}

function* recordsOf(payload: Buffer, what: string): Generator<[key: Buffer, value: Buffer]> {
  for (let at = 0; at < payload.length; ) {
    if (at + RECORD_HEAD_BYTES > payload.length)
      throw new DamagedBytesError(`${what}: a record is cut short`);
    const keyEnd = at + RECORD_HEAD_BYTES + payload.readUInt32LE(at);
    const valueEnd = keyEnd + payload.readUInt32LE(at + 4);
    if (valueEnd > payload.length) throw new DamagedBytesError(`${what}: a record is cut short`);
    yield [payload.subarray(at + RECORD_HEAD_BYTES, keyEnd), payload.subarray(keyEnd, valueEnd)];
    at = valueEnd;
  }
}

/** Appends to a file, and counts and hashes the bytes. */
class Output {
  readonly #file: FileHandle;
  readonly hash: Hash = createHash("sha256");
  bytes = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async append(bytes: Uint8Array): Promise<void> {
    this.hash.update(bytes);
    this.bytes += bytes.length;
    for (let at = 0; at < bytes.length; ) at += (await this.#file.write(bytes, at)).bytesWritten;
  }
}

function head(): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES);
  bytes.writeUInt32LE(MAGIC, 0);
  bytes.writeUInt16LE(VERSION, 4);
  return bytes;
}

function checkHead(bytes: Buffer, what: string): void {
  if (bytes.readUInt32LE(0) !== MAGIC) throw new ForeignBytesError(`${what}: not written by Skein`);
  const version = bytes.readUInt16LE(4);
  if (version === VERSION) return;
  throw new OtherVersionError(`${what}: format version ${version}, this build reads ${VERSION}`);
}

function recordHead(key: Uint8Array, value: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(RECORD_HEAD_BYTES);
  bytes.writeUInt32LE(key.length, 0);
  bytes.writeUInt32LE(value.length, 4);
  return bytes;
}

function block(parts: readonly Uint8Array[], length: number): Buffer {
  const bytes = Buffer.allocUnsafe(BLOCK_HEAD_BYTES + length);
  let at = BLOCK_HEAD_BYTES;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  bytes.writeUInt32LE(length, 0);
  bytes.writeUInt32LE(crc32(bytes.subarray(BLOCK_HEAD_BYTES)), 4);
  return bytes;
}

function end(records: number): Buffer {
  const bytes = Buffer.alloc(BLOCK_HEAD_BYTES + END_BYTES);
  bytes.writeDoubleLE(records, BLOCK_HEAD_BYTES);
  bytes.writeUInt32LE(crc32(bytes.subarray(BLOCK_HEAD_BYTES)), 4);
  return bytes;
}

async function readExactly(file: FileHandle, length: number, what: string): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; ) {
    const { bytesRead } = await file.read(bytes, at, length - at);
    if (bytesRead === 0) throw new DamagedBytesError(`${what}: cut short`);
    at += bytesRead;
  }
  return bytes;
}
