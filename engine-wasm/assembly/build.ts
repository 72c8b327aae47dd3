// Builds a segment from raw JSON documents. Each document is checked as a whole before anything of it is
// kept, so a refused one leaves no trace; the rows are the good documents in the order of the input.
//
//   input:  | schema program (build-schema.ts) | u32 documents | per document: f64 seq, u32 bytes, JSON |
//   result: | u32 refused | per refused: REFUSED_* | u32 segment bytes (0 = no good document) | segment |
// The analyser's overrides in force apply.
import { Mem } from "./mem";
import { scratch } from "./arena";
import { checkDocument, idAt, idBytes, refusedAt, refusedCode, refusedSlot } from "./build-document";
import { putLists, orderTerms } from "./build-lists";
import { columnAt, columnCount, readSchema, schemaEnd } from "./build-schema";
import { addRow, columnsReset, putColumn } from "./column-writer";
import { DICTIONARY_WRITER_BYTES, DictionaryWriter } from "./dictionary-writer";
import { hasDictionary } from "./field-sections";
import { hash64 } from "./hash";
import { KeyTable, poolReset } from "./key-table";
import {
  FIELD_ENTRY_BYTES, REFUSED_AT, REFUSED_BYTES, REFUSED_CODE, REFUSED_INDEX, REFUSED_SLOT,
  SEG_HEADER_BYTES, SEG_ID_HASHES, SEG_ID_ROWS, SEG_SEQS, STATUS_BAD_PROGRAM,
} from "./layout";
import { NO_SPAN, RECORD_BYTES, RECORD_ENTRY, RECORD_KEY, sortRecords } from "./order";
import {
  SINK_BYTES, Sink, sinkBytes, sinkEnd, sinkInScratch, sinkSection, sinkWritten,
} from "./segment-sink";
import { segmentBegin, segmentEnd } from "./segment-writer";
import { termsCreate } from "./term-table";
import { orderValues, putDictionary, valuesCreate } from "./value-table";

const DOCUMENT_HEAD: usize = 12;
const RESULT_HEAD: usize = 8; // byte length, refused count

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
  Mem.putU64(seqs + (<usize>rows << 3), <u64>seq);
  for (let i: u32 = 0; i < columnCount; i++) addRow(columnAt(i), terms, values, i, rows);
  rows++;
}

/** Reads `count` documents at [p, end). False when the input is cut short. */
function addDocuments(p: usize, end: usize, count: u32): bool {
  for (let i: u32 = 0; i < count; i++) {
    if (end - p < DOCUMENT_HEAD) return false;
    const seq = Mem.f64At(p);
    const bytes = <usize>Mem.u32At(p + 8);
    p += DOCUMENT_HEAD;
    if (end - p < bytes) return false;
    if (checkDocument(p, p + bytes)) addDocument(seq);
    else noteRefusal(i);
    p += bytes;
  }
  return true;
}

/** Sequence numbers, then id hashes with their rows. */
function putIds(sink: Sink): void {
  const bytes = <usize>rows << 3;
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

/** Writes the segment behind `prefix` bytes of scratch; nothing takes scratch once the sink is begun. */
function putSegment(sink: Sink, prefix: usize): void {
  const dictionary = changetype<DictionaryWriter>(scratch(DICTIONARY_WRITER_BYTES));
  const orders = scratch(<usize>columnCount << 2);
  for (let i: u32 = 0; i < columnCount; i++) {
    const column = columnAt(i);
    const order = hasDictionary(column.type, column.flags) ? orderValues(column) : 0;
    Mem.putU32(orders + (<usize>i << 2), <u32>order);
  }
  ids = sortRecords(ids, rows, NO_SPAN, NO_SPAN, NO_SPAN);
  orderTerms(terms);
  scratch(prefix);
  sinkInScratch(sink);
  segmentBegin(sink, rows, columnCount);
  putIds(sink);
  for (let i: u32 = 0; i < columnCount; i++) {
    const entry = SEG_HEADER_BYTES + i * FIELD_ENTRY_BYTES;
    const order = <usize>Mem.u32At(orders + (<usize>i << 2));
    putColumn(columnAt(i), rows, sink, entry);
    if (order != 0) putDictionary(columnAt(i), order, sink, dictionary, entry);
  }
  putLists(terms, sink);
  segmentEnd(sink);
}

/** Result in scratch, or -STATUS_BAD_PROGRAM when the input is malformed (not: a document of it). */
export function build(inputAt: usize, inputBytes: usize): i32 {
  const end = inputAt + inputBytes;
  poolReset();
  columnsReset();
  rows = 0;
  refused = 0;
  const documents = schemaEnd(inputAt, end);
  if (documents == 0 || end - documents < 4) return -STATUS_BAD_PROGRAM;
  const count = Mem.u32At(documents);
  if (<u64>count * <u64>DOCUMENT_HEAD > <u64>(end - documents)) return -STATUS_BAD_PROGRAM;
  if (!readSchema(inputAt, count)) return -STATUS_BAD_PROGRAM;
  refusals = scratch(<usize>count * REFUSED_BYTES);
  seqs = scratch(<usize>count << 3);
  ids = scratch(<usize>count * RECORD_BYTES);
  terms = termsCreate();
  values = valuesCreate();
  if (!addDocuments(documents + 4, end, count)) return -STATUS_BAD_PROGRAM;
  const sink = changetype<Sink>(scratch(SINK_BYTES));
  const head = RESULT_HEAD + <usize>refused * REFUSED_BYTES + 4;
  const prefix = (head + 15) & ~15;
  if (rows > 0) {
    putSegment(sink, prefix);
  } else {
    sink.base = scratch(prefix) + prefix;
    sink.at = 0;
  }
  const result = sink.base - head;
  Mem.putU32(result, <u32>(head - 4) + sink.at);
  Mem.putU32(result + 4, refused);
  Mem.copy(result + RESULT_HEAD, refusals, <usize>refused * REFUSED_BYTES);
  Mem.putU32(sink.base - 4, sink.at);
  return <i32>result;
}
