// Merges the posting lists of one (term, slot): reads the inputs' lists block by block, renumbers the live
// rows and hands them, with their position bytes as they are, to the list writer.
import { Mem } from "./mem";
import {
  BLOCK_DATA, BLOCK_ENTRY_BYTES, BLOCK_LAST_ROW, BLOCK_ROWS, BLOCK_ROW_BITS, BLOCK_TF_BITS, LIST_TAIL_BYTES,
} from "./layout";
import { MergeInput, isLive, newRow } from "./merge-state";
import { ListWriter, listPosting } from "./posting-writer";
import { unpackFrequencies, unpackRows } from "./unpack";
import { varintAt, varintCursor, varintU32, varintU64 } from "./varint";

const FREQUENCIES: usize = BLOCK_ROWS * 4; // behind the rows in the decode buffer

/** Bytes that must be readable behind a list and writable behind the positions written. */
export const POSITION_SLACK: usize = 8;

let listCount: u32 = 0;
let listPositionBytes: u32 = 0;

/** Postings and position bytes of the list that `listOpen` entered last. */
export function openedPostings(): u32 { return listCount; }
export function openedPositionBytes(): u32 { return listPositionBytes; }

/** Slot of the list at `input.lists`. */
export function nextSlot(input: MergeInput): u32 {
  varintAt(input.lists);
  return varintU32();
}

/** Enters the list at `input.lists` and moves that behind it. */
export function listOpen(input: MergeInput): void {
  varintAt(input.lists);
  varintU32();
  listCount = varintU32();
  const dataBytes = varintU32();
  listPositionBytes = varintU32();
  const data = varintCursor;
  const blocks = listCount / BLOCK_ROWS;
  input.blocks = blocks;
  input.tail = listCount % BLOCK_ROWS;
  input.previousRow = <u32>-1;
  input.directory = data;
  input.data = data + (blocks > 0 ? <usize>blocks * BLOCK_ENTRY_BYTES + LIST_TAIL_BYTES : 0);
  input.tailAt = blocks > 0 ? input.data + Mem.u32At(input.data - LIST_TAIL_BYTES) : data;
  input.positions = data + dataBytes;
  input.lists = input.positions + listPositionBytes;
}

function readBlock(input: MergeInput, decoded: usize): void {
  const entry = input.directory;
  const rowBits = Mem.u8At(entry + BLOCK_ROW_BITS);
  const data = input.data + Mem.u32At(entry + BLOCK_DATA);
  unpackRows(data, rowBits, input.previousRow, decoded);
  unpackFrequencies(data + (<usize>rowBits << 4), Mem.u8At(entry + BLOCK_TF_BITS), decoded + FREQUENCIES);
  input.previousRow = Mem.u32At(entry + BLOCK_LAST_ROW);
  input.directory = entry + BLOCK_ENTRY_BYTES;
  input.blocks--;
}

function readTail(input: MergeInput, decoded: usize): void {
  varintAt(input.tailAt);
  let row = input.previousRow;
  for (let i: u32 = 0; i < input.tail; i++) {
    const head = varintU64();
    row += <u32>(head >> 1) + 1;
    Mem.putU32(decoded + (<usize>i << 2), row);
    Mem.putU32(decoded + FREQUENCIES + (<usize>i << 2), (head & 1) != 0 ? varintU32() + 2 : 1);
  }
  input.tail = 0;
}

/** Address behind `count` varints. */
function skipVarints(at: usize, count: u32): usize {
  for (; count > 0; count--) {
    while (Mem.u8At(at) >= 0x80) at++;
    at++;
  }
  return at;
}

/** True when the current list has postings left. */
export function hasPostings(input: MergeInput): bool { return input.blocks > 0 || input.tail > 0; }

/**
 * Moves the next block, or the tail, of the current list into the writer. `decoded`: 1024 bytes to work
 * in.
 */
export function takePostings(input: MergeInput, writer: ListWriter, decoded: usize): void {
  let count: u32 = BLOCK_ROWS;
  if (input.blocks > 0) {
    readBlock(input, decoded);
  } else {
    count = input.tail;
    readTail(input, decoded);
  }
  let positions = input.positions;
  for (let i: u32 = 0; i < count; i++) {
    const row = Mem.u32At(decoded + (<usize>i << 2));
    const tf = Mem.u32At(decoded + FREQUENCIES + (<usize>i << 2));
    const from = positions;
    positions = skipVarints(from, tf);
    if (!isLive(input, row)) continue;
    listPosting(writer, newRow(input, row), tf);
    const to = writer.positionsEnd;
    const bytes = positions - from;
    if (bytes <= POSITION_SLACK) Mem.putU64(to, Mem.u64At(from));
    else Mem.copy(to, from, bytes);
    writer.positionsEnd = to + bytes;
  }
  input.positions = positions;
}
