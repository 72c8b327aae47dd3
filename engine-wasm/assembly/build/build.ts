// Builds a segment from raw JSON documents. Each document is checked as a whole before anything of it is
// kept, so a refused one leaves no trace; the rows are the good documents in the order of the input.
//
// A build is made in steps that take a fraction of a millisecond (but for a large document), between which its
// caller may let others work. It lives in scratch: no other kernel may run in the instance until it is complete.
//
//   input:  | schema program (build-schema.ts) | u32 documents | per document: f64 seq, u32 bytes, JSON |
//   result: | u32 refused | per refused: REFUSED_* | u32 segment bytes (0 = no good document) | segment |
// The analyser's overrides in force apply.

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
} from "../layout";
import { scratch } from "../memory/arena";
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
import { checkDocument, idAt, idBytes, refusedAt, refusedCode, refusedSlot } from "./build-document";
import { listsBegin, listsSlice, orderTerms } from "./build-lists";
import { columnAt, columnCount, readSchema, schemaEnd } from "./build-schema";
import { addRow, columnsReset, putColumn } from "./column-writer";
import { KeyTable, poolReset } from "./key-table";
import { termsCreate } from "./term-table";
import { orderValues, putDictionary, valuesCreate } from "./value-table";

const DOCUMENT_HEAD: usize = 12;
const RESULT_HEAD: usize = 8; // byte length, refused count
const BYTES_A_STEP: usize = 0x2000; // of documents
const TERMS_A_STEP: u32 = 512;

const STAGE_DOCUMENTS: u32 = 0;
const STAGE_VALUES: u32 = 1; // orders the values of a column
const STAGE_TERMS: u32 = 2; // orders ids and terms
const STAGE_COLUMNS: u32 = 3; // writes a column
const STAGE_LISTS: u32 = 4;
const STAGE_DONE: u32 = 5;

let stage: u32 = STAGE_DONE;
let next: usize = 0; // the next document
let end: usize = 0; // of the input
let count: u32 = 0; // of the documents
let index: u32 = 0; // of the next document, or of the next column
let orders: usize = 0; // u32 per column: its values in order, 0 = none
let sink: Sink = changetype<Sink>(0);
let dictionary: DictionaryWriter = changetype<DictionaryWriter>(0);

let rows: u32 = 0;
let refused: u32 = 0;
let refusals: usize = 0; // REFUSED_* entries
let seqs: usize = 0; // u64 per row
let ids: usize = 0; // sort records {hash, row}
let terms: KeyTable = changetype<KeyTable>(0);
let values: KeyTable = changetype<KeyTable>(0);

function noteRefusal(index: u32): void {
  const entry = refusals + <usize>refused * REFUSED_BYTES;
  Mem.putU32(entry + REFUSED_INDEX, index);
  Mem.putU32(entry + REFUSED_CODE, refusedCode);
  Mem.putU32(entry + REFUSED_SLOT, refusedSlot);
  Mem.putU32(entry + REFUSED_AT, refusedAt);
  refused++;
}

function addDocument(seq: f64): void {
  const id = ids + <usize>rows * RECORD_BYTES;
  Mem.putU64(id + RECORD_KEY, hash64(idAt, idBytes));
  Mem.putU64(id + RECORD_ENTRY, rows);
  Mem.putU64(seqs + ((<usize>rows) << 3), <u64>seq);
  for (let i: u32 = 0; i < columnCount; i++) addRow(columnAt(i), terms, values, i, rows);
  rows++;
}

/** Reads documents for a step. False when the input is cut short. */
function addDocuments(): bool {
  for (const from = next; index < count && next - from < BYTES_A_STEP; index++) {
    if (end - next < DOCUMENT_HEAD) return false;
    const seq = Mem.f64At(next);
    const bytes = <usize>Mem.u32At(next + 8);
    next += DOCUMENT_HEAD;
    if (end - next < bytes) return false;
    if (checkDocument(next, next + bytes)) addDocument(seq);
    else noteRefusal(index);
    next += bytes;
  }
  return true;
}

/** Sequence numbers, then id hashes with their rows. */
function putIds(): void {
  const bytes = (<usize>rows) << 3;
  const seqsAt = sinkSection(sink, bytes);
  Mem.putU32(sink.base + SEG_SEQS, seqsAt);
  sinkBytes(sink, seqs, bytes);
  const hashesAt = sinkSection(sink, <usize>rows * 12);
  Mem.putU32(sink.base + SEG_ID_HASHES, hashesAt);
  Mem.putU32(sink.base + SEG_ID_ROWS, hashesAt + <u32>bytes);
  const to = sinkEnd(sink);
  for (let i: usize = 0; i < <usize>rows; i++) {
    const record = ids + i * RECORD_BYTES;
    Mem.putU64(to + (i << 3), Mem.u64At(record + RECORD_KEY));
    Mem.putU32(to + bytes + (i << 2), Mem.u32At(record + RECORD_ENTRY));
  }
  sinkWritten(sink, to + <usize>rows * 12);
}

/** Bytes of scratch in front of the segment: the result's head, whose end is the segment's length. */
function headBytes(): usize {
  return RESULT_HEAD + <usize>refused * REFUSED_BYTES + 4;
}

/** Begins the segment behind all other scratch; nothing takes scratch from here on. */
function beginSegment(): void {
  ids = sortRecords(ids, rows, NO_SPAN, NO_SPAN, NO_SPAN);
  orderTerms(terms);
  scratch((headBytes() + 15) & ~15);
  sinkInScratch(sink);
  segmentBegin(sink, rows, columnCount);
  putIds();
}

function putNextColumn(): void {
  const entry = SEG_HEADER_BYTES + index * FIELD_ENTRY_BYTES;
  const order = <usize>Mem.u32At(orders + ((<usize>index) << 2));
  putColumn(columnAt(index), rows, sink, entry);
  if (order != 0) putDictionary(columnAt(index), order, sink, dictionary, entry);
  index++;
}

function orderNextColumn(): void {
  const column = columnAt(index);
  const order = hasDictionary(column.type, column.flags) ? orderValues(column) : 0;
  Mem.putU32(orders + ((<usize>index) << 2), <u32>order);
  index++;
}

/** A result without a segment. */
function endEmpty(): void {
  const prefix = (headBytes() + 15) & ~15;
  sink.base = scratch(prefix) + prefix;
  sink.at = 0;
  stage = STAGE_DONE;
}

/** Writes the result's head in front of the segment. */
function result(): usize {
  const head = headBytes();
  const at = sink.base - head;
  Mem.putU32(at, <u32>(head - 4) + sink.at);
  Mem.putU32(at + 4, refused);
  Mem.copy(at + RESULT_HEAD, refusals, <usize>refused * REFUSED_BYTES);
  Mem.putU32(sink.base - 4, sink.at);
  return at;
}

/** Begins to build from the input, which stays in scratch. Returns 0, or -STATUS_BAD_PROGRAM when it is malformed. */
export function buildBegin(inputAt: usize, inputBytes: usize): i32 {
  statusReset();
  end = inputAt + inputBytes;
  stage = STAGE_DONE;
  poolReset();
  columnsReset();
  rows = 0;
  refused = 0;
  const documents = schemaEnd(inputAt, end);
  if (documents == 0 || end - documents < 4) return -STATUS_BAD_PROGRAM;
  count = Mem.u32At(documents);
  if (<u64>count * <u64>DOCUMENT_HEAD > <u64>(end - documents)) return -STATUS_BAD_PROGRAM;
  if (!readSchema(inputAt, count)) return -STATUS_BAD_PROGRAM;
  refusals = scratch(<usize>count * REFUSED_BYTES);
  seqs = scratch((<usize>count) << 3);
  ids = scratch(<usize>count * RECORD_BYTES);
  terms = termsCreate();
  values = valuesCreate();
  orders = scratch((<usize>columnCount) << 2);
  sink = changetype<Sink>(scratch(SINK_BYTES));
  dictionary = changetype<DictionaryWriter>(scratch(DICTIONARY_WRITER_BYTES));
  next = documents + 4;
  index = 0;
  stage = STAGE_DOCUMENTS;
  return 0;
}

/** Enters the next stage; `index` counts from 0 again. */
function enter(following: u32): void {
  stage = following;
  index = 0;
}

/**
 * Goes on for a step. Returns 0 while the build is not complete, then the result in scratch; -STATUS_BAD_PROGRAM when
 * the input is malformed (not: a document of it) or no build is under way; -STATUS_UNKNOWN_TYPE.
 */
export function buildStep(): i32 {
  switch (stage) {
    case STAGE_DOCUMENTS:
      if (!addDocuments()) {
        stage = STAGE_DONE;
        return -STATUS_BAD_PROGRAM;
      }
      if (index < count) return 0;
      if (rows > 0) enter(STAGE_VALUES);
      else endEmpty();
      break;
    case STAGE_VALUES:
      if (index < columnCount) orderNextColumn();
      else enter(STAGE_TERMS);
      break;
    case STAGE_TERMS:
      beginSegment();
      enter(STAGE_COLUMNS);
      break;
    case STAGE_COLUMNS:
      if (index < columnCount) {
        putNextColumn();
        break;
      }
      listsBegin(sink);
      enter(STAGE_LISTS);
      break;
    case STAGE_LISTS:
      if (!listsSlice(terms, sink, TERMS_A_STEP)) break;
      segmentEnd(sink);
      stage = STAGE_DONE;
      break;
    default:
      return -STATUS_BAD_PROGRAM;
  }
  if (failed()) {
    stage = STAGE_DONE;
    return -status();
  }
  return stage == STAGE_DONE ? <i32>result() : 0;
}
