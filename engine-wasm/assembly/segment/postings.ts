// Reads one posting list, block by block, forward only. The bytes are untrusted: headers, block directories
// and decoded rows are checked before they are used as indices, and damage ends the list with STATUS_DAMAGED.
// After decoding, rows are strictly ascending and lie in [0, segment rows).
//
//   list: | slot, count, dataBytes, positionBytes | directory | tail offsets | packed blocks | tail | positions |

import {
  BLOCK_DATA,
  BLOCK_ENTRY_BYTES,
  BLOCK_LAST_ROW,
  BLOCK_POSITIONS,
  BLOCK_ROW_BITS,
  BLOCK_ROWS,
  BLOCK_TF_BITS,
  LIST_TAIL_BYTES,
  STATUS_DAMAGED,
} from "../layout";
import { scratch } from "../memory/arena";
import { Bits } from "../memory/bitset";
import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";
import { unpackFrequencies, unpackRows } from "../memory/unpack";
import { fail } from "../status";

/** Returned by the seek functions at the end of a list. Larger than any row. */
export const TERMINATED: u32 = 0xffffffff;

const NO_BLOCK: u32 = 0xffffffff;
const SAFE_ROW_BITS: u32 = 24; // rows stay below 2^31, so a sum of 128 gaps of this width cannot wrap
const TF_BITS_MAX: u32 = 24; // limit on a frequency's bits; no document is long enough for more

@unmanaged
export class Cursor {
  slot: u32;
  count: u32; // number of postings in the list
  rows: u32; // number of rows in the segment
  blocks: u32; // number of packed blocks; the tail counts as the block after them
  directory: usize;
  tail: usize;
  positions: usize; // also the end of the tail
  positionsEnd: usize;
  tailPositions: usize;
  block: u32; // number of the decoded block
  held: u32; // number of postings in the decoded block
  at: u32; // index of the current posting in the decoded block
  rowBuffer: usize; // u32[]: the decoded block's rows
  tfBuffer: usize; // u32[]: the decoded block's frequencies
  buffer: usize; // where blocks are decoded to: rows, then frequencies; 0 = not allocated yet
  keptTail: usize; // the decoded tail: rows, then frequencies; 0 = decoded each time
  slotIndex: u32; // set by the caller: the slot's index in the program
  positionIndex: u32; // index within the block of the posting whose positions begin at `positionAt`
  positionAt: usize;
  term: u32; // set by the caller: the list's term

  /** The current posting's row. The cursor must be on a posting. */
  @inline row(): u32 {
    if (CHECKED) assert(this.at < this.held, "a cursor that is asked for its row stands on a posting");
    return Mem.u32At(this.rowBuffer + ((<usize>this.at) << 2));
  }
  @inline tf(): u32 {
    if (CHECKED) assert(this.at < this.held, "a cursor that is asked for its frequency stands on a posting");
    return Mem.u32At(this.tfBuffer + ((<usize>this.at) << 2));
  }
  @inline rowAt(i: u32): u32 {
    return Mem.u32At(this.rowBuffer + ((<usize>i) << 2));
  }
  @inline tfAt(i: u32): u32 {
    return Mem.u32At(this.tfBuffer + ((<usize>i) << 2));
  }
}

/** A multiple of 16, so that cursors allocated one after another are contiguous. */
export const CURSOR_BYTES: usize = offsetof<Cursor>();

/**
 * Second result of `boundedVarint`: the address after the integer, or an address after `end` if `end` cut it
 * off. It is a global because callers use it immediately and a cursor has no space to spare: queries open
 * thousands of cursors.
 */
let varintCursor: usize = 0;

/** Decodes the LEB128 integer at `at`. If `end` cuts it off, returns 0 and sets `varintCursor` past `end`. */
function boundedVarint(at: usize, end: usize): u64 {
  let value: u64 = 0;
  let shift: u64 = 0;
  while (at < end && shift < 64) {
    const byte = Mem.u8At(at++);
    value |= (<u64>(byte & 0x7f)) << shift;
    if (byte < 0x80) {
      varintCursor = at;
      return value;
    }
    shift += 7;
  }
  varintCursor = end + 1;
  return 0;
}

/**
 * Reads the header of the list at `at` (< end), in a segment of `rows` rows, into the cursor. Returns the
 * address after the list, or 0 if the list extends beyond `end`. Decodes no postings yet.
 */
export function listOpen(cursor: Cursor, at: usize, end: usize, rows: u32): usize {
  let slot: u64 = 0;
  let count: u64 = 0;
  let dataBytes: u64 = 0;
  let positionBytes: u64 = 0;
  const head: u32 = at + 4 <= end ? Mem.u32At(at) : 0xffffffff;
  if ((head & 0x80808080) == 0) {
    // Each of the four numbers has one byte, as in most lists.
    slot = head & 0xff;
    count = (head >> 8) & 0xff;
    dataBytes = (head >> 16) & 0xff;
    positionBytes = head >> 24;
    varintCursor = at + 4;
  } else {
    slot = boundedVarint(at, end);
    count = boundedVarint(varintCursor, end);
    dataBytes = boundedVarint(varintCursor, end);
    positionBytes = boundedVarint(varintCursor, end);
  }
  const directory = varintCursor;
  const left = <u64>(end - directory);
  if (directory > end || slot > 0xffff || count == 0 || count > rows) return damaged(cursor);
  if (dataBytes > left || positionBytes > left - dataBytes) return damaged(cursor);
  cursor.slot = <u32>slot;
  cursor.count = <u32>count;
  cursor.rows = rows;
  cursor.blocks = <u32>count / BLOCK_ROWS;
  cursor.directory = directory;
  cursor.positions = directory + <usize>dataBytes;
  cursor.positionsEnd = cursor.positions + <usize>positionBytes;
  cursor.block = NO_BLOCK;
  cursor.held = 0;
  cursor.at = 0;
  cursor.buffer = 0;
  cursor.keptTail = 0;
  if (cursor.blocks == 0) {
    cursor.tail = cursor.directory;
    cursor.tailPositions = cursor.positions;
    return cursor.positionsEnd;
  }
  const directoryBytes = <u64>cursor.blocks * BLOCK_ENTRY_BYTES + LIST_TAIL_BYTES;
  if (directoryBytes > dataBytes) return damaged(cursor);
  const data = dataOf(cursor);
  const tail = <u64>Mem.u32At(data - LIST_TAIL_BYTES);
  const tailPositions = <u64>Mem.u32At(data - 4);
  if (tail > dataBytes - directoryBytes || tailPositions > positionBytes) return damaged(cursor);
  cursor.tail = data + <usize>tail;
  cursor.tailPositions = cursor.positions + <usize>tailPositions;
  return cursor.positionsEnd;
}

/** Start of the packed blocks. There must be at least one. */
function dataOf(cursor: Cursor): usize {
  return cursor.directory + <usize>cursor.blocks * BLOCK_ENTRY_BYTES + LIST_TAIL_BYTES;
}

/** Records STATUS_DAMAGED and moves the cursor to the end of its list. */
function damaged(cursor: Cursor): usize {
  fail(STATUS_DAMAGED);
  cursor.blocks = 0;
  cursor.count = 0;
  cursor.block = 0;
  cursor.held = 0;
  cursor.at = 0;
  return 0;
}

/** Size of a buffer for `cursorUseBuffer`, large enough for any list. */
export const BLOCK_BUFFER_BYTES: usize = BLOCK_ROWS * 8;

/**
 * Makes the cursor decode into a buffer of BLOCK_BUFFER_BYTES, or into one of its own, allocated when needed,
 * if `buffer` is 0. Cursors may share the buffer, one cursor at a time. The cursor must be before its first
 * posting or be restarted.
 */
export function cursorUseBuffer(cursor: Cursor, buffer: usize): void {
  cursor.buffer = buffer;
}

/** Size in bytes of the rows, or frequencies, of `count` postings, at most one block. */
function columnBytes(count: u32): usize {
  return (((<usize>min(<u32>BLOCK_ROWS, count)) << 2) + 15) & ~15;
}

/** Sets where the next block is decoded to: rows, then frequencies, for `count` postings. */
function decodeTo(cursor: Cursor, at: usize, count: u32): void {
  cursor.rowBuffer = at;
  cursor.tfBuffer = at + columnBytes(count);
}

/** Decodes the next block to the cursor's buffer, after allocating one if it has none. */
function decodeToBuffer(cursor: Cursor): void {
  if (cursor.buffer == 0 && cursor.count > 0) cursor.buffer = scratch(columnBytes(cursor.count) << 1);
  decodeTo(cursor, cursor.buffer, cursor.count);
}

/**
 * Keeps the decoded tail in scratch memory from now on, for this cursor and its copies, because decoding it
 * takes several times as long as decoding a block. The cursor must be before its first posting.
 */
export function cursorKeepTail(cursor: Cursor): void {
  const count = cursor.count % BLOCK_ROWS;
  if (count == 0 || cursor.keptTail != 0) return;
  const kept = scratch(columnBytes(count) << 1);
  decodeTo(cursor, kept, count);
  if (!decodeTail(cursor)) return;
  cursor.keptTail = kept;
  cursorRestart(cursor);
}

/** Moves the cursor back before the first posting. */
export function cursorRestart(cursor: Cursor): void {
  cursor.block = NO_BLOCK;
  cursor.held = 0;
  cursor.at = 0;
}

/** Decodes the next block and moves to its first posting. Returns false at the end of the list. */
export function cursorNextBlock(cursor: Cursor): bool {
  return decode(cursor, cursor.block + 1);
}

/**
 * Like `cursorNextBlock`, but does not decode a packed block's frequencies, for callers that never read them.
 */
function nextRows(cursor: Cursor): bool {
  const block = cursor.block + 1;
  if (block >= cursor.blocks) return decode(cursor, block);
  cursor.block = block;
  cursor.at = 0;
  decodeToBuffer(cursor);
  return decodePacked(cursor, block, false);
}

function decode(cursor: Cursor, block: u32): bool {
  cursor.block = block;
  cursor.at = 0;
  cursor.positionIndex = 0;
  if (block < cursor.blocks) {
    decodeToBuffer(cursor);
    return decodePacked(cursor, block, true);
  }
  const tail = cursor.count % BLOCK_ROWS;
  if (block > cursor.blocks || tail == 0) {
    cursor.block = cursor.blocks;
    cursor.held = 0;
    return false;
  }
  if (cursor.keptTail == 0) {
    decodeToBuffer(cursor);
    return decodeTail(cursor);
  }
  decodeTo(cursor, cursor.keptTail, tail);
  cursor.held = tail;
  cursor.positionAt = cursor.tailPositions;
  return true;
}

function decodePacked(cursor: Cursor, block: u32, frequencies: bool): bool {
  const entry = cursor.directory + <usize>block * BLOCK_ENTRY_BYTES;
  const before = block == 0 ? <u32>-1 : Mem.u32At(entry - BLOCK_ENTRY_BYTES + BLOCK_LAST_ROW);
  const last = Mem.u32At(entry + BLOCK_LAST_ROW);
  const rowBits = Mem.u8At(entry + BLOCK_ROW_BITS);
  const tfBits = Mem.u8At(entry + BLOCK_TF_BITS);
  const offset = <u64>Mem.u32At(entry + BLOCK_DATA);
  const position = Mem.u32At(entry + BLOCK_POSITIONS);
  if (last >= cursor.rows || (block > 0 && before >= last)) return damaged(cursor) != 0;
  if (rowBits > 32 || tfBits > TF_BITS_MAX) return damaged(cursor) != 0;
  const data = dataOf(cursor);
  if (offset + <u64>((rowBits + tfBits) << 4) > <u64>(cursor.positions - data)) return damaged(cursor) != 0;
  if (<usize>position > cursor.positionsEnd - cursor.positions) return damaged(cursor) != 0;
  const from = data + <usize>offset;
  unpackRows(from, rowBits, before, cursor.rowBuffer);
  if (frequencies) unpackFrequencies(from + <usize>(rowBits << 4), tfBits, cursor.tfBuffer);
  if (cursor.rowAt(BLOCK_ROWS - 1) != last) return damaged(cursor) != 0;
  if (rowBits > SAFE_ROW_BITS && !rowsAscend(cursor, before)) return damaged(cursor) != 0;
  cursor.held = BLOCK_ROWS;
  cursor.positionAt = cursor.positions + <usize>position;
  if (CHECKED) assert(rowsAscend(cursor, before), "the rows of a decoded block ascend");
  return true;
}

/** Checks that rows ascend, because wide gaps may have wrapped around. */
function rowsAscend(cursor: Cursor, before: u32): bool {
  let previous = <i64>(<i32>before);
  for (let i: u32 = 0; i < <u32>BLOCK_ROWS; i++) {
    const row = <i64>cursor.rowAt(i);
    if (row <= previous) return false;
    previous = row;
  }
  return true;
}

function decodeTail(cursor: Cursor): bool {
  const count = cursor.count % BLOCK_ROWS;
  let row: u64 = 0; // the previous row + 1
  if (cursor.blocks > 0) {
    const last = cursor.directory + <usize>(cursor.blocks - 1) * BLOCK_ENTRY_BYTES + BLOCK_LAST_ROW;
    row = <u64>Mem.u32At(last) + 1;
  }
  const rows = <u64>cursor.rows;
  let at = cursor.tail;
  const end = cursor.positions;
  for (let i: usize = 0; i < <usize>count; i++) {
    let head: u64 = 0;
    const bytes: u32 = at + 4 <= end ? Mem.u32At(at) : 0xffffffff;
    const finals = ~bytes & 0x80808080;
    if (finals != 0) {
      // The varint has at most 4 bytes. They are assembled without branching on how many there are.
      const own = bytes & (finals ^ (finals - 1));
      head = (own & 0x7f) | ((own >> 1) & 0x3f80) | ((own >> 2) & 0x1fc000) | ((own >> 3) & 0xfe00000);
      at += (ctz(finals) >> 3) + 1;
    } else {
      head = boundedVarint(at, end);
      at = varintCursor;
    }
    let tf: u64 = 1;
    if ((head & 1) != 0) {
      if (at < end && Mem.u8At(at) < 0x80) {
        tf = <u64>Mem.u8At(at++) + 2;
      } else {
        tf = boundedVarint(at, end) + 2;
        at = varintCursor;
      }
    }
    const gap = head >> 1;
    if (at > end || gap >= rows || row + gap >= rows || tf >= 1 << TF_BITS_MAX) return damaged(cursor) != 0;
    row += gap;
    Mem.putU32(cursor.rowBuffer + (i << 2), <u32>row);
    Mem.putU32(cursor.tfBuffer + (i << 2), <u32>tf);
    row++;
  }
  cursor.held = count;
  cursor.positionAt = cursor.tailPositions;
  if (CHECKED) assert(at <= end, "the tail of a list ends with its data");
  return true;
}

/**
 * Moves forward to the first posting with a row >= target and returns that row. Never moves back. Returns
 * TERMINATED once the list has ended.
 */
export function cursorSeek(cursor: Cursor, target: u32): u32 {
  if (cursor.at < cursor.held && cursor.rowAt(cursor.held - 1) >= target) return seekInBlock(cursor, target);
  let block = cursor.block + 1;
  if (block > cursor.blocks) {
    cursor.at = cursor.held;
    return TERMINATED;
  }
  block = blockOf(cursor, block, target);
  if (!decode(cursor, block)) return TERMINATED;
  return seekInBlock(cursor, target);
}

/**
 * Moves to the current block's first posting if the block can contain the row, else to before the list's
 * first posting.
 */
function goBack(cursor: Cursor, row: u32): void {
  if (cursor.held == 0 || cursor.rowAt(0) > row) return cursorRestart(cursor);
  cursor.at = 0;
  cursor.positionIndex = 0;
  cursor.positionAt = cursor.tailPositions;
  if (cursor.block == cursor.blocks) return;
  const entry = cursor.directory + <usize>cursor.block * BLOCK_ENTRY_BYTES;
  // Not checked here: damage is found when the positions are decoded.
  cursor.positionAt = cursor.positions + <usize>Mem.u32At(entry + BLOCK_POSITIONS);
}

/** Moves to a row, forward or back. If the list lacks the row, returns false; the cursor may be anywhere. */
export function cursorFind(cursor: Cursor, row: u32): bool {
  if (cursor.at >= cursor.held || cursor.row() > row) goBack(cursor, row);
  return cursorSeek(cursor, row) == row;
}

/** The first block that can contain a row >= target. */
export function cursorBlockOf(cursor: Cursor, target: u32): u32 {
  return blockOf(cursor, 0, target);
}

/** Lower bound on a block's rows: one more than the last row before the block. */
export function cursorBlockFrom(cursor: Cursor, block: u32): u32 {
  return block == 0 ? 0 : lastRow(cursor, block - 1) + 1;
}

/** Decodes a block and moves to its first posting. Returns false if the list has no such block. */
export function cursorGoToBlock(cursor: Cursor, block: u32): bool {
  return decode(cursor, block);
}

/** The first block >= `from` whose last row is >= target, or the tail if no packed block qualifies. */
function blockOf(cursor: Cursor, from: u32, target: u32): u32 {
  let low = from;
  let high = cursor.blocks;
  let step: u32 = 1;
  while (low + step <= high && lastRow(cursor, low + step - 1) < target) {
    low += step;
    step <<= 1;
  }
  high = min(high, low + step - 1);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lastRow(cursor, middle) < target) low = middle + 1;
    else high = middle;
  }
  return low;
}

function lastRow(cursor: Cursor, block: u32): u32 {
  return Mem.u32At(cursor.directory + <usize>block * BLOCK_ENTRY_BYTES + BLOCK_LAST_ROW);
}

function seekInBlock(cursor: Cursor, target: u32): u32 {
  let low = cursor.at;
  // Reads four rows; those past the block's last row are arbitrary.
  const near = Mem.v128At(cursor.rowBuffer + ((<usize>low) << 2));
  const below: u32 = i32x4.bitmask(i32x4.lt_u(near, i32x4.splat(target)));
  let left = below == 15 ? cursor.held - low : 0;
  if (below != 15) low = min(low + <u32>ctz(~below), cursor.held);
  while (left > 0) {
    // Does not branch on the rows, because the processor could not predict the branch.
    const half = (left + 1) >> 1;
    low += select<u32>(half, 0, cursor.rowAt(low + half - 1) < target);
    left -= half;
  }
  if (CHECKED)
    assert(isFirstFrom(cursor, low, target), "a seek ends on the first row that is not below its target");
  cursor.at = low;
  return low < cursor.held ? cursor.rowAt(low) : TERMINATED;
}

/** True if posting `i` is the block's first posting, from the current one on, whose row is >= target. */
function isFirstFrom(cursor: Cursor, i: u32, target: u32): bool {
  return (i == cursor.at || cursor.rowAt(i - 1) < target) && (i == cursor.held || cursor.rowAt(i) >= target);
}

/** Adds every row of the list to `bits`. Leaves the cursor at the end of the list. */
export function cursorAddTo(cursor: Cursor, bits: usize): void {
  while (nextRows(cursor)) {
    const end = cursor.rowBuffer + ((<usize>cursor.held) << 2);
    for (let at = cursor.rowBuffer; at < end; at += 4) Bits.add(bits, Mem.u32At(at));
  }
}

/** Like `cursorAddTo`, but also adds rows that were already in `bits` to `again`. */
export function cursorAddNoting(cursor: Cursor, bits: usize, again: usize): void {
  while (nextRows(cursor)) {
    const end = cursor.rowBuffer + ((<usize>cursor.held) << 2);
    for (let at = cursor.rowBuffer; at < end; at += 4) Bits.addNoting(bits, Mem.u32At(at), again);
  }
}

/** Number of rows in the list that are set in `live`. Leaves the cursor at the end of the list. */
export function cursorCountIn(cursor: Cursor, live: usize): u32 {
  let count: u32 = 0;
  while (nextRows(cursor)) {
    const held = cursor.held;
    for (let i: u32 = 0; i < held; i++) count += <u32>Bits.has(live, cursor.rowAt(i));
  }
  return count;
}
