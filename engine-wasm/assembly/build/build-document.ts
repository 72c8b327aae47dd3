// Checks one raw document against the schema before any of it is kept: JSON, id, types, ranges, required
// fields, embedding. If the document passes, each column points to its value in the JSON, and numbers are
// already parsed.

import { JSON_ARRAY, JSON_FALSE, JSON_NULL, JSON_NUMBER, JSON_STRING, JSON_TRUE } from "../json/json";
import { Decimal, INTEGER_FRACTION, INTEGER_OK, unescape } from "../json/json-values";
import { ArrayElements, Members } from "../json/json-walk";
import {
  DOC_BAD_EMBEDDING,
  DOC_BAD_ID,
  DOC_MISSING_FIELD,
  DOC_NO_ID,
  DOC_OK,
  DOC_OUT_OF_RANGE,
  DOC_WRONG_TYPE,
  FLAG_REQUIRED,
  ID_BYTES_MAX,
  TYPE_BOOL,
} from "../layout";
import { scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { isArrayType, isFloatType, isStringType, largestInteger, leastInteger } from "../segment/field-type";
import { EmbeddingReader } from "../vector/embedding";
import { Column, cellsNeed, Schema } from "./build-schema";

const NO_SLOT: u32 = 0xffffffff;

function clearColumn(column: Column): void {
  column.kind = JSON_NULL;
  column.pending = 0;
}

/** Checks one build's documents in turn. Allocated in scratch memory. */
@unmanaged
export class DocumentCheck {
  schema: Schema;
  members: Members;
  elements: ArrayElements;
  decimal: Decimal;
  embedding: EmbeddingReader;
  document: usize; // address of the current document
  number: u64; // the last number that was parsed: an i64 or the bits of an f64

  /**
   * Why the document was refused: a DOC_* code, the field's slot or NO_SLOT, and the byte position in the
   * document.
   */
  refusedCode: i32;
  refusedSlot: u32;
  refusedAt: u32;

  /** The last checked document's decoded id. */
  idAt: usize;
  idBytes: u32;

  static make(schema: Schema): DocumentCheck {
    const made = changetype<DocumentCheck>(scratchZeroed(offsetof<DocumentCheck>()));
    made.schema = schema;
    made.members = Members.make();
    made.elements = ArrayElements.make();
    made.decimal = Decimal.make();
    made.embedding = EmbeddingReader.make();
    return made;
  }

  /**
   * Checks the document at [p, end). Returns false if it is refused. A refused document adds nothing to the
   * columns.
   */
  accepts(p: usize, end: usize): bool {
    this.document = p;
    if (!this.readMembers(p, end) || !this.checkId() || !this.checkEmbedding()) return false;
    for (let i: u32 = 0; i < this.schema.columnCount; i++) {
      if (!this.checkColumn(this.schema.column(i))) return false;
    }
    return true;
  }

  private refuse(code: i32, slot: u32, at: usize): bool {
    this.refusedCode = code;
    this.refusedSlot = slot;
    this.refusedAt = <u32>(at - this.document);
    return false;
  }

  /** Records where each field's value is. If a member occurs more than once, the last one wins. */
  private readMembers(p: usize, end: usize): bool {
    const schema = this.schema;
    const members = this.members;
    clearColumn(schema.idColumn);
    schema.idColumn.start = 0;
    clearColumn(schema.embeddingColumn);
    for (let i: u32 = 0; i < schema.columnCount; i++) clearColumn(schema.column(i));
    if (members.begin(p, end) != DOC_OK) return this.refuse(members.status, NO_SLOT, members.stoppedAt);
    while (members.next()) {
      const column = schema.columnNamed(members.nameAt, members.nameBytes);
      if (changetype<usize>(column) == 0) continue;
      column.kind = members.kind;
      column.start = members.start;
      column.end = members.end;
      column.escaped = <u32>members.escaped;
    }
    return members.status == DOC_OK || this.refuse(members.status, NO_SLOT, members.stoppedAt);
  }

  private checkId(): bool {
    const column = this.schema.idColumn;
    if (column.start == 0) return this.refuse(DOC_NO_ID, NO_SLOT, this.document);
    if (column.kind != JSON_STRING) return this.refuse(DOC_BAD_ID, NO_SLOT, column.start);
    this.idAt = column.start + 1;
    this.idBytes =
      column.escaped != 0
        ? unescape(column.start, column.end, this.idAt)
        : <u32>(column.end - column.start - 2);
    if (this.idBytes == 0 || this.idBytes > <u32>ID_BYTES_MAX)
      return this.refuse(DOC_BAD_ID, NO_SLOT, column.start);
    return true;
  }

  private checkEmbedding(): bool {
    const column = this.schema.embeddingColumn;
    if (!this.hasEmbedding || this.embedding.read(column.kind, column.start, column.end)) return true;
    return this.refuse(DOC_BAD_EMBEDDING, NO_SLOT, this.embedding.refusedAt);
  }

  /** True if the last checked document has a vector. If so, `embedding` has read it. */
  get hasEmbedding(): bool {
    return this.schema.embeddingColumn.kind != JSON_NULL;
  }

  /**
   * Parses a number into `number`. Returns DOC_OK, DOC_WRONG_TYPE (a fraction for an integer type) or
   * DOC_OUT_OF_RANGE.
   */
  private parseNumberAs(type: u32, start: usize, end: usize): i32 {
    if (isFloatType(type)) {
      const value = this.decimal.readFloat64(start, end);
      if (!isFinite(value)) return DOC_OUT_OF_RANGE;
      this.number = value == 0 ? 0 : reinterpret<u64>(value); // -0 is stored as 0
      return DOC_OK;
    }
    const status = this.decimal.readInteger(start, end);
    const integer = this.decimal.integer;
    if (status == INTEGER_FRACTION) return DOC_WRONG_TYPE;
    if (status != INTEGER_OK || integer < leastInteger(type) || integer > largestInteger(type))
      return DOC_OUT_OF_RANGE;
    this.number = <u64>integer;
    return DOC_OK;
  }

  private checkArray(column: Column): bool {
    const elements = this.elements;
    if (column.kind != JSON_ARRAY) return this.refuse(DOC_WRONG_TYPE, column.slot, column.start);
    const wanted = isStringType(column.type) ? JSON_STRING : JSON_NUMBER;
    elements.begin(column.start, column.end);
    while (elements.next()) {
      if (elements.kind != wanted) return this.refuse(DOC_WRONG_TYPE, column.slot, elements.start);
      column.pending++;
      if (wanted == JSON_STRING) continue;
      const code = this.parseNumberAs(column.type, elements.start, elements.end);
      if (code != DOC_OK) return this.refuse(code, column.slot, elements.start);
      cellsNeed(column, column.pending);
      Mem.putU64(column.cells + ((<usize>(column.elements + column.pending - 1)) << 3), this.number);
    }
    return true;
  }

  private checkColumn(column: Column): bool {
    const kind = column.kind;
    if (kind == JSON_NULL) {
      if ((column.flags & FLAG_REQUIRED) == 0) return true;
      return this.refuse(DOC_MISSING_FIELD, column.slot, this.document);
    }
    if (isArrayType(column.type)) return this.checkArray(column);
    if (isStringType(column.type)) {
      return kind == JSON_STRING || this.refuse(DOC_WRONG_TYPE, column.slot, column.start);
    }
    if (column.type == TYPE_BOOL) {
      column.number = kind == JSON_TRUE ? 1 : 0;
      return (
        kind == JSON_TRUE || kind == JSON_FALSE || this.refuse(DOC_WRONG_TYPE, column.slot, column.start)
      );
    }
    if (kind != JSON_NUMBER) return this.refuse(DOC_WRONG_TYPE, column.slot, column.start);
    const code = this.parseNumberAs(column.type, column.start, column.end);
    column.number = this.number;
    return code == DOC_OK || this.refuse(code, column.slot, column.start);
  }
}
