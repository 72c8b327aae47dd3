// Writes a column's dictionary into a segment sink, value by value in dictionary order. Knows nothing about
// where the values come from or which rows have them.
//
//   strings: | header 16 | u32 raw offsets[n + 1] | u32 folded offsets[n + 1] | raw bytes | folded bytes |
//   numbers: | header 16 | 8 bytes per value |

import { DICT_COUNT, DICT_FOLDED_OFFSETS, DICT_HEADER_BYTES, DICT_RAW_OFFSETS, DICT_VALUES } from "../layout";
import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";
import { Sink, sinkSection } from "./segment-sink";

@unmanaged
export class DictionaryWriter {
  at: u32; // the dictionary's offset in the segment
  count: u32; // number of values written
  rawOffsets: u32; // the following offsets are relative to the dictionary's first byte
  foldedOffsets: u32;
  raw: u32; // offsets of the next raw and the next folded byte to write
  folded: u32;
}

export const DICTIONARY_WRITER_BYTES: usize = offsetof<DictionaryWriter>();

/** Starts a dictionary of `count` strings with a total of `rawBytes` raw and `foldedBytes` folded bytes. */
export function stringsBegin(
  writer: DictionaryWriter,
  sink: Sink,
  count: u32,
  rawBytes: u32,
  foldedBytes: u32,
): void {
  const offsetBytes = (count + 1) << 2;
  const bytes = DICT_HEADER_BYTES + 2 * offsetBytes + rawBytes + foldedBytes;
  writer.at = sinkSection(sink, bytes);
  writer.count = 0;
  writer.rawOffsets = DICT_HEADER_BYTES;
  writer.foldedOffsets = DICT_HEADER_BYTES + offsetBytes;
  writer.raw = DICT_HEADER_BYTES + 2 * offsetBytes;
  writer.folded = writer.raw + rawBytes;
  const dictionary = sink.base + writer.at;
  Mem.putU32(dictionary + DICT_COUNT, count);
  Mem.putU32(dictionary + DICT_RAW_OFFSETS, writer.rawOffsets);
  Mem.putU32(dictionary + DICT_FOLDED_OFFSETS, writer.foldedOffsets);
  Mem.putU32(dictionary + DICT_VALUES, 0);
  putOffsets(writer, dictionary);
  sink.at += bytes;
}

function putOffsets(writer: DictionaryWriter, dictionary: usize): void {
  const i = (<usize>writer.count) << 2;
  Mem.putU32(dictionary + writer.rawOffsets + i, writer.raw);
  Mem.putU32(dictionary + writer.foldedOffsets + i, writer.folded);
}

/** Adds the next string. */
export function stringsPut(
  writer: DictionaryWriter,
  sink: Sink,
  raw: usize,
  rawLength: u32,
  folded: usize,
  foldedLength: u32,
): void {
  const dictionary = sink.base + writer.at;
  if (CHECKED)
    assert(writer.at + writer.folded + foldedLength <= sink.at, "a dictionary holds what was announced");
  Mem.copy(dictionary + writer.raw, raw, rawLength);
  Mem.copy(dictionary + writer.folded, folded, foldedLength);
  writer.raw += rawLength;
  writer.folded += foldedLength;
  writer.count++;
  putOffsets(writer, dictionary);
}

/** Starts a dictionary of `count` numbers. */
export function numbersBegin(writer: DictionaryWriter, sink: Sink, count: u32): void {
  const bytes = DICT_HEADER_BYTES + (count << 3);
  writer.at = sinkSection(sink, bytes);
  writer.count = 0;
  const dictionary = sink.base + writer.at;
  Mem.putU32(dictionary + DICT_COUNT, count);
  Mem.putU32(dictionary + DICT_RAW_OFFSETS, 0);
  Mem.putU32(dictionary + DICT_FOLDED_OFFSETS, 0);
  Mem.putU32(dictionary + DICT_VALUES, DICT_HEADER_BYTES);
  sink.at += bytes;
}

/** Adds the next number: an i64, or the bits of an f64. */
export function numbersPut(writer: DictionaryWriter, sink: Sink, value: u64): void {
  Mem.putU64(sink.base + writer.at + DICT_HEADER_BYTES + ((<usize>writer.count) << 3), value);
  writer.count++;
}
