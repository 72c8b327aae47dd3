// Walks the members of a JSON object and the elements of a JSON array. The two cursors are independent of
// each other, so the elements of a member's value can be walked between two members.
//
//   status = members.begin(p, end);             if (status != DOC_OK) ... at members.stoppedAt
//   while (members.next()) { members.nameAt ... members.kind, members.start, members.end }
//   if (members.status != DOC_OK) ... at members.stoppedAt

import { DOC_BAD_JSON, DOC_NOT_OBJECT, DOC_OK } from "../layout";
import { scratch, scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { JSON_STRING, Scan, skipSpace } from "./json";
import { unescape } from "./json-values";

/** A walk over one object's members. Allocated in scratch memory. */
@unmanaged
export class Members {
  scan: Scan;
  /** DOC_OK, or the error that ended the walk early. */
  status: i32;
  /** Address of that error. Valid only if `status` is not DOC_OK. */
  stoppedAt: usize;

  /** Address and length of the member's decoded name (in the text, or in scratch if it has escapes). */
  nameAt: usize;
  nameBytes: u32;
  /** Address of the name's opening quote. */
  nameStart: usize;
  /** The value's kind (JSON_*) and its range in the text. A string's range includes its quotes. */
  kind: i32;
  start: usize;
  end: usize;
  /**
   * True if the value is a string with at least one escape. A string without escapes is the text between its
   * quotes.
   */
  escaped: bool;

  private cursor: usize;
  private textEnd: usize;

  static make(): Members {
    const made = changetype<Members>(scratchZeroed(offsetof<Members>()));
    made.scan = Scan.make();
    return made;
  }

  private stop(status: i32, at: usize): bool {
    this.status = status;
    this.stoppedAt = at;
    return false;
  }

  /**
   * Starts the walk over the text [p, end), which must be one JSON object and white space. Returns DOC_OK,
   * DOC_NOT_OBJECT (a JSON value of another kind) or DOC_BAD_JSON; the last two also set `stoppedAt`.
   */
  begin(p: usize, end: usize): i32 {
    const scan = this.scan;
    scan.clearFault();
    this.status = DOC_OK;
    this.textEnd = end;
    p = skipSpace(p, end);
    if (p < end && Mem.u8At(p) == 0x7b) {
      this.cursor = p + 1;
      this.start = 0;
      return DOC_OK;
    }
    const after = scan.value(p, end, 0);
    if (after == 0) this.stop(DOC_BAD_JSON, scan.failedAt);
    else if (skipSpace(after, end) != end) this.stop(DOC_BAD_JSON, skipSpace(after, end));
    else this.stop(DOC_NOT_OBJECT, p);
    return this.status;
  }

  /**
   * Moves to the next member and validates its whole value. Returns false at the end of the object and on an
   * error; `status` is DOC_OK only if everything up to the end of the text was well formed. A repeated name
   * is reported each time; callers use the last. An escaped name allocates scratch memory.
   */
  next(): bool {
    const scan = this.scan;
    const end = this.textEnd;
    let p = skipSpace(this.cursor, end);
    if (p >= end) return this.stop(DOC_BAD_JSON, p);
    const c = Mem.u8At(p);
    if (c == 0x7d) {
      p = skipSpace(p + 1, end);
      return p == end ? false : this.stop(DOC_BAD_JSON, p);
    }
    if (this.start != 0) {
      if (c != 0x2c) return this.stop(DOC_BAD_JSON, p);
      p = skipSpace(p + 1, end);
    }
    const value = scan.key(p, end);
    if (value == 0) return this.stop(DOC_BAD_JSON, scan.failedAt);
    const nameEscaped = scan.escaped;
    const nameEnd = scan.keyEnd;
    const after = scan.value(value, end, 1);
    if (after == 0) return this.stop(DOC_BAD_JSON, scan.failedAt);
    if (scan.fault != DOC_OK) return this.stop(scan.fault, scan.faultAt);
    this.nameStart = p;
    this.nameAt = p + 1;
    this.nameBytes = <u32>(nameEnd - p - 2);
    if (nameEscaped) {
      this.nameAt = scratch(this.nameBytes);
      this.nameBytes = unescape(p, nameEnd, this.nameAt);
    }
    this.kind = scan.kind;
    this.start = value;
    this.end = after;
    this.escaped = scan.kind == JSON_STRING && scan.escaped;
    this.cursor = after;
    return true;
  }
}

/** A walk over one array's elements. Allocated in scratch memory. */
@unmanaged
export class ArrayElements {
  scan: Scan;
  /** The current element's kind (JSON_*), its range in the text, and whether it is a string with escapes. */
  kind: i32;
  start: usize;
  end: usize;
  escaped: bool;

  private cursor: usize;
  private arrayEnd: usize; // address of the closing bracket

  static make(): ArrayElements {
    const made = changetype<ArrayElements>(scratchZeroed(offsetof<ArrayElements>()));
    made.scan = Scan.make();
    return made;
  }

  /**
   * Starts the walk over the array [start, end), brackets included. A scan must already have found it well
   * formed.
   */
  begin(start: usize, end: usize): void {
    this.cursor = start + 1;
    this.arrayEnd = end - 1;
  }

  /** Moves to the next element. Returns false if there is none. */
  next(): bool {
    const scan = this.scan;
    const end = this.arrayEnd;
    const p = skipSpace(this.cursor, end);
    if (p >= end) return false;
    const after = scan.value(p, end, 2);
    this.kind = scan.kind;
    this.start = p;
    this.end = after;
    this.escaped = scan.kind == JSON_STRING && scan.escaped;
    this.cursor = skipSpace(after, end) + 1; // past the comma
    return true;
  }
}
