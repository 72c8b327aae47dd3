// Builds a segment from raw JSON documents. Each document is checked as a whole before any of it is kept, so
// a refused document leaves no trace. The rows are the accepted documents in input order.
//
// A build runs in steps of a fraction of a millisecond (unless a document is large), and its caller may do
// other work between them. It lives in scratch: no other kernel may run in the instance until it is complete.
//
//   input:  | schema program (build-schema.ts) | u32 documents | per document: f64 seq, u32 bytes, JSON |
//   result: | u32 refused | per refused: REFUSED_* | u32 segment bytes (0 = no good document) | segment |
//
// The analyser's current overrides apply.

import {
  FIELD_ENTRY_BYTES,
  REFUSED_AT,
  REFUSED_BYTES,
  REFUSED_CODE,
  REFUSED_INDEX,
  REFUSED_SLOT,
  SEG_HEADER_BYTES,
  SEG_ID_HASHES,
  SEG_ID_ROWS,
  SEG_SEQS,
  STATUS_BAD_PROGRAM,
  VECTOR_BYTES,
} from "../layout";
import { scratch, scratchZeroed } from "../memory/arena";
import { hash64 } from "../memory/hash";
import { Mem } from "../memory/mem";
import { NO_SPAN, RECORD_BYTES, RECORD_ENTRY, RECORD_KEY, sortRecords } from "../memory/order";
import { hasDictionary } from "../segment/field-sections";
import { failed, status, statusReset } from "../status";
import { DICTIONARY_WRITER_BYTES, DictionaryWriter } from "../write/dictionary-writer";
import {
  SINK_BYTES,
  Sink,
  sinkBytes,
  sinkEnd,
  sinkInScratch,
  sinkSection,
  sinkWritten,
} from "../write/segment-sink";
import { segmentBegin, segmentEnd } from "../write/segment-writer";
import { DocumentCheck } from "./build-document";
import { ListsWriter } from "./build-lists";
import { Schema, schemaEnd } from "./build-schema";
import { putColumn, RowAdder } from "./column-writer";
import { Pool } from "./key-table";
import { termsCreate } from "./term-table";
import { orderValues, putDictionary, valuesCreate } from "./value-table";

const DOCUMENT_HEAD: usize = 12;
const RESULT_HEAD: usize = 8; // u32 byte length, u32 number of refused documents
const BYTES_A_STEP: usize = 0x2000; // a step ends after this many bytes of documents
const TERMS_A_STEP: u32 = 512;

const STAGE_DOCUMENTS: u32 = 0;
const STAGE_VALUES: u32 = 1; // each step sorts one column's values
const STAGE_TERMS: u32 = 2; // one step sorts ids and terms
const STAGE_COLUMNS: u32 = 3; // each step writes one column
const STAGE_LISTS: u32 = 4;
const STAGE_DONE: u32 = 5;

/** A build's state between its steps. In scratch, before everything it allocates. */
@unmanaged
class Build {
  stage: u32;
  next: usize; // address of the next document
  end: usize; // end of the input
  count: u32; // number of documents in the input
  index: u32; // index of the next document or column, depending on `stage`
  schema: Schema;
  check: DocumentCheck;
  adder: RowAdder;
  orders: usize; // u32 per column: address of its values in sorted order; 0 = the column has no dictionary
  sink: Sink;
  dictionary: DictionaryWriter;
  lists: ListsWriter;

  rows: u32;
  refused: u32;
  refusals: usize; // REFUSED_* entries of the documents refused so far
  seqs: usize; // sequence numbers, u64 per row
  ids: usize; // sort records {u64 id hash, u32 row}
  vectors: usize; // vector records, one per row; 0 = no row has a vector

  /** Reads the schema program and prepares for the documents. Returns false if the program is malformed. */
  begin(program: usize, documents: usize, end: usize): bool {
    const count = Mem.u32At(documents);
    if (<u64>count * <u64>DOCUMENT_HEAD > <u64>(end - documents)) return false;
    const pool = Pool.make();
    const schema = Schema.make(pool);
    if (!schema.read(program, count)) return false;
    const terms = termsCreate(pool);
    this.count = count;
    this.next = documents + 4;
    this.end = end;
    this.schema = schema;
    this.check = DocumentCheck.make(schema);
    this.adder = RowAdder.make(terms, valuesCreate(pool));
    this.orders = scratch((<usize>schema.columnCount) << 2);
    this.sink = changetype<Sink>(scratch(SINK_BYTES));
    this.dictionary = changetype<DictionaryWriter>(scratch(DICTIONARY_WRITER_BYTES));
    this.lists = ListsWriter.make(schema, terms, this.sink);
    this.refusals = scratch(<usize>count * REFUSED_BYTES);
    this.seqs = scratch((<usize>count) << 3);
    this.ids = scratch(<usize>count * RECORD_BYTES);
    return true;
  }

  /** Runs one step, as described at `buildStep`. */
  step(): i32 {
    switch (this.stage) {
      case STAGE_DOCUMENTS:
        if (!this.addDocuments()) {
          this.stage = STAGE_DONE;
          return -STATUS_BAD_PROGRAM;
        }
        if (this.index < this.count) return 0;
        if (this.rows > 0) this.enter(STAGE_VALUES);
        else this.endEmpty();
        break;
      case STAGE_VALUES:
        if (this.index < this.schema.columnCount) this.orderNextColumn();
        else this.enter(STAGE_TERMS);
        break;
      case STAGE_TERMS:
        this.beginSegment();
        this.enter(STAGE_COLUMNS);
        break;
      case STAGE_COLUMNS:
        if (this.index < this.schema.columnCount) {
          this.putNextColumn();
          break;
        }
        this.lists.begin();
        this.enter(STAGE_LISTS);
        break;
      case STAGE_LISTS:
        if (!this.lists.slice(TERMS_A_STEP)) break;
        segmentEnd(this.sink);
        this.stage = STAGE_DONE;
        break;
      default:
        return -STATUS_BAD_PROGRAM;
    }
    if (failed()) {
      this.stage = STAGE_DONE;
      return -status();
    }
    return this.stage == STAGE_DONE ? <i32>this.result() : 0;
  }

  /** Enters the given stage and restarts `index` at 0. */
  private enter(following: u32): void {
    this.stage = following;
    this.index = 0;
  }

  private noteRefusal(): void {
    const entry = this.refusals + <usize>this.refused * REFUSED_BYTES;
    Mem.putU32(entry + REFUSED_INDEX, this.index);
    Mem.putU32(entry + REFUSED_CODE, this.check.refusedCode);
    Mem.putU32(entry + REFUSED_SLOT, this.check.refusedSlot);
    Mem.putU32(entry + REFUSED_AT, this.check.refusedAt);
    this.refused++;
  }

  private addDocument(seq: f64): void {
    const schema = this.schema;
    const row = this.rows++;
    const id = this.ids + <usize>row * RECORD_BYTES;
    Mem.putU64(id + RECORD_KEY, hash64(this.check.idAt, this.check.idBytes));
    Mem.putU64(id + RECORD_ENTRY, row);
    Mem.putU64(this.seqs + ((<usize>row) << 3), <u64>seq);
    for (let i: u32 = 0; i < schema.columnCount; i++) this.adder.add(schema.column(i), i, row);
    if (!this.check.hasEmbedding) return;
    if (this.vectors == 0) this.vectors = scratchZeroed(<usize>this.count * VECTOR_BYTES);
    this.check.embedding.putRecord(this.vectors + <usize>row * VECTOR_BYTES);
  }

  /** Reads documents for one step. Returns false if the input is truncated. */
  private addDocuments(): bool {
    const end = this.end;
    const stop = this.next + BYTES_A_STEP;
    for (; this.index < this.count && this.next < stop; this.index++) {
      const head = this.next;
      if (end - head < DOCUMENT_HEAD) return false;
      const at = head + DOCUMENT_HEAD;
      const bytes = <usize>Mem.u32At(head + 8);
      if (end - at < bytes) return false;
      if (this.check.accepts(at, at + bytes)) this.addDocument(Mem.f64At(head));
      else this.noteRefusal();
      this.next = at + bytes;
    }
    return true;
  }

  /** Writes the sequence numbers, then the id hashes with their rows. */
  private putIds(): void {
    const sink = this.sink;
    const bytes = (<usize>this.rows) << 3;
    const seqsAt = sinkSection(sink, bytes);
    Mem.putU32(sink.base + SEG_SEQS, seqsAt);
    sinkBytes(sink, this.seqs, bytes);
    const hashesAt = sinkSection(sink, <usize>this.rows * 12);
    Mem.putU32(sink.base + SEG_ID_HASHES, hashesAt);
    Mem.putU32(sink.base + SEG_ID_ROWS, hashesAt + <u32>bytes);
    const to = sinkEnd(sink);
    for (let i: usize = 0; i < <usize>this.rows; i++) {
      const record = this.ids + i * RECORD_BYTES;
      Mem.putU64(to + (i << 3), Mem.u64At(record + RECORD_KEY));
      Mem.putU32(to + bytes + (i << 2), Mem.u32At(record + RECORD_ENTRY));
    }
    sinkWritten(sink, to + <usize>this.rows * 12);
  }

  /**
   * Size in bytes of the result's head, which precedes the segment in scratch and ends with the segment's
   * length.
   */
  private headBytes(): usize {
    return RESULT_HEAD + <usize>this.refused * REFUSED_BYTES + 4;
  }

  /**
   * Starts the segment at the end of scratch, where it can grow. Nothing else may allocate scratch after this
   * call.
   */
  private beginSegment(): void {
    this.ids = sortRecords(this.ids, this.rows, NO_SPAN, NO_SPAN, NO_SPAN);
    this.lists.order();
    scratch((this.headBytes() + 15) & ~15);
    sinkInScratch(this.sink);
    segmentBegin(this.sink, this.rows, this.schema.columnCount);
    this.putIds();
  }

  private putNextColumn(): void {
    const entry = SEG_HEADER_BYTES + this.index * FIELD_ENTRY_BYTES;
    const column = this.schema.column(this.index);
    const order = <usize>Mem.u32At(this.orders + ((<usize>this.index) << 2));
    putColumn(column, this.rows, this.sink, entry);
    if (order != 0) putDictionary(column, order, this.sink, this.dictionary, entry);
    this.index++;
  }

  private orderNextColumn(): void {
    const column = this.schema.column(this.index);
    const order = hasDictionary(column.type, column.flags) ? orderValues(column) : 0;
    Mem.putU32(this.orders + ((<usize>this.index) << 2), <u32>order);
    this.index++;
  }

  /** Writes a result without a segment. */
  private endEmpty(): void {
    const prefix = (this.headBytes() + 15) & ~15;
    this.sink.base = scratch(prefix) + prefix;
    this.sink.at = 0;
    this.stage = STAGE_DONE;
  }

  /** Writes the result's head in front of the segment. */
  private result(): usize {
    const head = this.headBytes();
    const at = this.sink.base - head;
    Mem.putU32(at, <u32>(head - 4) + this.sink.at);
    Mem.putU32(at + 4, this.refused);
    Mem.copy(at + RESULT_HEAD, this.refusals, <usize>this.refused * REFUSED_BYTES);
    Mem.putU32(this.sink.base - 4, this.sink.at);
    return at;
  }
}

/**
 * Starts a build from the input, which stays in scratch. Returns the build, to be passed to `buildStep`, or
 * -STATUS_BAD_PROGRAM if the input is malformed.
 */
export function buildBegin(inputAt: usize, inputBytes: usize): i32 {
  statusReset();
  const end = inputAt + inputBytes;
  const documents = schemaEnd(inputAt, end);
  if (documents == 0 || end - documents < 4) return -STATUS_BAD_PROGRAM;
  const build = changetype<Build>(scratchZeroed(offsetof<Build>()));
  return build.begin(inputAt, documents, end) ? <i32>changetype<usize>(build) : -STATUS_BAD_PROGRAM;
}

/**
 * Runs one step. Returns 0 until the build is complete, then the address of the result in scratch. Returns
 * -STATUS_BAD_PROGRAM if the input is malformed (as opposed to one of its documents) or the build has already
 * ended, or -STATUS_UNKNOWN_TYPE.
 */
export function buildStep(build: usize): i32 {
  return changetype<Build>(build).step();
}

/**
 * A complete build's vector records, one per row (empty if the document had no vector), or 0 if no document
 * had a vector.
 */
export function buildVectors(build: usize): usize {
  return changetype<Build>(build).vectors;
}
