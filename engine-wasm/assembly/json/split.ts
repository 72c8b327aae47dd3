// Cuts a request into documents in one pass without building anything: a batch body {"documents": [...], ...}
// or lines of NDJSON. Of a document only its id is read; its JSON is proved well formed on the way.
// Result: layout SPLIT_*. Decoded ids and names replace their own text in the input (a decoded string is
// never longer than its literal), so the host reads them from there.

import {
  DOC_BAD_ID,
  DOC_BAD_JSON,
  DOC_ID_ONLY,
  DOC_NO_ID,
  DOC_NOT_OBJECT,
  DOC_OK,
  ID_BYTES_MAX,
  SPLIT_AT,
  SPLIT_CONSUMED,
  SPLIT_DOC_AT,
  SPLIT_DOC_BYTES,
  SPLIT_DOC_END,
  SPLIT_DOC_HASH,
  SPLIT_DOC_ID,
  SPLIT_DOC_ID_BYTES,
  SPLIT_DOC_START,
  SPLIT_DOC_STATUS,
  SPLIT_DOCUMENTS,
  SPLIT_DOCUMENTS_AT,
  SPLIT_HEADER_BYTES,
  SPLIT_STATUS,
} from "../layout";
import { scratch, scratchZeroed } from "../memory/arena";
import { hash64 } from "../memory/hash";
import { Mem } from "../memory/mem";
import {
  broken,
  JSON_ARRAY,
  JSON_STRING,
  scanClear,
  scanEscaped,
  scanFailedAt,
  scanFault,
  scanFaultAt,
  scanKey,
  scanKeyEnd,
  scanKind,
  scanString,
  scanValue,
  skipSpace,
  stringIsFaulty,
} from "./json";
import { unescape } from "./json-values";
import { finishMembers, membersBegin, putMember } from "./top-level";

const QUOTE: u32 = 0x22;
const NAME_BYTES: u32 = 64; // enough for "documents" with every letter escaped
const NAME: usize = memory.data(64);

let input: usize = 0; // positions count from here
let result: usize = 0; // address of the result's header; its length is in the 4 bytes before
let documents: usize = 0; // address of the first document entry
let documentCount: u32 = 0;

let documentStatus: i32 = DOC_OK;
let documentAt: usize = 0;
let idAt: usize = 0;
let idBytes: u32 = 0;

/** Splits the batch body of `bytes` bytes at p, in scratch. Returns the address of the result. */
export function split(p: usize, bytes: usize): usize {
  begin(p);
  const end = p + bytes;
  scanClear();
  if (readBody(skipSpace(p, end), end) == 0) bodyStatus(DOC_BAD_JSON, scanFailedAt);
  finishMembers(result);
  return finish();
}

/**
 * Splits the NDJSON lines in the `bytes` bytes at p, in scratch. A last line without its line feed is left
 * for the next piece (SPLIT_CONSUMED) unless `last`. Blank lines and a byte order mark are skipped; a
 * broken line is one failed document. Returns the address of the result.
 */
export function splitLines(p: usize, bytes: usize, last: bool): usize {
  begin(p);
  const end = p + bytes;
  while (p < end) {
    let lineEnd = p;
    while (lineEnd < end && Mem.u8At(lineEnd) != 0x0a) lineEnd++;
    if (lineEnd == end && !last) break;
    if (lineEnd - p >= 3 && Mem.u16At(p) == 0xbbef && Mem.u8At(p + 2) == 0xbf) p += 3;
    const start = skipSpace(p, lineEnd);
    if (start < lineEnd) readLine(start, lineEnd);
    p = lineEnd < end ? lineEnd + 1 : lineEnd;
  }
  Mem.putU32(result + SPLIT_CONSUMED, <u32>(p - input));
  return finish();
}

function begin(p: usize): void {
  input = p;
  result = scratchZeroed(16 + SPLIT_HEADER_BYTES) + 16;
  documents = 0;
  documentCount = 0;
  membersBegin();
}

function finish(): usize {
  if (Mem.u32At(result + SPLIT_STATUS) != DOC_OK) documentCount = 0;
  Mem.putU32(result + SPLIT_DOCUMENTS, documentCount);
  Mem.putU32(result + SPLIT_DOCUMENTS_AT, documentCount == 0 ? 0 : <u32>(documents - result));
  Mem.putU32(result - 4, <u32>(scratch(0) - result));
  return result - 4;
}

function bodyStatus(status: i32, at: usize): void {
  Mem.putU32(result + SPLIT_STATUS, status);
  Mem.putU32(result + SPLIT_AT, <u32>(at - input));
}

/** Outside of documents a fault concerns the whole body; the first one is told. */
function noteFault(): void {
  if (scanFault != DOC_OK && Mem.u32At(result + SPLIT_STATUS) == DOC_OK) bodyStatus(scanFault, scanFaultAt);
}

/** Reads the whole body; 0 when it is broken. */
function readBody(p: usize, end: usize): usize {
  if (p >= end || Mem.u8At(p) != 0x7b) {
    const after = scanValue(p, end, 0);
    if (after == 0) return 0;
    bodyStatus(DOC_NOT_OBJECT, p);
    return bodyEnd(after, end);
  }
  let q = skipSpace(p + 1, end);
  if (q < end && Mem.u8At(q) == 0x7d) return bodyEnd(q + 1, end);
  while (true) {
    const name = q;
    const value = scanKey(q, end);
    if (value == 0) return 0;
    const nameEnd = scanKeyEnd;
    const nameEscaped = scanEscaped;
    const isDocuments = nameIsDocuments(name, nameEnd, nameEscaped);
    noteFault();
    let after: usize;
    let kind: i32;
    if (isDocuments && Mem.u8At(value) == 0x5b) {
      after = readDocuments(value, end);
      kind = JSON_ARRAY;
      scanClear();
    } else {
      if (isDocuments) documentCount = 0;
      scanClear();
      after = scanValue(value, end, 1);
      kind = scanKind;
      noteFault();
    }
    if (after == 0) return 0;
    putMember(input, name, nameEnd, nameEscaped, value, after, kind);
    q = skipSpace(after, end);
    if (q >= end) return broken(q);
    const c = Mem.u8At(q);
    if (c == 0x7d) return bodyEnd(q + 1, end);
    if (c != 0x2c) return broken(q);
    q = skipSpace(q + 1, end);
  }
}

/** The body must end after its value. */
function bodyEnd(after: usize, end: usize): usize {
  const rest = skipSpace(after, end);
  return rest == end ? after : broken(rest);
}

/** Reads the array at p, an entry for each element; they adjoin, as nothing else takes scratch meanwhile. */
function readDocuments(p: usize, end: usize): usize {
  documents = scratch(0);
  documentCount = 0;
  let q = skipSpace(p + 1, end);
  if (q < end && Mem.u8At(q) == 0x5d) return q + 1;
  while (true) {
    if (q >= end) return broken(q);
    const after = readDocument(q, end);
    if (after == 0) return 0;
    putDocument(q, after);
    q = skipSpace(after, end);
    if (q >= end) return broken(q);
    const c = Mem.u8At(q);
    if (c == 0x5d) return q + 1;
    if (c != 0x2c) return broken(q);
    q = skipSpace(q + 1, end);
  }
}

/** Reads one line, which is not blank. */
function readLine(start: usize, lineEnd: usize): void {
  let after = readDocument(start, lineEnd);
  if (after != 0) {
    const rest = skipSpace(after, lineEnd);
    if (rest != lineEnd) after = broken(rest);
  }
  if (after == 0) {
    documentStatus = DOC_BAD_JSON;
    documentAt = scanFailedAt;
    after = lineEnd;
  }
  if (documentCount == 0) documents = scratch(0);
  putDocument(start, after);
}

function putDocument(start: usize, end: usize): void {
  const entry = scratch(SPLIT_DOC_BYTES);
  Mem.putU32(entry + SPLIT_DOC_START, <u32>(start - input));
  Mem.putU32(entry + SPLIT_DOC_END, <u32>(end - input));
  Mem.putU32(entry + SPLIT_DOC_STATUS, documentStatus);
  Mem.putU32(entry + SPLIT_DOC_AT, <u32>(documentAt - input));
  Mem.putU32(entry + SPLIT_DOC_ID, idBytes == 0 ? 0 : <u32>(idAt - input));
  Mem.putU32(entry + SPLIT_DOC_ID_BYTES, idBytes);
  Mem.putU64(entry + SPLIT_DOC_HASH, idBytes == 0 ? 0 : hash64(idAt, idBytes));
  documentCount++;
}

/** Reads the document (or id) at p: `documentStatus`, `documentAt` and the id. 0 when the JSON is broken. */
function readDocument(p: usize, end: usize): usize {
  scanClear();
  documentStatus = DOC_NOT_OBJECT;
  documentAt = p;
  idBytes = 0;
  const first = Mem.u8At(p);
  let after: usize;
  if (first == QUOTE) {
    after = scanString(p, end);
    if (after == 0) return 0;
    takeId(p, after, scanEscaped);
    if (documentStatus == DOC_OK) documentStatus = DOC_ID_ONLY;
  } else {
    after = first == 0x7b ? readMembers(p, end) : scanValue(p, end, 0);
    if (after == 0) return 0;
  }
  if (scanFault != DOC_OK) {
    documentStatus = scanFault;
    documentAt = scanFaultAt;
  }
  return after;
}

/** Reads the object at p and takes its last member named "id". */
function readMembers(p: usize, end: usize): usize {
  documentStatus = DOC_NO_ID;
  let q = skipSpace(p + 1, end);
  if (q < end && Mem.u8At(q) == 0x7d) return q + 1;
  while (true) {
    const name = q;
    const value = scanKey(q, end);
    if (value == 0) return 0;
    const isId = nameIsId(name, scanKeyEnd, scanEscaped);
    const after = scanValue(value, end, 1);
    if (after == 0) return 0;
    if (isId) {
      documentStatus = DOC_BAD_ID;
      documentAt = value;
      idBytes = 0;
      if (scanKind == JSON_STRING) takeId(value, after, scanEscaped);
    }
    q = skipSpace(after, end);
    if (q >= end) return broken(q);
    const c = Mem.u8At(q);
    if (c == 0x7d) return q + 1;
    if (c != 0x2c) return broken(q);
    q = skipSpace(q + 1, end);
  }
}

/** Takes the string literal [start, end), scanned last, as the id, decoded in its place: DOC_OK or DOC_BAD_ID. */
function takeId(start: usize, end: usize, escaped: bool): void {
  documentStatus = DOC_BAD_ID;
  documentAt = start;
  if (scanFault != DOC_OK && stringIsFaulty(start, end)) return;
  idAt = start + 1;
  idBytes = escaped ? unescape(start, end, idAt) : <u32>(end - start - 2);
  if (idBytes > 0 && idBytes <= <u32>ID_BYTES_MAX) documentStatus = DOC_OK;
  else idBytes = 0;
}

/** Address of the decoded name, whose length goes to `nameBytes`; names too long to matter come out empty. */
function decodeName(start: usize, end: usize, escaped: bool): usize {
  nameBytes = <u32>(end - start - 2);
  if (!escaped) return start + 1;
  nameBytes = nameBytes <= NAME_BYTES ? unescape(start, end, NAME) : 0;
  return NAME;
}

let nameBytes: u32 = 0;

function nameIsId(start: usize, end: usize, escaped: bool): bool {
  const at = decodeName(start, end, escaped);
  return nameBytes == 2 && Mem.u16At(at) == 0x6469;
}

function nameIsDocuments(start: usize, end: usize, escaped: bool): bool {
  const at = decodeName(start, end, escaped);
  return nameBytes == 9 && Mem.u64At(at) == 0x746e656d75636f64 && Mem.u8At(at + 8) == 0x73;
}
