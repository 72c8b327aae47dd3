// Writes a segment's term sections. Offsets, bytes, shared-prefix lengths and list offsets are collected term
// by term while the lists are written. They are written to the sink afterwards, when their sizes are known.

import { SEG_TERM_BYTES, SEG_TERM_LCP, SEG_TERM_LISTS, SEG_TERM_OFFSETS, SEG_TERMS } from "../layout";
import { Mem } from "../memory/mem";
import { Sink, sinkBytes, sinkSection } from "./segment-sink";

@unmanaged
export class TermWriter {
  count: u32;
  bytesUsed: u32;
  offsets: usize; // u32 per term: offset of its bytes
  lists: usize; // u32 per term: offset of its lists
  bytes: usize;
  lcp: usize; // u8 per term: length of the prefix shared with the previous term
}

export const TERM_WRITER_BYTES: usize = offsetof<TermWriter>();

/** Buffer size in bytes for up to `terms` terms with a total of `bytes` bytes. */
export function termBufferBytes(terms: u32, bytes: u32): usize {
  return (<usize>terms + 1) * 8 + <usize>bytes + <usize>terms;
}

/** Starts with no terms, in a buffer of termBufferBytes(terms, bytes). */
export function termsBegin(writer: TermWriter, buffer: usize, terms: u32, bytes: u32): void {
  writer.count = 0;
  writer.bytesUsed = 0;
  writer.offsets = buffer;
  writer.lists = buffer + ((<usize>terms + 1) << 2);
  writer.bytes = writer.lists + ((<usize>terms + 1) << 2);
  writer.lcp = writer.bytes + bytes;
}

/**
 * Adds a term, which must be greater than all earlier terms. Its lists begin `lists` bytes into the lists
 * section.
 */
export function termAdd(writer: TermWriter, at: usize, length: u32, lists: u32): void {
  const i = <usize>writer.count;
  let shared: u32 = 0;
  if (i > 0) {
    const previous = Mem.u32At(writer.offsets + ((i - 1) << 2));
    const longest = min(length, writer.bytesUsed - previous);
    while (shared < longest && Mem.u8At(writer.bytes + previous + shared) == Mem.u8At(at + shared)) shared++;
  }
  Mem.putU32(writer.offsets + (i << 2), writer.bytesUsed);
  Mem.putU32(writer.lists + (i << 2), lists);
  Mem.putU8(writer.lcp + i, shared);
  Mem.copy(writer.bytes + writer.bytesUsed, at, length);
  writer.bytesUsed += length;
  writer.count++;
}

function putSection(sink: Sink, header: usize, from: usize, bytes: usize): void {
  const at = sinkSection(sink, bytes);
  Mem.putU32(sink.base + header, at);
  sinkBytes(sink, from, bytes);
}

/**
 * Writes the sections that follow the lists, which have `listBytes` bytes, and records these sections in the
 * segment's header.
 */
export function termsEnd(writer: TermWriter, listBytes: u32, sink: Sink): void {
  const count = <usize>writer.count;
  Mem.putU32(writer.offsets + (count << 2), writer.bytesUsed);
  Mem.putU32(writer.lists + (count << 2), listBytes);
  Mem.putU32(sink.base + SEG_TERMS, <u32>count);
  putSection(sink, SEG_TERM_OFFSETS, writer.offsets, (count + 1) << 2);
  putSection(sink, SEG_TERM_LISTS, writer.lists, (count + 1) << 2);
  putSection(sink, SEG_TERM_LCP, writer.lcp, count);
  putSection(sink, SEG_TERM_BYTES, writer.bytes, writer.bytesUsed);
}
