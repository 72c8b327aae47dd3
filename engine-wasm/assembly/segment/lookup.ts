// Finds rows by document id hash or by sequence number.

import { STATUS_BAD_PROGRAM } from "../layout";
import { Bits } from "../memory/bitset";
import { Mem } from "../memory/mem";
import { Result } from "../memory/result";
import { Seg, Snap } from "./segment";

export const NOT_FOUND: u32 = 0xffffffff;

/**
 * Index of the first hash >= `hash` in the segment's ascending id hashes. Hashes are evenly distributed, so
 * the search starts at the expected index and doubles its steps.
 */
export function idFirst(segment: usize, hash: u64): u32 {
  const rows = Seg.rows(segment);
  if (rows == 0) return 0;
  const hashes = Seg.idHashes(segment);
  const guess = <u32>(((hash >> 32) * <u64>rows) >> 32);
  let low: u32 = 0;
  let high = rows;
  let step: u32 = 1;
  if (Mem.u64At(hashes + ((<usize>guess) << 3)) < hash) {
    low = guess + 1;
    while (low + step < rows && Mem.u64At(hashes + ((<usize>(low + step)) << 3)) < hash) {
      low += step + 1;
      step <<= 1;
    }
    high = min(rows, low + step);
  } else {
    high = guess;
    while (high > step && Mem.u64At(hashes + ((<usize>(high - step)) << 3)) >= hash) {
      high -= step;
      step <<= 1;
    }
    low = high > step ? high - step : 0;
  }
  while (low < high) {
    const middle = low + ((high - low) >> 1);
    if (Mem.u64At(hashes + ((<usize>middle) << 3)) < hash) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The row with the given sequence number, or NOT_FOUND. */
export function rowOfSeq(segment: usize, seq: u64): u32 {
  const rows = Seg.rows(segment);
  if (rows == 0 || Seg.seq(segment, 0) > seq || Seg.seq(segment, rows - 1) < seq) return NOT_FOUND;
  let low: u32 = 0;
  let high = rows;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Seg.seq(segment, middle) < seq) low = middle + 1;
    else high = middle;
  }
  return Seg.seq(segment, low) == seq ? low : NOT_FOUND;
}

/**
 * Finds live rows by id hash. Input: u64[]; result: {u32 hash index, u32 entry, u32 row, f64 seq} for each
 * live row with one of the hashes.
 */
export function findIds(snapshot: usize, input: usize, bytes: usize): i32 {
  if ((bytes & 7) != 0) return -STATUS_BAD_PROGRAM;
  const entries = Snap.count(snapshot);
  const result = Result.open();
  for (let i: usize = 0; i < bytes; i += 8) {
    const hash = Mem.u64At(input + i);
    for (let entry: u32 = 0; entry < entries; entry++) {
      const segment = Snap.segment(snapshot, entry);
      const live = Snap.live(snapshot, entry);
      const rows = Seg.rows(segment);
      const hashes = Seg.idHashes(segment);
      for (let j = idFirst(segment, hash); j < rows && Mem.u64At(hashes + ((<usize>j) << 3)) == hash; j++) {
        const row = Mem.u32At(Seg.idRows(segment) + ((<usize>j) << 2));
        if (live != 0 && !Bits.has(live, row)) continue;
        result.putU32(<u32>(i >> 3));
        result.putU32(entry);
        result.putU32(row);
        result.putF64(<f64>Seg.seq(segment, row));
      }
    }
  }
  return <i32>result.close();
}

/**
 * Finds live and deleted rows by sequence number. Input: f64[]; result: {u32 entry, u32 row} for each
 * sequence number. The entry is 0xffffffff if no segment has the sequence number.
 */
export function locate(snapshot: usize, input: usize, bytes: usize): i32 {
  if ((bytes & 7) != 0) return -STATUS_BAD_PROGRAM;
  const result = Result.open();
  for (let i: usize = 0; i < bytes; i += 8) locateOne(result, snapshot, <u64>Mem.f64At(input + i));
  return <i32>result.close();
}

function locateOne(result: Result, snapshot: usize, seq: u64): void {
  const entries = Snap.count(snapshot);
  for (let entry: u32 = 0; entry < entries; entry++) {
    const row = rowOfSeq(Snap.segment(snapshot, entry), seq);
    if (row == NOT_FOUND) continue;
    result.putU32(entry);
    result.putU32(row);
    return;
  }
  result.putU32(NOT_FOUND);
  result.putU32(0);
}
