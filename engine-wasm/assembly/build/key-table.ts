// A hash table that maps (bytes, tag) to entries of a size chosen by the caller. It lives in scratch and
// frees nothing, not even old slots when it grows. Entries never move. The caller owns an entry's bytes after
// its header.
//
//   entry: | u32 address, u32 length, u32 tag | caller's fields ... |

import { scratch, scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { equalBytes } from "../memory/order";

export const ENTRY_KEY = 0; // span {u32 address, u32 length} of the key
export const ENTRY_TAG = 8;
export const ENTRY_HEADER: usize = 12;

const SLOT_HASH: usize = 0; // a slot consists of u32 hash, u32 entry (0 = empty)
const SLOT_ENTRY: usize = 4;
const POOL_CHUNK: usize = 0x10000;

/**
 * Hands out small 4-byte-aligned pieces of larger scratch chunks, because `scratch` rounds every size up to
 * 16 bytes. In scratch memory.
 */
@unmanaged
export class Pool {
  at: usize;
  end: usize;

  static make(): Pool {
    return changetype<Pool>(scratchZeroed(offsetof<Pool>()));
  }

  take(bytes: usize): usize {
    const wanted = (bytes + 3) & ~3;
    if (this.end - this.at < wanted) {
      if (wanted > POOL_CHUNK >> 2) return scratch(wanted);
      this.at = scratch(POOL_CHUNK);
      this.end = this.at + POOL_CHUNK;
    }
    const at = this.at;
    this.at += wanted;
    return at;
  }
}

@unmanaged
export class KeyTable {
  pool: Pool; // allocates the entries and keys
  slots: usize;
  mask: u32;
  count: u32;
  entryBytes: u32; // entry size in bytes, header included
  keyBytes: u32; // total bytes of all keys
}

/** Creates a table for about `expected` keys (a power of two). The table grows as needed. */
export function tableCreate(pool: Pool, entryBytes: u32, expected: u32): KeyTable {
  const table = changetype<KeyTable>(scratch(offsetof<KeyTable>()));
  table.pool = pool;
  table.mask = expected * 2 - 1;
  table.slots = scratchZeroed((<usize>table.mask + 1) << 3);
  table.count = 0;
  table.entryBytes = entryBytes;
  table.keyBytes = 0;
  return table;
}

function hashKey(at: usize, length: u32, tag: u32): u32 {
  let hash: u64 = <u64>length ^ ((<u64>tag) << 32) ^ 0x9e3779b97f4a7c15;
  for (; length >= 8; length -= 8, at += 8) {
    hash = (hash ^ Mem.u64At(at)) * 0xd6e8feb86659fd93;
    hash ^= hash >> 32;
  }
  let rest: u64 = 0;
  for (; length > 0; length--) rest = (rest << 8) | <u64>Mem.u8At(at + length - 1);
  hash = (hash ^ rest) * 0xd6e8feb86659fd93;
  hash ^= hash >> 32;
  hash *= 0xd6e8feb86659fd93;
  return <u32>(hash >> 32);
}

function grow(table: KeyTable): void {
  const before = table.slots;
  const end = before + ((<usize>table.mask + 1) << 3);
  const mask = table.mask * 2 + 1;
  const slots = scratchZeroed((<usize>mask + 1) << 3);
  for (let from = before; from < end; from += 8) {
    if (Mem.u32At(from + SLOT_ENTRY) == 0) continue;
    let i = Mem.u32At(from + SLOT_HASH) & mask;
    while (Mem.u32At(slots + ((<usize>i) << 3) + SLOT_ENTRY) != 0) i = (i + 1) & mask;
    Mem.putU64(slots + ((<usize>i) << 3), Mem.u64At(from));
  }
  table.slots = slots;
  table.mask = mask;
}

/** Returns the slot that contains the key, or the empty slot in which to put it. */
function probe(table: KeyTable, at: usize, length: u32, tag: u32, hash: u32): usize {
  const mask = table.mask;
  let i = hash & mask;
  while (true) {
    const slot = table.slots + ((<usize>i) << 3);
    const entry = <usize>Mem.u32At(slot + SLOT_ENTRY);
    if (entry == 0) return slot;
    if (
      Mem.u32At(slot + SLOT_HASH) == hash &&
      Mem.u32At(entry + 4) == length &&
      Mem.u32At(entry + ENTRY_TAG) == tag &&
      equalBytes(Mem.u32At(entry), at, length)
    )
      return slot;
    i = (i + 1) & mask;
  }
}

/** Returns the key's entry, or 0 if the table does not contain the key. */
export function tableFind(table: KeyTable, at: usize, length: u32, tag: u32): usize {
  return Mem.u32At(probe(table, at, length, tag, hashKey(at, length, tag)) + SLOT_ENTRY);
}

/** Returns the key's entry. A new key gets an entry with a copy of the key and zeros after the header. */
export function tableEnter(table: KeyTable, at: usize, length: u32, tag: u32): usize {
  const hash = hashKey(at, length, tag);
  const slot = probe(table, at, length, tag, hash);
  const found = <usize>Mem.u32At(slot + SLOT_ENTRY);
  if (found != 0) return found;
  const entry = table.pool.take(table.entryBytes);
  const bytes = table.pool.take(length);
  Mem.copy(bytes, at, length);
  Mem.putU32(entry, <u32>bytes);
  Mem.putU32(entry + 4, length);
  Mem.putU32(entry + ENTRY_TAG, tag);
  Mem.fill(entry + ENTRY_HEADER, 0, <usize>table.entryBytes - ENTRY_HEADER);
  Mem.putU32(slot + SLOT_HASH, hash);
  Mem.putU32(slot + SLOT_ENTRY, <u32>entry);
  table.count++;
  table.keyBytes += length;
  if (table.count > table.mask >> 1) grow(table);
  return entry;
}

/** Writes the address of every entry to u32[count] at `to`, in table order. */
export function tableEntries(table: KeyTable, to: usize): void {
  const end = table.slots + ((<usize>table.mask + 1) << 3);
  for (let slot = table.slots; slot < end; slot += 8) {
    const entry = Mem.u32At(slot + SLOT_ENTRY);
    if (entry == 0) continue;
    Mem.putU32(to, entry);
    to += 4;
  }
}
