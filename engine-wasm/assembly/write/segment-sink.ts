// An output buffer for a segment, which is written front to back. A build writes to growing scratch memory, a
// merge to a region. Offsets are relative to the segment's first byte and stay valid; addresses are valid
// until the next `sinkNeed`.

import { release, reserve, scratch } from "../memory/arena";
import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";

@unmanaged
export class Sink {
  base: usize; // the segment's first byte
  at: u32; // bytes written
  capacity: u32;
  inRegion: u32; // 1 = a region that moves when it grows, 0 = the last block of scratch memory
}

export const SINK_BYTES: usize = offsetof<Sink>();

const SCRATCH_STEP: usize = 0x40000;

/** Starts a sink in scratch memory. Nothing else may allocate scratch memory until the sink is complete. */
export function sinkInScratch(sink: Sink): void {
  sinkInScratchOf(sink, SCRATCH_STEP);
}

/**
 * Like `sinkInScratch`, but with a capacity of `bytes`. Other scratch memory may be allocated as long as the
 * sink stays within its capacity.
 */
export function sinkInScratchOf(sink: Sink, bytes: usize): void {
  sink.base = scratch(bytes);
  sink.at = 0;
  sink.capacity = <u32>bytes;
  sink.inRegion = 0;
}

/** Starts a sink in a region of `bytes` bytes. Discards all scratch memory. */
export function sinkInRegion(sink: Sink, bytes: usize): void {
  sink.base = reserve(bytes);
  sink.at = 0;
  sink.capacity = <u32>bytes;
  sink.inRegion = 1;
}

/** Makes room for `bytes` more bytes. For a sink in a region, this may discard all scratch memory. */
export function sinkNeed(sink: Sink, bytes: usize): void {
  const needed = <usize>sink.at + bytes;
  if (needed <= <usize>sink.capacity) return;
  if (sink.inRegion == 0) {
    const more = (max(needed - <usize>sink.capacity, <usize>sink.capacity >> 1) + 15) & ~15;
    scratch(more);
    sink.capacity += <u32>more;
    return;
  }
  const capacity = needed + (needed >> 2);
  const base = reserve(capacity < needed ? <usize>-1 : capacity); // `reserve` refuses a size over 4 GiB
  Mem.copy(base, sink.base, sink.at);
  release(sink.base);
  sink.base = base;
  sink.capacity = <u32>capacity;
}

/**
 * Pads with zeros to a multiple of 8 bytes and makes room for a section of `bytes` bytes. Returns the
 * section's offset.
 */
export function sinkSection(sink: Sink, bytes: usize): u32 {
  sinkNeed(sink, bytes + 16);
  while ((sink.at & 7) != 0) Mem.putU8(sink.base + sink.at++, 0);
  return sink.at;
}

/** Address of the next byte to write. */
export function sinkEnd(sink: Sink): usize {
  return sink.base + sink.at;
}

/** Marks everything up to `end` as written. */
export function sinkWritten(sink: Sink, end: usize): void {
  sink.at = <u32>(end - sink.base);
  if (CHECKED) assert(sink.at <= sink.capacity, "what is written to a sink has room there");
}

/** Appends `bytes` bytes copied from `from`. There must be room. */
export function sinkBytes(sink: Sink, from: usize, bytes: usize): void {
  if (CHECKED) assert(bytes <= <usize>(sink.capacity - sink.at), "what is written to a sink has room there");
  Mem.copy(sinkEnd(sink), from, bytes);
  sink.at += <u32>bytes;
}

/** Appends `bytes` zeros. There must be room. */
export function sinkZeros(sink: Sink, bytes: usize): void {
  if (CHECKED) assert(bytes <= <usize>(sink.capacity - sink.at), "what is written to a sink has room there");
  Mem.fill(sinkEnd(sink), 0, bytes);
  sink.at += <u32>bytes;
}
