// Sorted lists of dictionary terms with their document frequencies, gathered segment by segment and merged
// across the segments of a snapshot. Lists live in scratch.
//
//   entry: | u32 address, u32 length, u8 distance, u8 isPrefix, u16 0, u32 0 | u32 frequency by slot ... |
import { scratch } from "../memory/arena";
import { Mem } from "../memory/mem";
import { compareBytes } from "../memory/order";
import { NOT_QUERIED, Slots } from "../program/slots";
import {
  BLOCK_BUFFER_BYTES,
  CURSOR_BYTES,
  Cursor,
  cursorCountIn,
  cursorUseBuffer,
  listOpen,
} from "../segment/postings";
import { Seg } from "../segment/segment";

@unmanaged
export class TermEntry {
  at: usize;
  length: u32;
  distance: u8;
  isPrefix: u8;
  padding: u16;
  reserved: u32;

  @inline frequencies(): usize {
    return changetype<usize>(this) + ENTRY_HEADER;
  }
}

const ENTRY_HEADER: usize = 16;

let slots: Slots = changetype<Slots>(0);
let slotCount: u32 = 0;
let entryBytes: usize = 0;
let cursor: Cursor = changetype<Cursor>(0);
let blockBuffer: usize = 0;

/** The list that was gathered or merged last. */
export let entries: usize = 0;
export let entryCount: u32 = 0;

/** Prepares for a program with these slots. Takes scratch. */
export function entriesSetUp(queried: Slots): void {
  slots = queried;
  slotCount = queried.count;
  entryBytes = (ENTRY_HEADER + ((<usize>slotCount) << 2) + 15) & ~15;
  cursor = changetype<Cursor>(scratch(CURSOR_BYTES));
  blockBuffer = scratch(BLOCK_BUFFER_BYTES);
}

/** Starts a list; until it is complete nobody else may take scratch. */
export function entriesBegin(): void {
  entries = scratch(0);
  entryCount = 0;
}

export function entryAt(list: usize, index: u32): TermEntry {
  return changetype<TermEntry>(list + <usize>index * entryBytes);
}

/** Appends a term of the segment with its frequencies set elsewhere. */
export function entryAdd(segment: usize, term: u32, distance: u32, isPrefix: bool, frequencies: usize): void {
  const entry = changetype<TermEntry>(scratch(entryBytes));
  entry.at = Seg.termAt(segment, term);
  entry.length = Seg.termLength(segment, term);
  entry.distance = <u8>distance;
  entry.isPrefix = <u8>isPrefix;
  Mem.copy(entry.frequencies(), frequencies, (<usize>slotCount) << 2);
  entryCount++;
}

/**
 * Adds the documents of a term to u32[slotCount] at `to`, live rows only; `live` 0 means all. Returns true
 * when there is any.
 */
export function addFrequencies(segment: usize, term: u32, live: usize, to: usize): bool {
  const end = Seg.listsAt(segment, term + 1);
  const rows = Seg.rows(segment);
  let at = Seg.listsAt(segment, term);
  let found = false;
  while (at < end) {
    at = listOpen(cursor, at, end, rows);
    if (at == 0) return false;
    const index = slots.indexOf(cursor.slot);
    if (index == NOT_QUERIED) continue;
    let count = cursor.count;
    if (live != 0) {
      cursorUseBuffer(cursor, blockBuffer);
      count = cursorCountIn(cursor, live);
    }
    const sum = to + ((<usize>index) << 2);
    Mem.putU32(sum, Mem.u32At(sum) + count);
    found = found || count > 0;
  }
  return found;
}

/** Merges two sorted lists into a new current list; frequencies of equal terms are added. */
export function entriesMerge(a: usize, aCount: u32, b: usize, bCount: u32): void {
  const merged = scratch(<usize>(aCount + bCount) * entryBytes);
  let count: u32 = 0;
  let i: u32 = 0;
  let j: u32 = 0;
  while (i < aCount || j < bCount) {
    const x = entryAt(a, i);
    const y = entryAt(b, j);
    const order = i == aCount ? 1 : j == bCount ? -1 : compareBytes(x.at, x.length, y.at, y.length);
    const entry = entryAt(merged, count++);
    Mem.copy(changetype<usize>(entry), changetype<usize>(order <= 0 ? x : y), entryBytes);
    if (order == 0) {
      for (let slot: usize = 0; slot < <usize>slotCount; slot++) {
        const sum = entry.frequencies() + (slot << 2);
        Mem.putU32(sum, Mem.u32At(sum) + Mem.u32At(y.frequencies() + (slot << 2)));
      }
    }
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
  entries = merged;
  entryCount = count;
}
