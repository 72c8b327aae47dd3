// Walks the members of a JSON object and the elements of a JSON array. Both cursors are module globals and
// independent of each other, so the elements of a member's value can be walked between two members.
//
//   status = membersStart(p, end);              if (status != DOC_OK) ... at walkAt
//   while (membersNext()) { memberNameAt ... memberKind, memberStart, memberEnd }
//   if (walkStatus != DOC_OK) ... at walkAt

import { DOC_BAD_JSON, DOC_NOT_OBJECT, DOC_OK } from "../layout";
import { scratch } from "../memory/arena";
import { Mem } from "../memory/mem";
import {
  JSON_STRING,
  scanClear,
  scanEscaped,
  scanFailedAt,
  scanFault,
  scanFaultAt,
  scanKey,
  scanKeyEnd,
  scanKind,
  scanValue,
  skipSpace,
} from "./json";
import { unescape } from "./json-values";

/** DOC_OK, or why the walk ended early. */
export let walkStatus: i32 = DOC_OK;
/** Address of the trouble. */
export let walkAt: usize = 0;

/** The member's name: address and length of its decoded bytes (in the text, or in scratch when escaped). */
export let memberNameAt: usize = 0;
export let memberNameBytes: u32 = 0;
/** Address of the opening quote of the name. */
export let memberNameStart: usize = 0;
/** JSON_* of the value, and its range in the text; a string's range includes its quotes. */
export let memberKind: i32 = 0;
export let memberStart: usize = 0;
export let memberEnd: usize = 0;
/** The value is a string with at least one escape; without, the text between the quotes is the string. */
export let memberEscaped: bool = false;

let membersCursor: usize = 0;
let membersEnd: usize = 0;

function stop(status: i32, at: usize): bool {
  walkStatus = status;
  walkAt = at;
  return false;
}

/**
 * Begins the walk over the text [p, end), which must be one JSON object and white space.
 * DOC_OK, DOC_NOT_OBJECT (a JSON value of another kind) or DOC_BAD_JSON, the last two with `walkAt`.
 */
export function membersStart(p: usize, end: usize): i32 {
  scanClear();
  walkStatus = DOC_OK;
  membersEnd = end;
  p = skipSpace(p, end);
  if (p < end && Mem.u8At(p) == 0x7b) {
    membersCursor = p + 1;
    memberStart = 0;
    return DOC_OK;
  }
  const after = scanValue(p, end, 0);
  if (after == 0) stop(DOC_BAD_JSON, scanFailedAt);
  else if (skipSpace(after, end) != end) stop(DOC_BAD_JSON, skipSpace(after, end));
  else stop(DOC_NOT_OBJECT, p);
  return walkStatus;
}

/**
 * Moves to the next member and validates its whole value. False at the end of the object and on trouble;
 * then `walkStatus` tells: DOC_OK only when everything up to the end of the text was well formed.
 * Names repeat when the text repeats them; the last one counts. An escaped name takes scratch.
 */
export function membersNext(): bool {
  const end = membersEnd;
  let p = skipSpace(membersCursor, end);
  if (p >= end) return stop(DOC_BAD_JSON, p);
  const c = Mem.u8At(p);
  if (c == 0x7d) {
    p = skipSpace(p + 1, end);
    return p == end ? false : stop(DOC_BAD_JSON, p);
  }
  if (memberStart != 0) {
    if (c != 0x2c) return stop(DOC_BAD_JSON, p);
    p = skipSpace(p + 1, end);
  }
  memberNameStart = p;
  const value = scanKey(p, end);
  if (value == 0) return stop(DOC_BAD_JSON, scanFailedAt);
  const nameEscaped = scanEscaped;
  const nameEnd = scanKeyEnd;
  const after = scanValue(value, end, 1);
  if (after == 0) return stop(DOC_BAD_JSON, scanFailedAt);
  if (scanFault != DOC_OK) return stop(scanFault, scanFaultAt);
  memberNameAt = memberNameStart + 1;
  memberNameBytes = <u32>(nameEnd - memberNameStart - 2);
  if (nameEscaped) {
    memberNameAt = scratch(memberNameBytes);
    memberNameBytes = unescape(memberNameStart, nameEnd, memberNameAt);
  }
  memberKind = scanKind;
  memberStart = value;
  memberEnd = after;
  memberEscaped = scanKind == JSON_STRING && scanEscaped;
  membersCursor = after;
  return true;
}

/** JSON_* of the element, its range in the text, and whether it is a string with escapes. */
export let elementKind: i32 = 0;
export let elementStart: usize = 0;
export let elementEnd: usize = 0;
export let elementEscaped: bool = false;

let elementsCursor: usize = 0;
let elementsEnd: usize = 0;

/** Begins the walk over the array [start, end), brackets included, that a scan has found well formed. */
export function elementsStart(start: usize, end: usize): void {
  elementsCursor = start + 1;
  elementsEnd = end - 1;
}

/** Moves to the next element; false when there is none. */
export function elementsNext(): bool {
  const p = skipSpace(elementsCursor, elementsEnd);
  if (p >= elementsEnd) return false;
  const after = scanValue(p, elementsEnd, 2);
  elementKind = scanKind;
  elementStart = p;
  elementEnd = after;
  elementEscaped = scanKind == JSON_STRING && scanEscaped;
  elementsCursor = skipSpace(after, elementsEnd) + 1; // over the comma
  return true;
}
