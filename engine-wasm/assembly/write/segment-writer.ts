// Starts a segment in a sink: writes its header and an empty field table. docs/FORMATS.md defines the order
// of sections.

import {
  FIELD_ENTRY_BYTES,
  SEG_BYTES,
  SEG_FIELD_TABLE,
  SEG_FIELDS,
  SEG_HEADER_BYTES,
  SEG_MAGIC,
  SEG_ROWS,
  SEG_VERSION,
  SEGMENT_MAGIC,
  SEGMENT_VERSION,
  STATUS_OK,
} from "../layout";
import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";
import { checkSegment } from "../segment/attach";
import { storeLengths } from "../segment/statistics";
import { Sink, sinkSection, sinkZeros } from "./segment-sink";

/** Writes the header and field table, with zeros for values that are not known yet. */
export function segmentBegin(sink: Sink, rows: u32, fields: u32): void {
  const bytes = SEG_HEADER_BYTES + fields * FIELD_ENTRY_BYTES;
  sinkSection(sink, bytes);
  sinkZeros(sink, bytes);
  Mem.putU32(sink.base + SEG_MAGIC, SEGMENT_MAGIC);
  Mem.putU32(sink.base + SEG_VERSION, SEGMENT_VERSION);
  Mem.putU32(sink.base + SEG_ROWS, rows);
  Mem.putU32(sink.base + SEG_FIELDS, fields);
  Mem.putU32(sink.base + SEG_FIELD_TABLE, SEG_HEADER_BYTES);
}

/** Completes a segment after all its sections have been written. Returns the segment's length. */
export function segmentEnd(sink: Sink): u32 {
  const bytes = sinkSection(sink, 0);
  Mem.putU32(sink.base + SEG_BYTES, bytes);
  storeLengths(sink.base);
  if (CHECKED)
    assert(checkSegment(sink.base, bytes) == STATUS_OK, "a segment that was written can be attached");
  return bytes;
}
