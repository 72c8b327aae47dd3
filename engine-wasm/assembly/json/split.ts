// Splits a request into documents in one pass without building anything: a batch body {"documents": [...],
// ...} or lines of NDJSON. Reads only each document's id and verifies that its JSON is well formed. The
// result's layout is SPLIT_* in layout.ts. Decoded ids and names overwrite their own text in the input (a
// decoded string is never longer than its literal), so the host reads them there.

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
import { equalBytes } from "../memory/order";
import { JSON_ARRAY, JSON_STRING, Scan, skipSpace } from "./json";
import { unescape } from "./json-values";
import { MemberList } from "./top-level";

const QUOTE: u32 = 0x22;
// Longer escaped names are not decoded. 64 bytes are enough for "documents" with every letter escaped.
const NAME_BYTES: u32 = 64;
const DECODED: usize = memory.data(64);
const ID_NAME: usize = memory.data<u8>([0x69, 0x64]);
const DOCUMENTS_NAME: usize = memory.data<u8>([0x64, 0x6f, 0x63, 0x75, 0x6d, 0x65, 0x6e, 0x74, 0x73]);

/**
 * Splits a batch body, the `bytes` bytes at p, which must be in scratch memory. Returns the address of the
 * result.
 */
export function split(p: usize, bytes: usize): usize {
  return Split.make(p).body(p + bytes);
}

/**
 * Splits NDJSON lines, the `bytes` bytes at p in scratch memory. Unless `last`, a final line without a line
 * feed is left for the next piece (SPLIT_CONSUMED). Skips blank lines and a byte order mark. A broken line
 * counts as one failed document. Returns the address of the result.
 */
export function splitLines(p: usize, bytes: usize, last: bool): usize {
  return Split.make(p).lines(p + bytes, last);
}

/** State while one request is split. In scratch, before the result. */
@unmanaged
class Split {
  input: usize; // address of the input, to which positions in the result are relative
  result: usize; // address of the result's header; the result's length is in the 4 bytes before it
  scan: Scan;
  members: MemberList;
  documents: usize; // address of the first document entry
  documentCount: u32;
  // DOC_* status of the last document that was read.
  status: i32;
  at: usize; // address of the error in that document
  idAt: usize;
  idBytes: u32;

  static make(input: usize): Split {
    const made = changetype<Split>(scratchZeroed(offsetof<Split>()));
    made.input = input;
    made.scan = Scan.make();
    made.members = MemberList.make(input);
    made.result = scratchZeroed(16 + SPLIT_HEADER_BYTES) + 16;
    return made;
  }

  /** Reads the body up to `end`. Returns the address of the result. */
  body(end: usize): usize {
    if (this.readBody(skipSpace(this.input, end), end) == 0)
      this.bodyStatus(DOC_BAD_JSON, this.scan.failedAt);
    this.members.finish(this.result);
    return this.finish();
  }

  /** Reads the lines up to `end`. Returns the address of the result. */
  lines(end: usize, last: bool): usize {
    let p = this.input;
    while (p < end) {
      let lineEnd = p;
      while (lineEnd < end && Mem.u8At(lineEnd) != 0x0a) lineEnd++;
      if (lineEnd == end && !last) break;
      if (lineEnd - p >= 3 && Mem.u16At(p) == 0xbbef && Mem.u8At(p + 2) == 0xbf) p += 3;
      const start = skipSpace(p, lineEnd);
      if (start < lineEnd) this.readLine(start, lineEnd);
      p = lineEnd < end ? lineEnd + 1 : lineEnd;
    }
    Mem.putU32(this.result + SPLIT_CONSUMED, <u32>(p - this.input));
    return this.finish();
  }

  private finish(): usize {
    if (Mem.u32At(this.result + SPLIT_STATUS) != DOC_OK) this.documentCount = 0;
    Mem.putU32(this.result + SPLIT_DOCUMENTS, this.documentCount);
    Mem.putU32(
      this.result + SPLIT_DOCUMENTS_AT,
      this.documentCount == 0 ? 0 : <u32>(this.documents - this.result),
    );
    Mem.putU32(this.result - 4, <u32>(scratch(0) - this.result));
    return this.result - 4;
  }

  private bodyStatus(status: i32, at: usize): void {
    Mem.putU32(this.result + SPLIT_STATUS, status);
    Mem.putU32(this.result + SPLIT_AT, <u32>(at - this.input));
  }

  /**
   * Records a fault outside the documents as the body's status, unless an error is already recorded there.
   */
  private noteFault(): void {
    const scan = this.scan;
    if (scan.fault != DOC_OK && Mem.u32At(this.result + SPLIT_STATUS) == DOC_OK)
      this.bodyStatus(scan.fault, scan.faultAt);
  }

  /** Reads the whole body. Returns 0 if the syntax is broken. */
  private readBody(p: usize, end: usize): usize {
    const scan = this.scan;
    if (p >= end || Mem.u8At(p) != 0x7b) {
      const after = scan.value(p, end, 0);
      if (after == 0) return 0;
      this.bodyStatus(DOC_NOT_OBJECT, p);
      return this.bodyEnd(after, end);
    }
    let q = skipSpace(p + 1, end);
    if (q < end && Mem.u8At(q) == 0x7d) return this.bodyEnd(q + 1, end);
    while (true) {
      const name = q;
      const value = scan.key(q, end);
      if (value == 0) return 0;
      const nameEnd = scan.keyEnd;
      const nameEscaped = scan.escaped;
      const isDocuments = isNamed(name, nameEnd, nameEscaped, DOCUMENTS_NAME, 9);
      this.noteFault();
      let after: usize;
      let kind: i32;
      if (isDocuments && Mem.u8At(value) == 0x5b) {
        after = this.readDocuments(value, end);
        kind = JSON_ARRAY;
        scan.clearFault();
      } else {
        if (isDocuments) this.documentCount = 0;
        scan.clearFault();
        after = scan.value(value, end, 1);
        kind = scan.kind;
        this.noteFault();
      }
      if (after == 0) return 0;
      this.members.putEscaped(name, nameEnd, nameEscaped, value, after, kind);
      q = skipSpace(after, end);
      if (q >= end) return scan.broken(q);
      const c = Mem.u8At(q);
      if (c == 0x7d) return this.bodyEnd(q + 1, end);
      if (c != 0x2c) return scan.broken(q);
      q = skipSpace(q + 1, end);
    }
  }

  /** Checks that only white space follows the body's value. */
  private bodyEnd(after: usize, end: usize): usize {
    const scan = this.scan;
    const rest = skipSpace(after, end);
    return rest == end ? after : scan.broken(rest);
  }

  /**
   * Reads the array at p and writes one entry per element. The entries are contiguous, because nothing else
   * allocates scratch.
   */
  private readDocuments(p: usize, end: usize): usize {
    const scan = this.scan;
    this.documents = scratch(0);
    this.documentCount = 0;
    let q = skipSpace(p + 1, end);
    if (q < end && Mem.u8At(q) == 0x5d) return q + 1;
    while (true) {
      if (q >= end) return scan.broken(q);
      const after = this.readDocument(q, end);
      if (after == 0) return 0;
      this.putDocument(q, after);
      q = skipSpace(after, end);
      if (q >= end) return scan.broken(q);
      const c = Mem.u8At(q);
      if (c == 0x5d) return q + 1;
      if (c != 0x2c) return scan.broken(q);
      q = skipSpace(q + 1, end);
    }
  }

  /** Reads one non-blank line. */
  private readLine(start: usize, lineEnd: usize): void {
    const scan = this.scan;
    let after = this.readDocument(start, lineEnd);
    if (after != 0) {
      const rest = skipSpace(after, lineEnd);
      if (rest != lineEnd) after = scan.broken(rest);
    }
    if (after == 0) {
      this.status = DOC_BAD_JSON;
      this.at = scan.failedAt;
      after = lineEnd;
    }
    if (this.documentCount == 0) this.documents = scratch(0);
    this.putDocument(start, after);
  }

  private putDocument(start: usize, end: usize): void {
    const entry = scratch(SPLIT_DOC_BYTES);
    Mem.putU32(entry + SPLIT_DOC_START, <u32>(start - this.input));
    Mem.putU32(entry + SPLIT_DOC_END, <u32>(end - this.input));
    Mem.putU32(entry + SPLIT_DOC_STATUS, this.status);
    Mem.putU32(entry + SPLIT_DOC_AT, <u32>(this.at - this.input));
    Mem.putU32(entry + SPLIT_DOC_ID, this.idBytes == 0 ? 0 : <u32>(this.idAt - this.input));
    Mem.putU32(entry + SPLIT_DOC_ID_BYTES, this.idBytes);
    Mem.putU64(entry + SPLIT_DOC_HASH, this.idBytes == 0 ? 0 : hash64(this.idAt, this.idBytes));
    this.documentCount++;
  }

  /** Reads the document (or id) at p: sets `status`, `at` and the id. Returns 0 if the JSON is broken. */
  private readDocument(p: usize, end: usize): usize {
    const scan = this.scan;
    scan.clearFault();
    this.status = DOC_NOT_OBJECT;
    this.at = p;
    this.idBytes = 0;
    const first = Mem.u8At(p);
    let after: usize;
    if (first == QUOTE) {
      after = scan.string(p, end);
      if (after == 0) return 0;
      this.takeId(p, after, scan.escaped);
      if (this.status == DOC_OK) this.status = DOC_ID_ONLY;
    } else {
      after = first == 0x7b ? this.readMembers(p, end) : scan.value(p, end, 0);
      if (after == 0) return 0;
    }
    if (scan.fault != DOC_OK) {
      this.status = scan.fault;
      this.at = scan.faultAt;
    }
    return after;
  }

  /** Reads the object at p and uses its last member named "id" as the id. */
  private readMembers(p: usize, end: usize): usize {
    const scan = this.scan;
    this.status = DOC_NO_ID;
    let q = skipSpace(p + 1, end);
    if (q < end && Mem.u8At(q) == 0x7d) return q + 1;
    while (true) {
      const name = q;
      const value = scan.key(q, end);
      if (value == 0) return 0;
      const isId = isNamed(name, scan.keyEnd, scan.escaped, ID_NAME, 2);
      const after = scan.value(value, end, 1);
      if (after == 0) return 0;
      if (isId) {
        this.status = DOC_BAD_ID;
        this.at = value;
        this.idBytes = 0;
        if (scan.kind == JSON_STRING) this.takeId(value, after, scan.escaped);
      }
      q = skipSpace(after, end);
      if (q >= end) return scan.broken(q);
      const c = Mem.u8At(q);
      if (c == 0x7d) return q + 1;
      if (c != 0x2c) return scan.broken(q);
      q = skipSpace(q + 1, end);
    }
  }

  /**
   * Uses the last scanned string literal [start, end) as the id and decodes it in place. Sets `status` to
   * DOC_OK or DOC_BAD_ID.
   */
  private takeId(start: usize, end: usize, escaped: bool): void {
    const scan = this.scan;
    this.status = DOC_BAD_ID;
    this.at = start;
    if (scan.fault != DOC_OK && scan.stringIsFaulty(start, end)) return;
    this.idAt = start + 1;
    this.idBytes = escaped ? unescape(start, end, this.idAt) : <u32>(end - start - 2);
    if (this.idBytes > 0 && this.idBytes <= <u32>ID_BYTES_MAX) this.status = DOC_OK;
    else this.idBytes = 0;
  }
}

/** True if the name literal [start, end) decodes to the `length` bytes at `name`. */
function isNamed(start: usize, end: usize, escaped: bool, name: usize, length: u32): bool {
  let at = start + 1;
  let bytes = <u32>(end - start - 2);
  if (escaped) {
    if (bytes > NAME_BYTES) return false;
    bytes = unescape(start, end, DECODED);
    at = DECODED;
  }
  return bytes == length && equalBytes(at, name, length);
}
