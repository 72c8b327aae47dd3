// Writes the terms of a finished term table and their posting lists into the segment.

import { SEG_LISTS } from "../layout";
import { scratch } from "../memory/arena";
import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";
import {
  compareSpans,
  NO_SPAN,
  RECORD_BYTES,
  RECORD_ENTRY,
  RECORD_KEY,
  sortRecords,
  spanKey,
} from "../memory/order";
import { putVarintU32, varintAt, varintCursor, varintU64 } from "../memory/varint";
import {
  LIST_BLOCK_BYTES,
  LIST_WRITER_BYTES,
  ListWriter,
  listBegin,
  listDataMax,
  listEnd,
  listPosting,
} from "../write/posting-writer";
import { Sink, sinkSection } from "../write/segment-sink";
import {
  TERM_WRITER_BYTES,
  TermWriter,
  termAdd,
  termBufferBytes,
  termsBegin,
  termsEnd,
} from "../write/term-writer";
import { columnAt } from "./build-schema";
import { ENTRY_KEY, ENTRY_TAG, KeyTable, tableEntries } from "./key-table";
import { streamBytesMax, TERM_POSTINGS, termStream } from "./term-table";

let records: usize = 0;
let next: u32 = 0; // of the records
let previous: usize = 0; // entry written last, 0 = none
let lists: u32 = 0; // offset of the section
let stream: usize = 0;
let buffer: usize = 0;
let list: ListWriter = changetype<ListWriter>(0);
let writer: TermWriter = changetype<TermWriter>(0);

/** Sorts the entries by (term, column) and takes all scratch that writing the lists needs. */
export function orderTerms(terms: KeyTable): void {
  const count = <usize>terms.count;
  const entries = scratch(count << 2);
  tableEntries(terms, entries);
  const unsorted = scratch(count * RECORD_BYTES);
  let streamBytes: usize = 0;
  let listBytes: usize = 0;
  for (let i: usize = 0; i < count; i++) {
    const entry = <usize>Mem.u32At(entries + (i << 2));
    const record = unsorted + i * RECORD_BYTES;
    Mem.putU64(record + RECORD_KEY, spanKey(entry + ENTRY_KEY));
    Mem.putU64(record + RECORD_ENTRY, entry);
    const bytes = streamBytesMax(entry);
    streamBytes = max(streamBytes, bytes);
    listBytes = max(listBytes, listDataMax(Mem.u32At(entry + TERM_POSTINGS)) + bytes);
  }
  records = sortRecords(unsorted, count, ENTRY_KEY, NO_SPAN, ENTRY_TAG);
  stream = scratch(streamBytes);
  buffer = scratch(listBytes);
  list = changetype<ListWriter>(scratch(LIST_WRITER_BYTES));
  list.block = scratch(LIST_BLOCK_BYTES);
  writer = changetype<TermWriter>(scratch(TERM_WRITER_BYTES));
  termsBegin(writer, scratch(termBufferBytes(terms.count, terms.keyBytes)), terms.count, terms.keyBytes);
}

/** Feeds the postings of a term's stream to the list writer. */
function readStream(at: usize, end: usize): void {
  let nextRow: u32 = 0;
  varintAt(at);
  while (varintCursor < end) {
    nextRow += <u32>(varintU64() >> 1);
    let tf: u32 = 1;
    let to = putVarintU32(list.positionsEnd, <u32>varintU64());
    while (varintCursor < end && (Mem.u8At(varintCursor) & 1) == 0) {
      to = putVarintU32(to, <u32>(varintU64() >> 1));
      tf++;
    }
    listPosting(list, nextRow - 1, tf);
    list.positionsEnd = to;
  }
}

/** Begins the section of the lists. */
export function listsBegin(sink: Sink): void {
  lists = sinkSection(sink, 0);
  Mem.putU32(sink.base + SEG_LISTS, lists);
  next = 0;
  previous = 0;
}

/** The entry is that of a greater term than the one written last, or of the same term in a later column. */
function isNext(entry: usize): bool {
  if (previous == 0) return true;
  const order = compareSpans(previous, entry, ENTRY_KEY);
  return order < 0 || (order == 0 && Mem.u32At(previous + ENTRY_TAG) < Mem.u32At(entry + ENTRY_TAG));
}

/** Writes the lists of so many more terms; behind the last one the terms. Returns true when all is written. */
export function listsSlice(terms: KeyTable, sink: Sink, count: u32): bool {
  const end = min(terms.count, next + count);
  for (; next < end; next++) {
    const entry = <usize>Mem.u32At(records + <usize>next * RECORD_BYTES + RECORD_ENTRY);
    const term = <usize>Mem.u32At(entry + ENTRY_KEY);
    const length = Mem.u32At(entry + ENTRY_KEY + 4);
    if (CHECKED) assert(isNext(entry), "terms are written in their order");
    if (previous == 0 || compareSpans(previous, entry, ENTRY_KEY) != 0) {
      termAdd(writer, term, length, sink.at - lists);
    }
    previous = entry;
    const column = columnAt(Mem.u32At(entry + ENTRY_TAG));
    listBegin(list, buffer, Mem.u32At(entry + TERM_POSTINGS), column.norms);
    readStream(stream, termStream(entry, stream));
    listEnd(list, column.slot, sink);
  }
  if (end < terms.count) return false;
  termsEnd(writer, sink.at - lists, sink);
  return true;
}
