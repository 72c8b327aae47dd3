// Merges the posting lists of one (term, slot). Reads the inputs' lists block by block, renumbers the live
// rows and passes them to the list writer with their position bytes unchanged. The cursor checks rows and
// frequencies when it decodes them. Positions are checked here, so that damage ends the merge with
// STATUS_DAMAGED and never causes a write past the writer's buffer.

import { BLOCK_ROWS, STATUS_DAMAGED } from "../layout";
import { Mem } from "../memory/mem";
import { varintU32 } from "../memory/varint";
import { cursorNextBlock, cursorUseBuffer, listOpen } from "../segment/postings";
import { fail } from "../status";
import { ListWriter, listPosting } from "../write/posting-writer";
import { cursorOf, isLive, MergeInput, newRow } from "./merge-state";

/**
 * A row's positions are copied as one u64 if they have at most this many bytes. Therefore this many bytes
 * must be readable after a list, and writable after the last position written.
 */
export const POSITION_SLACK: usize = 8;

/** Slot of the list at `input.lists`; arbitrary if the list is damaged. */
export function nextSlot(input: MergeInput): u32 {
  return varintU32(input.lists);
}

/**
 * Opens the list of `slot` at `input.lists` and moves `input.lists` past it. `decoded` is a buffer of
 * BLOCK_BUFFER_BYTES.
 */
export function openList(input: MergeInput, slot: u32, decoded: usize): bool {
  const cursor = cursorOf(input);
  const end = listOpen(cursor, input.lists, input.listsEnd, input.rows);
  if (end == 0) return false;
  if (cursor.slot != slot) return fail(STATUS_DAMAGED);
  cursorUseBuffer(cursor, decoded);
  input.lists = end;
  input.positions = cursor.positions;
  input.open = 1;
  return true;
}

/** These return the open list's number of postings and its number of position bytes. */
export function openedPostings(input: MergeInput): u32 {
  return cursorOf(input).count;
}
export function openedPositionBytes(input: MergeInput): u32 {
  const cursor = cursorOf(input);
  return <u32>(cursor.positionsEnd - cursor.positions);
}

/** True if the current list has postings left. */
export function hasPostings(input: MergeInput): bool {
  if (input.open == 0) return false;
  const cursor = cursorOf(input);
  const block = cursor.block + 1;
  return block < cursor.blocks || (block == cursor.blocks && cursor.count % BLOCK_ROWS != 0);
}

/** Address after `count` varints at `at`, or an address past `end` if they do not end before it. */
function skipVarints(at: usize, count: u32, end: usize): usize {
  for (; count > 0; count--) {
    while (at < end && Mem.u8At(at) >= 0x80) at++;
    if (at >= end) return end + 1;
    at++;
  }
  return at;
}

/**
 * Moves the next block, or the tail, of the current list to the writer. Returns false if the list is damaged.
 */
export function takePostings(input: MergeInput, writer: ListWriter): bool {
  const cursor = cursorOf(input);
  if (!cursorNextBlock(cursor)) return false;
  let positions = input.positions;
  if (cursor.positionAt != positions) return fail(STATUS_DAMAGED);
  const held = cursor.held;
  for (let i: u32 = 0; i < held; i++) {
    const row = cursor.rowAt(i);
    const tf = cursor.tfAt(i);
    const from = positions;
    positions = skipVarints(from, tf, cursor.positionsEnd);
    if (positions > cursor.positionsEnd) return fail(STATUS_DAMAGED);
    if (!isLive(input, row)) continue;
    listPosting(writer, newRow(input, row), tf);
    const to = writer.positionsEnd;
    const bytes = positions - from;
    if (bytes <= POSITION_SLACK) Mem.putU64(to, Mem.u64At(from));
    else Mem.copy(to, from, bytes);
    writer.positionsEnd = to + bytes;
  }
  input.positions = positions;
  return true;
}
