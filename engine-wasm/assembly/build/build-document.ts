// Checks one raw document against the schema before anything of it is kept: JSON, id, types, ranges, required
// fields, embedding. Afterwards every column knows the document's value; numbers are parsed.

import { JSON_ARRAY, JSON_FALSE, JSON_NULL, JSON_NUMBER, JSON_STRING, JSON_TRUE } from "../json/json";
import {
  INTEGER_FRACTION,
  INTEGER_OK,
  integerValue,
  parseFloat64,
  parseInteger,
  unescape,
} from "../json/json-values";
import {
  elementEnd,
  elementKind,
  elementStart,
  elementsNext,
  elementsStart,
  memberEnd,
  memberEscaped,
  memberKind,
  memberNameAt,
  memberNameBytes,
  memberStart,
  membersNext,
  membersStart,
  walkAt,
  walkStatus,
} from "../json/json-walk";
import {
  DOC_BAD_EMBEDDING,
  DOC_BAD_ID,
  DOC_MISSING_FIELD,
  DOC_NO_ID,
  DOC_OK,
  DOC_OUT_OF_RANGE,
  DOC_WRONG_TYPE,
  EMBEDDING_SIZE,
  FLAG_REQUIRED,
  ID_BYTES_MAX,
  TYPE_BOOL,
  TYPE_FLOAT,
  TYPE_FLOATS,
  TYPE_INT32,
  TYPE_INT32S,
  TYPE_INT64,
  TYPE_STRING,
  TYPE_STRINGS,
} from "../layout";
import { Mem } from "../memory/mem";
import { isArrayType, unknownType } from "../segment/segment";
import {
  Column,
  cellsNeed,
  columnAt,
  columnCount,
  columnNamed,
  embeddingColumn,
  idColumn,
} from "./build-schema";

const NO_SLOT: u32 = 0xffffffff;

/** Why `checkDocument` refused the document: DOC_*, slot or NO_SLOT, byte position in the document. */
export let refusedCode: i32 = DOC_OK;
export let refusedSlot: u32 = NO_SLOT;
export let refusedAt: u32 = 0;

/** The id of the document checked last, decoded. */
export let idAt: usize = 0;
export let idBytes: u32 = 0;

let document: usize = 0;

function refuse(code: i32, slot: u32, at: usize): bool {
  refusedCode = code;
  refusedSlot = slot;
  refusedAt = <u32>(at - document);
  return false;
}

function clearColumn(column: Column): void {
  column.kind = JSON_NULL;
  column.pending = 0;
}

/** Notes where each field's value is; of a repeated name the last counts. */
function readMembers(p: usize, end: usize): bool {
  clearColumn(idColumn);
  idColumn.start = 0;
  clearColumn(embeddingColumn);
  for (let i: u32 = 0; i < columnCount; i++) clearColumn(columnAt(i));
  if (membersStart(p, end) != DOC_OK) return refuse(walkStatus, NO_SLOT, walkAt);
  while (membersNext()) {
    const column = columnNamed(memberNameAt, memberNameBytes);
    if (changetype<usize>(column) == 0) continue;
    column.kind = memberKind;
    column.start = memberStart;
    column.end = memberEnd;
    column.escaped = <u32>memberEscaped;
  }
  return walkStatus == DOC_OK || refuse(walkStatus, NO_SLOT, walkAt);
}

function checkId(): bool {
  if (idColumn.start == 0) return refuse(DOC_NO_ID, NO_SLOT, document);
  if (idColumn.kind != JSON_STRING) return refuse(DOC_BAD_ID, NO_SLOT, idColumn.start);
  idAt = idColumn.start + 1;
  idBytes =
    idColumn.escaped != 0
      ? unescape(idColumn.start, idColumn.end, idAt)
      : <u32>(idColumn.end - idColumn.start - 2);
  if (idBytes == 0 || idBytes > <u32>ID_BYTES_MAX) return refuse(DOC_BAD_ID, NO_SLOT, idColumn.start);
  return true;
}

function checkEmbedding(): bool {
  if (embeddingColumn.kind == JSON_NULL) return true;
  const start = embeddingColumn.start;
  if (embeddingColumn.kind != JSON_ARRAY) return refuse(DOC_BAD_EMBEDDING, NO_SLOT, start);
  let count: i32 = 0;
  elementsStart(start, embeddingColumn.end);
  while (elementsNext()) {
    const finite = elementKind == JSON_NUMBER && isFinite(parseFloat64(elementStart, elementEnd));
    if (!finite || count == EMBEDDING_SIZE) return refuse(DOC_BAD_EMBEDDING, NO_SLOT, elementStart);
    count++;
  }
  return count == EMBEDDING_SIZE || refuse(DOC_BAD_EMBEDDING, NO_SLOT, start);
}

let parsed: u64 = 0;

/** Parses a number into `parsed`. Returns DOC_OK, DOC_WRONG_TYPE (not whole) or DOC_OUT_OF_RANGE. */
function parseNumberAs(type: u32, start: usize, end: usize): i32 {
  let narrow = false;
  switch (type) {
    case TYPE_FLOAT:
    case TYPE_FLOATS: {
      const value = parseFloat64(start, end);
      if (!isFinite(value)) return DOC_OUT_OF_RANGE;
      parsed = value == 0 ? 0 : reinterpret<u64>(value); // -0 is 0
      return DOC_OK;
    }
    case TYPE_INT32:
    case TYPE_INT32S:
      narrow = true;
      break;
    case TYPE_INT64:
      break;
    default:
      unknownType();
      return DOC_WRONG_TYPE;
  }
  const status = parseInteger(start, end);
  if (status == INTEGER_FRACTION) return DOC_WRONG_TYPE;
  if (status != INTEGER_OK || (narrow && integerValue != <i64>(<i32>integerValue))) return DOC_OUT_OF_RANGE;
  parsed = <u64>integerValue;
  return DOC_OK;
}

function checkArray(column: Column): bool {
  if (column.kind != JSON_ARRAY) return refuse(DOC_WRONG_TYPE, column.slot, column.start);
  const wanted = column.type == TYPE_STRINGS ? JSON_STRING : JSON_NUMBER;
  elementsStart(column.start, column.end);
  while (elementsNext()) {
    if (elementKind != wanted) return refuse(DOC_WRONG_TYPE, column.slot, elementStart);
    column.pending++;
    if (wanted == JSON_STRING) continue;
    const code = parseNumberAs(column.type, elementStart, elementEnd);
    if (code != DOC_OK) return refuse(code, column.slot, elementStart);
    cellsNeed(column, column.pending);
    Mem.putU64(column.cells + ((<usize>(column.elements + column.pending - 1)) << 3), parsed);
  }
  return true;
}

function checkColumn(column: Column): bool {
  const kind = column.kind;
  if (kind == JSON_NULL) {
    if ((column.flags & FLAG_REQUIRED) == 0) return true;
    return refuse(DOC_MISSING_FIELD, column.slot, document);
  }
  if (isArrayType(column.type)) return checkArray(column);
  if (column.type == TYPE_STRING) {
    return kind == JSON_STRING || refuse(DOC_WRONG_TYPE, column.slot, column.start);
  }
  if (column.type == TYPE_BOOL) {
    column.number = kind == JSON_TRUE ? 1 : 0;
    return kind == JSON_TRUE || kind == JSON_FALSE || refuse(DOC_WRONG_TYPE, column.slot, column.start);
  }
  if (kind != JSON_NUMBER) return refuse(DOC_WRONG_TYPE, column.slot, column.start);
  const code = parseNumberAs(column.type, column.start, column.end);
  column.number = parsed;
  return code == DOC_OK || refuse(code, column.slot, column.start);
}

/** Checks the document at [p, end). False when it is refused; then nothing of it is in any column. */
export function checkDocument(p: usize, end: usize): bool {
  document = p;
  if (!readMembers(p, end) || !checkId() || !checkEmbedding()) return false;
  for (let i: u32 = 0; i < columnCount; i++) {
    if (!checkColumn(columnAt(i))) return false;
  }
  return true;
}
