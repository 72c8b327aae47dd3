// Writes one posting list at a time into a segment sink, as shown in docs/FORMATS.md. Postings are added one
// by one, so a merge may pause between any two postings. A list's three growing parts (block directory,
// packed data, positions) are kept in the caller's buffers and copied into the sink when the list is
// complete.

import {
  BLOCK_DATA,
  BLOCK_ENTRY_BYTES,
  BLOCK_LAST_ROW,
  BLOCK_MAX_TF,
  BLOCK_MIN_NORM,
  BLOCK_POSITIONS,
  BLOCK_ROW_BITS,
  BLOCK_ROWS,
  BLOCK_TF_BITS,
  LIST_TAIL_BYTES,
} from "../layout";
import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";
import { bitsFor, packBlock } from "../memory/pack";
import { putVarintU32, putVarintU64 } from "../memory/varint";
import { Sink, sinkBytes, sinkEnd, sinkNeed, sinkWritten } from "./segment-sink";

@unmanaged
export class ListWriter {
  block: usize; // pending postings, not yet packed: u32[128] row gaps - 1, then u32[128] frequencies - 1
  pending: u32; // number of pending postings
  count: u32; // number of postings added so far
  previousRow: u32; // row of the last posting added; -1 (wrapped) before the first
  gapBits: u32; // bitwise OR of (gap - 1) over the pending postings
  tfBits: u32; // bitwise OR of (frequency - 1) over the pending postings
  maxTf: u32;
  minNorm: u32;
  blockPositions: u32; // offset in the positions at which the first pending posting's positions begin
  norms: usize; // norm bytes, u8 by row
  directory: usize; // start and write end of each of the three buffers
  directoryEnd: usize;
  data: usize;
  dataEnd: usize;
  positions: usize;
  positionsEnd: usize; // the caller appends a posting's positions here, right after calling listPosting
}

export const LIST_WRITER_BYTES: usize = offsetof<ListWriter>();
export const LIST_BLOCK_BYTES: usize = 1024; // size of ListWriter.block in bytes
const LIST_HEADER_MAX: usize = 24; // maximum size in bytes of four varints

/** Maximum total size in bytes of a list's directory and data, for `postings` postings. */
export function listDataMax(postings: u32): usize {
  return <usize>(postings / BLOCK_ROWS) * (<usize>BLOCK_ENTRY_BYTES + LIST_BLOCK_BYTES) + BLOCK_ROWS * 10;
}

/**
 * Starts a list of at most `postings` postings. `buffer` must have room for listDataMax(postings) plus all
 * position bytes. `buffer` and `norms` (one byte per row) must stay valid until `listEnd`.
 */
export function listBegin(writer: ListWriter, buffer: usize, postings: u32, norms: usize): void {
  writer.pending = 0;
  writer.count = 0;
  writer.previousRow = <u32>-1;
  writer.gapBits = 0;
  writer.tfBits = 0;
  writer.maxTf = 0;
  writer.minNorm = 255;
  writer.blockPositions = 0;
  writer.norms = norms;
  writer.directory = buffer;
  writer.directoryEnd = buffer;
  writer.data = buffer + <usize>(postings / BLOCK_ROWS) * BLOCK_ENTRY_BYTES;
  writer.dataEnd = writer.data;
  writer.positions = buffer + listDataMax(postings);
  writer.positionsEnd = writer.positions;
}

function endBlock(writer: ListWriter): void {
  const entry = writer.directoryEnd;
  const rowBits = bitsFor(writer.gapBits);
  const tfBits = bitsFor(writer.tfBits);
  Mem.putU32(entry + BLOCK_LAST_ROW, writer.previousRow);
  Mem.putU32(entry + BLOCK_DATA, <u32>(writer.dataEnd - writer.data));
  Mem.putU32(entry + BLOCK_POSITIONS, writer.blockPositions);
  Mem.putU8(entry + BLOCK_MAX_TF, min(255, writer.maxTf));
  Mem.putU8(entry + BLOCK_MIN_NORM, writer.minNorm);
  Mem.putU8(entry + BLOCK_ROW_BITS, rowBits);
  Mem.putU8(entry + BLOCK_TF_BITS, tfBits);
  packBlock(writer.block, rowBits, writer.dataEnd);
  writer.dataEnd += (<usize>rowBits) << 4;
  packBlock(writer.block + BLOCK_ROWS * 4, tfBits, writer.dataEnd);
  writer.dataEnd += (<usize>tfBits) << 4;
  writer.directoryEnd = entry + BLOCK_ENTRY_BYTES;
  writer.pending = 0;
  writer.gapBits = 0;
  writer.tfBits = 0;
  writer.maxTf = 0;
  writer.minNorm = 255;
}

/**
 * Adds a posting. Rows must be added in ascending order. The caller then appends the posting's positions at
 * `positionsEnd` and advances it.
 */
export function listPosting(writer: ListWriter, row: u32, tf: u32): void {
  if (CHECKED) assert(writer.count == 0 || row > writer.previousRow, "the rows of a posting list ascend");
  if (writer.pending == BLOCK_ROWS) endBlock(writer);
  const i = writer.pending;
  if (i == 0) writer.blockPositions = <u32>(writer.positionsEnd - writer.positions);
  const gap = row - writer.previousRow - 1;
  const at = writer.block + ((<usize>i) << 2);
  Mem.putU32(at, gap);
  Mem.putU32(at + BLOCK_ROWS * 4, tf - 1);
  writer.gapBits |= gap;
  writer.tfBits |= tf - 1;
  writer.maxTf = max(writer.maxTf, tf);
  writer.minNorm = min(writer.minNorm, Mem.u8At(writer.norms + row));
  writer.previousRow = row;
  writer.pending = i + 1;
  writer.count++;
}

function putTail(writer: ListWriter, at: usize): usize {
  for (let i: u32 = 0; i < writer.pending; i++) {
    const gap = Mem.u32At(writer.block + ((<usize>i) << 2));
    const further = Mem.u32At(writer.block + BLOCK_ROWS * 4 + ((<usize>i) << 2)); // tf - 1
    at = putVarintU64(at, ((<u64>gap) << 1) | (further > 0 ? 1 : 0));
    if (further > 0) at = putVarintU32(at, further - 1);
  }
  return at;
}

/** Writes the list into the sink. Returns false, and writes nothing, if the list has no postings. */
export function listEnd(writer: ListWriter, slot: u32, sink: Sink): bool {
  if (writer.count == 0) return false;
  if (writer.pending == BLOCK_ROWS) endBlock(writer);
  const positionBytes = writer.positionsEnd - writer.positions;
  const tailData = <u32>(writer.dataEnd - writer.data);
  const tailPositions = writer.pending > 0 ? writer.blockPositions : <u32>positionBytes;
  writer.dataEnd = putTail(writer, writer.dataEnd);
  if (CHECKED)
    assert(writer.directoryEnd <= writer.data, "the block directory ends before the packed blocks");
  if (CHECKED) assert(writer.dataEnd <= writer.positions, "the packed blocks end before the positions");
  const directoryBytes = writer.directoryEnd - writer.directory;
  const packedBytes = writer.dataEnd - writer.data;
  const blocks = directoryBytes > 0;
  const dataBytes = packedBytes + (blocks ? directoryBytes + LIST_TAIL_BYTES : 0);
  sinkNeed(sink, LIST_HEADER_MAX + dataBytes + positionBytes);
  let at = putVarintU32(sinkEnd(sink), slot);
  at = putVarintU32(at, writer.count);
  at = putVarintU32(at, <u32>dataBytes);
  at = putVarintU32(at, <u32>positionBytes);
  sinkWritten(sink, at);
  if (blocks) {
    sinkBytes(sink, writer.directory, directoryBytes);
    Mem.putU32(sinkEnd(sink), tailData);
    Mem.putU32(sinkEnd(sink) + 4, tailPositions);
    sink.at += LIST_TAIL_BYTES;
  }
  sinkBytes(sink, writer.data, packedBytes);
  sinkBytes(sink, writer.positions, positionBytes);
  return true;
}
