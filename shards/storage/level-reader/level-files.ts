// Reads LevelDB's own files and performs the checks that LevelDB omits: LevelDB does not verify table blocks
// when it reads them, and silently drops damaged log records. Knows nothing about keys and values.
//
//   log:    blocks of 32 KiB of records    | crc u32 | length u16 | type u8 | data |
//   list of tables (MANIFEST): a log whose records are changes
//
// level-tables.ts reads tables.
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { crc32c } from "./crc32c.js";
import { readableTable, tableDamage, unmask, VarintReader } from "./level-tables.js";

const LOG_BLOCK_BYTES = 32 * 1024;
const RECORD_HEAD_BYTES = 7;
const RECORD_FULL = 1;
const RECORD_FIRST = 2;
const RECORD_LAST = 4;
/** LevelDB's first list of tables. LevelDB replaces it when the new database is opened. */
const FIRST_MANIFEST = "MANIFEST-000001";
/**
 * A change to the list of tables is a sequence of tags, each followed by numbers and length-prefixed byte
 * strings.
 */
const EDIT_LOG = 2;
const EDIT_TABLE_GONE = 6;
const EDIT_TABLE = 7;
const EDIT_SHAPES: Readonly<Record<number, readonly ("number" | "bytes")[]>> = {
  1: ["bytes"], // comparator
  3: ["number"], // next file
  4: ["number"], // last sequence number
  5: ["number", "bytes"], // a level's compaction progress
  [EDIT_TABLE_GONE]: ["number", "number"], // level, number
  [EDIT_TABLE]: ["number", "number", "number", "bytes", "bytes"], // level, number, size, first and last key
  9: ["number"], // previous log
};
const LOST_FOLDER = "lost";
/** Name of a file that Skein writes next to LevelDB's files, and that LevelDB ignores. ON DISK. */
const CLOSED_FILE = "closed.json";

/**
 * Returns the damage in a closed database's files, one sentence each. If `tables` is true, also reads all
 * tables completely.
 */
export function levelDamage(location: string, tables: boolean): string[] {
  const damage: string[] = [];
  const names = fileNames(location);
  const noted = notedSums(location);
  if (holdsData(names)) damage.push(...listDamage(location, names, noted));
  const listed = tables ? listInForce(location, names)?.tables : undefined;
  for (const name of names.filter(isData)) {
    // An unlisted table is unfinished, and its data is also elsewhere. LevelDB deletes it when it next opens
    // the database.
    if (isTable(name) && (!tables || listed?.has(numberOf(name)) === false)) continue;
    const bytes = readFileSync(join(location, name));
    const found = isTable(name) ? tableDamage(bytes) : logDamage(bytes);
    const sum = noted[name];
    if (found === null && sum !== undefined && crc32(bytes) !== sum) {
      damage.push(`the file ${name} is damaged: it has changed since the database was closed`);
    }
    if (found !== null) damage.push(`the file ${name} is damaged: ${found}`);
  }
  return damage;
}

/**
 * Removes from a closed database's tables the blocks on which LevelDB would abort. If nothing is left of a
 * table, moves it to the folder that LevelDB's own repair uses for such tables.
 */
export function cutTables(location: string): void {
  for (const name of fileNames(location).filter(isTable)) {
    const file = join(location, name);
    const bytes = readFileSync(file);
    if (tableDamage(bytes) === null) continue;
    const readable = readableTable(bytes);
    if (readable === null) {
      mkdirSync(join(location, LOST_FOLDER), { recursive: true });
      renameSync(file, join(location, LOST_FOLDER, name));
    } else if (readable !== bytes) {
      writeFileSync(`${file}.new`, readable, { flush: true });
      renameSync(`${file}.new`, file);
    }
  }
}

function fileNames(location: string): string[] {
  try {
    return readdirSync(location).sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}

/**
 * Records the log checksums of a database that was just closed. Normally, a bad record at the end of a log
 * looks like an interrupted write. But no write is interrupted by a clean shutdown, so the recorded checksums
 * reveal such a record as damage. When the database is next opened, it starts new files, to which the
 * checksums do not apply.
 */
export function noteClosed(location: string): void {
  const sums = Object.fromEntries(
    fileNames(location)
      .filter(isLog)
      .map((name) => [name, crc32(readFileSync(join(location, name)))]),
  );
  const note = JSON.stringify({ sums, checksum: crc32(JSON.stringify(sums)) });
  try {
    writeFileSync(join(location, CLOSED_FILE), note);
  } catch {
    // The disk may be full. Without the recorded checksums, the next opening behaves as after a power
    // failure.
  }
}

/** Returns the recorded checksums by file name. Empty if they cannot be read. */
function notedSums(location: string): Record<string, number> {
  try {
    const note = JSON.parse(readFileSync(join(location, CLOSED_FILE), "utf8")) as {
      sums: Record<string, number>;
      checksum: number;
    };
    return crc32(JSON.stringify(note.sums)) === note.checksum ? note.sums : {};
  } catch {
    return {};
  }
}

/** True if the file names show that a database was once created here. */
export function hasDatabase(location: string): boolean {
  return holdsData(fileNames(location));
}

/**
 * False if there are no database files, or only the first list of tables, which an interrupted creation may
 * leave behind.
 */
function holdsData(names: readonly string[]): boolean {
  const data = names.filter(isData);
  return data.length > 1 || (data.length === 1 && (data[0] !== FIRST_MANIFEST || names.includes("CURRENT")));
}

/**
 * Finds missing files. CURRENT names the active list of tables; without it, LevelDB would create a new
 * database and delete the old one. LevelDB notices a missing table, but not a missing log.
 */
function listDamage(
  location: string,
  names: readonly string[],
  noted: Readonly<Record<string, number>>,
): string[] {
  if (!names.includes("CURRENT")) return ["the file CURRENT is missing"];
  const manifest = manifestInForce(location, names);
  if (manifest === null) return ["the file CURRENT names no file of the database"];
  const logs = manifest in noted ? Object.keys(noted) : [];
  const log = listInForce(location, names)?.log ?? null;
  if (log !== null && !names.includes(log) && !logs.includes(log)) logs.push(log);
  return logs.filter((name) => !names.includes(name)).map((name) => `the file ${name} is missing`);
}

/** Name of the active list of tables. Null if CURRENT does not name one. */
function manifestInForce(location: string, names: readonly string[]): string | null {
  if (!names.includes("CURRENT")) return null;
  const named = readFileSync(join(location, "CURRENT"), "latin1");
  const manifest = named.slice(0, -1);
  return named.endsWith("\n") && names.includes(manifest) ? manifest : null;
}

function isData(name: string): boolean {
  return /^(\d+\.(ldb|sst|log)|MANIFEST-\d+)$/.test(name);
}

function isTable(name: string): boolean {
  return /^\d+\.(ldb|sst)$/.test(name);
}

function numberOf(table: string): number {
  return Number.parseInt(table, 10);
}

function isLog(name: string): boolean {
  return isData(name) && !isTable(name);
}

/**
 * Returns a sentence about a bad record that is followed by the beginning of another write; null if there is
 * none. A log that is bad from some record to its end is not damaged: a power failure leaves such an
 * incomplete write, which was never acknowledged.
 */
function logDamage(bytes: Buffer): string | null {
  let at = 0;
  while (at < bytes.length) {
    const end = recordEnd(bytes, at);
    if (end < 0) break;
    at = end;
  }
  const bad = at;
  // A bad record's length cannot be trusted, so the next record may begin anywhere.
  for (at = bad + 1; at + RECORD_HEAD_BYTES <= bytes.length; at++) {
    const type = bytes[at + 6];
    const begins = type === RECORD_FULL || type === RECORD_FIRST;
    if (begins && recordEnd(bytes, at) > 0) return `a record at byte ${bad} fails its checksum`;
  }
  return null;
}

/**
 * Returns the end of the record at `at`, or of the zeros that pad its block. Negative if the record is bad.
 */
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

/** Contents of the list of tables. */
interface TableList {
  /**
   * File name of the oldest log whose data is not yet in tables. Null before the first opening and after a
   * repair.
   */
  readonly log: string | null;
  /** Table numbers. */
  readonly tables: ReadonlySet<number>;
}

/** Returns null if the list is missing or damaged. */
function listInForce(location: string, names: readonly string[]): TableList | null {
  const manifest = manifestInForce(location, names);
  return manifest === null ? null : readList(readFileSync(join(location, manifest)));
}

function readList(manifest: Buffer): TableList | null {
  let log = 0;
  const tables = new Set<number>();
  for (const edit of logRecords(manifest)) {
    const reader = new VarintReader(edit, 0);
    while (reader.at < edit.length) {
      const tag = reader.next();
      if (tag === EDIT_LOG) {
        log = reader.next();
        continue;
      }
      const shape = EDIT_SHAPES[tag];
      if (shape === undefined) return null;
      const numbers: number[] = [];
      for (const part of shape) {
        const value = reader.next();
        if (part === "bytes") reader.at += value;
        else numbers.push(value);
      }
      if (tag === EDIT_TABLE_GONE) tables.delete(numbers[1] as number);
      if (tag === EDIT_TABLE) tables.add(numbers[1] as number);
    }
  }
  return { log: log === 0 ? null : `${String(log).padStart(6, "0")}.log`, tables };
}

/** Yields the records up to the first bad record. Reassembles records that span several blocks. */
function* logRecords(bytes: Buffer): Generator<Buffer> {
  let parts: Buffer[] = [];
  for (let at = 0, end = 0; at < bytes.length; at = end) {
    end = recordEnd(bytes, at);
    if (end < 0) return;
    const type = end - at < RECORD_HEAD_BYTES ? 0 : bytes[at + 6]!;
    if (type === 0) continue; // padding
    if (type === RECORD_FULL || type === RECORD_FIRST) parts = [];
    parts.push(bytes.subarray(at + RECORD_HEAD_BYTES, end));
    if (type === RECORD_FULL || type === RECORD_LAST) yield Buffer.concat(parts);
  }
}
