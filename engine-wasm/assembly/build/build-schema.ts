// The fields of the segment being built. Reads the schema program into columns, one per field, sorted by
// slot, and looks up columns by member name. A column also keeps the position of the field's value in the
// current document.
//
//   program: | u16 fields | per field: u16 slot, u8 type, u8 flags, u8 language, u16 name bytes, name |

import { LANGUAGE_NUMBER_MAX } from "../layout";
import { scratch, scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { hasDictionary } from "../segment/field-sections";
import { isArrayType, isKnownType, isStringType } from "../segment/field-type";
import { EMBEDDING_NAME, EMBEDDING_NAME_BYTES } from "../vector/embedding";
import { ENTRY_HEADER, KeyTable, Pool, tableCreate, tableEnter, tableFind } from "./key-table";

@unmanaged
export class Column {
  slot: u32;
  type: u32;
  flags: u32;
  language: u32; // number of the text's language; 0 = none
  rows: u32; // capacity in rows of `offsets`, `present` and `norms`
  elements: u32; // number of elements in all rows added so far
  capacity: u32; // capacity of `cells`, in elements
  // 8 bytes per element: an i64, the bits of an f64, a hash, or the address of a dictionary value.
  cells: usize;
  offsets: usize; // u32[rows + 1]: each row's first element; only if the field is an array
  present: usize; // bitset of the rows with a value
  norms: usize; // u8[rows]
  values: usize; // string field with a dictionary: linked list of its distinct values, newest first
  valueCount: u32;
  rawBytes: u32; // total size in bytes of the distinct values
  foldedBytes: u32;
  // The current document's value. `kind` is JSON_*; JSON_NULL (0) if there is no value.
  kind: i32;
  escaped: u32;
  start: usize;
  end: usize;
  number: u64; // the value, if it is a single number or bool: an i64 or the bits of an f64
  // Number of array elements checked so far; numbers are already in `cells`, from index `elements`.
  pending: u32;
}

const FIELD_HEAD: usize = 7;
const NAME_COLUMN: usize = ENTRY_HEADER; // offset in a name's entry: u32, the column's address
const NAME_ENTRY_BYTES: u32 = 16;
const CELLS_FIRST: u32 = 64;
const ID_NAME: usize = memory.data<u8>([0x69, 0x64]);

/** One build's fields. Allocated in scratch memory. */
@unmanaged
export class Schema {
  columnCount: u32;
  private columns: usize; // u32[]: addresses of the columns, in slot order
  /** Pseudo columns for the `id` and `embedding` members. They contain only the current document's value. */
  idColumn: Column;
  embeddingColumn: Column;
  private names: KeyTable;

  static make(pool: Pool): Schema {
    const made = changetype<Schema>(scratchZeroed(offsetof<Schema>()));
    made.names = tableCreate(pool, NAME_ENTRY_BYTES, 256);
    made.idColumn = made.reserved(ID_NAME, 2);
    made.embeddingColumn = made.reserved(EMBEDDING_NAME, EMBEDDING_NAME_BYTES);
    return made;
  }

  @inline column(i: u32): Column {
    return changetype<Column>(<usize>Mem.u32At(this.columns + ((<usize>i) << 2)));
  }

  /** The column or pseudo column for a member name, or 0 if there is none. */
  columnNamed(at: usize, length: u32): Column {
    const entry = tableFind(this.names, at, length, 0);
    return changetype<Column>(entry == 0 ? <usize>0 : <usize>Mem.u32At(entry + NAME_COLUMN));
  }

  /**
   * Reads the program at p for up to `rows` documents. `schemaEnd` must already have found the program
   * complete. Returns false if the program has an unknown type or language, a duplicate slot or name, or a
   * reserved name.
   */
  read(p: usize, rows: u32): bool {
    const fields = Mem.u16At(p);
    this.columns = scratch((<usize>fields) << 2);
    p += 2;
    for (let i: u32 = 0; i < fields; i++) {
      const nameBytes = Mem.u16At(p + 5);
      if (!isKnownType(Mem.u8At(p + 2)) || Mem.u8At(p + 4) > <u32>LANGUAGE_NUMBER_MAX) return false;
      const column = createColumn(p, rows);
      if (!this.insertBySlot(column) || !this.putName(p + FIELD_HEAD, nameBytes, column)) return false;
      p += FIELD_HEAD + nameBytes;
    }
    return true;
  }

  private insertBySlot(column: Column): bool {
    let i = this.columnCount;
    for (; i > 0 && this.column(i - 1).slot >= column.slot; i--) {
      if (this.column(i - 1).slot == column.slot) return false;
      this.putColumn(i, this.column(i - 1));
    }
    this.putColumn(i, column);
    this.columnCount++;
    return true;
  }

  private putColumn(i: u32, column: Column): void {
    Mem.putU32(this.columns + ((<usize>i) << 2), <u32>changetype<usize>(column));
  }

  /** Assigns a name to its column. Returns false if the name is already taken. */
  private putName(at: usize, length: u32, column: Column): bool {
    const entry = tableEnter(this.names, at, length, 0);
    if (Mem.u32At(entry + NAME_COLUMN) != 0) return false;
    Mem.putU32(entry + NAME_COLUMN, <u32>changetype<usize>(column));
    return true;
  }

  private reserved(name: usize, length: u32): Column {
    const column = newColumn();
    this.putName(name, length, column);
    return column;
  }
}

function newColumn(): Column {
  return changetype<Column>(scratchZeroed(offsetof<Column>()));
}

function createColumn(field: usize, rows: u32): Column {
  const column = newColumn();
  column.slot = Mem.u16At(field);
  column.type = Mem.u8At(field + 2);
  column.flags = Mem.u8At(field + 3);
  column.language = Mem.u8At(field + 4);
  column.rows = rows;
  column.capacity = isArrayType(column.type) ? CELLS_FIRST : rows;
  column.cells = scratch((<usize>column.capacity) << 3);
  column.present = scratchZeroed((<usize>((rows + 63) >> 6)) << 3);
  if (isArrayType(column.type)) column.offsets = scratchZeroed((<usize>rows + 1) << 2);
  if (isStringType(column.type)) column.norms = scratchZeroed(rows);
  return column;
}

/** Address after the program at [p, end), or 0 if it is truncated. */
export function schemaEnd(p: usize, end: usize): usize {
  if (p + 2 > end) return 0;
  let fields = Mem.u16At(p);
  for (p += 2; fields > 0; fields--) {
    if (p + FIELD_HEAD > end) return 0;
    p += FIELD_HEAD + Mem.u16At(p + 5);
  }
  return p <= end ? p : 0;
}

/** True if the field's text values go into a dictionary. */
export function keepsValues(column: Column): bool {
  return isStringType(column.type) && hasDictionary(column.type, column.flags);
}

/** Makes room for `count` cells after `elements`. Existing cells are kept but may move. */
export function cellsNeed(column: Column, count: u32): void {
  const needed = column.elements + count;
  if (needed <= column.capacity) return;
  const capacity = max(needed, column.capacity << 1);
  const cells = scratch((<usize>capacity) << 3);
  Mem.copy(cells, column.cells, (<usize>column.capacity) << 3);
  column.cells = cells;
  column.capacity = capacity;
}
