// Collects the postings of a segment that is being built. There is one entry per (term, field), each with a
// stream of its occurrences in chunks of scratch memory. Occurrences must arrive in ascending row order, and
// in ascending position order within a row.
//
//   stream: per posting varint (row gap << 1 | 1), varint first position; then per further occurrence in the
//   row varint (position gap << 1). Row gaps start from row -1, so they are >= 1, as position gaps are.

import { Mem } from "../memory/mem";
import { KeyTable, Pool, tableCreate, tableEnter } from "./key-table";

const TERM_NEXT_ROW: usize = 12; // u32, row of the latest posting + 1; 0 = no posting yet
const TERM_POSITION: usize = 16; // u32, latest position
export const TERM_POSTINGS: usize = 20; // u32, number of postings
const TERM_OCCURRENCES: usize = 24; // u32, number of occurrences
const TERM_AT: usize = 28; // u32, address at which the stream continues
const TERM_END: usize = 32; // u32, address of the end of the current chunk
const TERM_LINK: usize = 36; // u32, address at which the next chunk's address is stored
const TERM_CHUNK: usize = 40; // u32, the current chunk's size in bytes
const TERM_MORE: usize = 44; // u32, address of the chunk after the inline one
// u32, address of the entry for the term's stem, or NO_STEM (text-terms.ts).
export const TERM_STEMMED: usize = 48;
const TERM_INLINE: usize = 52; // the first chunk is stored in the entry itself
const INLINE_BYTES: usize = 16;
const TERM_ENTRY_BYTES: u32 = 68;
// Each chunk is twice as large as the previous one, up to this size. A chunk begins with the next chunk's
// address (u32).
const CHUNK_BYTES_MAX: u32 = 1024;

export function termsCreate(pool: Pool): KeyTable {
  return tableCreate(pool, TERM_ENTRY_BYTES, 4096);
}

function nextChunk(pool: Pool, entry: usize): usize {
  const bytes = min(Mem.u32At(entry + TERM_CHUNK) << 1, CHUNK_BYTES_MAX);
  const chunk = pool.take(4 + <usize>bytes);
  Mem.putU32(<usize>Mem.u32At(entry + TERM_LINK), <u32>chunk);
  Mem.putU32(entry + TERM_LINK, <u32>chunk);
  Mem.putU32(entry + TERM_CHUNK, bytes);
  Mem.putU32(entry + TERM_END, <u32>(chunk + 4 + bytes));
  return chunk + 4;
}

function append(pool: Pool, entry: usize, value: u64): void {
  let at = <usize>Mem.u32At(entry + TERM_AT);
  let end = <usize>Mem.u32At(entry + TERM_END);
  while (true) {
    if (at == end) {
      at = nextChunk(pool, entry);
      end = <usize>Mem.u32At(entry + TERM_END);
    }
    if (value < 0x80) break;
    Mem.putU8(at++, <u32>(value & 0x7f) | 0x80);
    value >>= 7;
  }
  Mem.putU8(at, <u32>value);
  Mem.putU32(entry + TERM_AT, <u32>(at + 1));
}

/**
 * Records one occurrence of the term of `length` bytes at `at`. The empty term (length 0) marks where an
 * array element starts. Returns the term's entry.
 */
export function termOccurs(
  terms: KeyTable,
  at: usize,
  length: u32,
  field: u32,
  row: u32,
  position: u32,
): usize {
  const entry = tableEnter(terms, at, length, field);
  entryOccurs(terms, entry, row, position);
  return entry;
}

/** Like `termOccurs`, for an existing entry. */
export function entryOccurs(terms: KeyTable, entry: usize, row: u32, position: u32): void {
  if (Mem.u32At(entry + TERM_LINK) == 0) {
    Mem.putU32(entry + TERM_AT, <u32>(entry + TERM_INLINE));
    Mem.putU32(entry + TERM_END, <u32>(entry + TERM_INLINE + INLINE_BYTES));
    Mem.putU32(entry + TERM_LINK, <u32>(entry + TERM_MORE));
    Mem.putU32(entry + TERM_CHUNK, <u32>INLINE_BYTES);
  }
  const nextRow = Mem.u32At(entry + TERM_NEXT_ROW);
  if (nextRow == row + 1) {
    append(terms.pool, entry, (<u64>(position - Mem.u32At(entry + TERM_POSITION))) << 1);
  } else {
    append(terms.pool, entry, ((<u64>(row + 1 - nextRow)) << 1) | 1);
    append(terms.pool, entry, position);
    Mem.putU32(entry + TERM_NEXT_ROW, row + 1);
    Mem.putU32(entry + TERM_POSTINGS, Mem.u32At(entry + TERM_POSTINGS) + 1);
  }
  Mem.putU32(entry + TERM_POSITION, position);
  Mem.putU32(entry + TERM_OCCURRENCES, Mem.u32At(entry + TERM_OCCURRENCES) + 1);
}

/**
 * Copies a term's stream to `to`, which must have room for streamBytesMax bytes. Returns the end of the copy.
 */
export function termStream(entry: usize, to: usize): usize {
  const last = <usize>Mem.u32At(entry + TERM_AT);
  let at = entry + TERM_INLINE;
  let bytes = INLINE_BYTES;
  let link = entry + TERM_MORE;
  while (last < at || last > at + bytes) {
    Mem.copy(to, at, bytes);
    to += bytes;
    at = <usize>Mem.u32At(link);
    link = at;
    at += 4;
    bytes = min(bytes << 1, <usize>CHUNK_BYTES_MAX);
  }
  Mem.copy(to, at, last - at);
  return to + (last - at);
}

/** Upper bound on a term stream's size in bytes. */
export function streamBytesMax(entry: usize): usize {
  return <usize>Mem.u32At(entry + TERM_POSTINGS) * 5 + <usize>Mem.u32At(entry + TERM_OCCURRENCES) * 5;
}
