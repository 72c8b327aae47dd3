// Writes the terms of a completed term table into the segment, with their posting lists.

import { SEG_LISTS } from "../layout";
import { scratch, scratchZeroed } from "../memory/arena";
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
import { putVarintU32, Varints } from "../memory/varint";
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
import { Schema } from "./build-schema";
import { ENTRY_KEY, ENTRY_TAG, KeyTable, tableEntries } from "./key-table";
import { streamBytesMax, TERM_POSTINGS, termStream } from "./term-table";

/** Writes one build's terms. Allocated in scratch memory. */
@unmanaged
export class ListsWriter {
  schema: Schema;
  terms: KeyTable;
  sink: Sink;
  records: usize; // sort records of the term table's entries, in dictionary order
  next: u32; // index of the next sort record
  previous: usize; // the last term table entry written; 0 = none
  lists: u32; // the lists section's offset in the segment
  stream: usize;
  buffer: usize;
  varints: Varints;
  list: ListWriter;
  writer: TermWriter;

  static make(schema: Schema, terms: KeyTable, sink: Sink): ListsWriter {
    const made = changetype<ListsWriter>(scratchZeroed(offsetof<ListsWriter>()));
    made.schema = schema;
    made.terms = terms;
    made.sink = sink;
    made.varints = Varints.make();
    return made;
  }

  /** Sorts the entries by (term, column) and allocates all scratch memory needed to write the lists. */
  order(): void {
    const terms = this.terms;
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
    this.records = sortRecords(unsorted, count, ENTRY_KEY, NO_SPAN, ENTRY_TAG);
    this.stream = scratch(streamBytes);
    this.buffer = scratch(listBytes);
    this.list = changetype<ListWriter>(scratch(LIST_WRITER_BYTES));
    this.list.block = scratch(LIST_BLOCK_BYTES);
    this.writer = changetype<TermWriter>(scratch(TERM_WRITER_BYTES));
    termsBegin(
      this.writer,
      scratch(termBufferBytes(terms.count, terms.keyBytes)),
      terms.count,
      terms.keyBytes,
    );
  }

  /** Starts the lists section. */
  begin(): void {
    this.lists = sinkSection(this.sink, 0);
    Mem.putU32(this.sink.base + SEG_LISTS, this.lists);
    this.next = 0;
    this.previous = 0;
  }

  /** True if the entry's term is greater than the last term written, or equal to it and in a later column. */
  private isNext(entry: usize): bool {
    const previous = this.previous;
    if (previous == 0) return true;
    const order = compareSpans(previous, entry, ENTRY_KEY);
    return order < 0 || (order == 0 && Mem.u32At(previous + ENTRY_TAG) < Mem.u32At(entry + ENTRY_TAG));
  }

  /**
   * Writes the next `count` entries' lists and, after the last list, the term sections. Returns true when
   * done.
   */
  slice(count: u32): bool {
    const terms = this.terms;
    const sink = this.sink;
    const list = this.list;
    const end = min(terms.count, this.next + count);
    for (let next = this.next; next < end; next++) {
      const entry = <usize>Mem.u32At(this.records + <usize>next * RECORD_BYTES + RECORD_ENTRY);
      const term = <usize>Mem.u32At(entry + ENTRY_KEY);
      const length = Mem.u32At(entry + ENTRY_KEY + 4);
      if (CHECKED) assert(this.isNext(entry), "terms are written in their order");
      if (this.previous == 0 || compareSpans(this.previous, entry, ENTRY_KEY) != 0) {
        termAdd(this.writer, term, length, sink.at - this.lists);
      }
      this.previous = entry;
      const column = this.schema.column(Mem.u32At(entry + ENTRY_TAG));
      listBegin(list, this.buffer, Mem.u32At(entry + TERM_POSTINGS), column.norms);
      this.readStream(this.stream, termStream(entry, this.stream));
      listEnd(list, column.slot, sink);
    }
    this.next = end;
    if (end < terms.count) return false;
    termsEnd(this.writer, sink.at - this.lists, sink);
    return true;
  }

  /** Passes the postings in a term's stream to the list writer. */
  private readStream(at: usize, end: usize): void {
    const list = this.list;
    const stream = this.varints;
    let nextRow: u32 = 0;
    stream.at = at;
    while (stream.at < end) {
      nextRow += <u32>(stream.u64() >> 1);
      let tf: u32 = 1;
      let to = putVarintU32(list.positionsEnd, <u32>stream.u64());
      while (stream.at < end && (Mem.u8At(stream.at) & 1) == 0) {
        to = putVarintU32(to, <u32>(stream.u64() >> 1));
        tf++;
      }
      listPosting(list, nextRow - 1, tf);
      list.positionsEnd = to;
    }
  }
}
