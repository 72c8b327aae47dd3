// A segment's deleted rows in stored form, which is one bit per row in an envelope. The engine works on its
// own bitsets of live rows, which are derived from this form. Immutable: a change creates a new object.
import { DamagedBytesError, ENVELOPE_DELETED_ROWS, seal, unseal } from "../storage/envelope.js";
import { deletedRowsKey, describeKey } from "../storage/keyspace.js";
import type { Store } from "../storage/store.js";
import type { SegmentRecord } from "./manifest.js";

const DELETED_ROWS_VERSION = 1;

export class DeletedRows {
  readonly #bits: Uint8Array;
  readonly count: number;

  private constructor(bits: Uint8Array, count: number) {
    this.#bits = bits;
    this.count = count;
  }

  static none(rows: number): DeletedRows {
    return new DeletedRows(new Uint8Array(Math.ceil(rows / 8)), 0);
  }

  /** Reads a stored record. Throws the envelope's errors. */
  static decode(bytes: Uint8Array, rows: number, what: string): DeletedRows {
    const bits = unseal(ENVELOPE_DELETED_ROWS, DELETED_ROWS_VERSION, bytes, what);
    if (bits.length !== Math.ceil(rows / 8)) throw new DamagedBytesError(`${what}: wrong length`);
    let count = 0;
    for (const byte of bits) for (let left = byte; left !== 0; left &= left - 1) count++;
    return new DeletedRows(Uint8Array.from(bits), count);
  }

  encode(): Uint8Array {
    return seal(ENVELOPE_DELETED_ROWS, DELETED_ROWS_VERSION, this.#bits);
  }

  has(row: number): boolean {
    return ((this.#bits[row >> 3] ?? 0) & (1 << (row & 7))) !== 0;
  }

  /** Returns a new set that also contains the given rows. */
  with(rows: Iterable<number>): DeletedRows {
    const bits = Uint8Array.from(this.#bits);
    let count = this.count;
    for (const row of rows) {
      const byte = bits[row >> 3] ?? 0;
      if ((byte & (1 << (row & 7))) === 0) count++;
      bits[row >> 3] = byte | (1 << (row & 7));
    }
    return new DeletedRows(bits, count);
  }

  /** Returns the rows that are not in `other`, which belongs to the same segment. */
  minus(other: DeletedRows): number[] {
    return [...this.rows()].filter((row) => !other.has(row));
  }

  *rows(): IterableIterator<number> {
    for (const [at, byte] of this.#bits.entries()) {
      for (let bit = 0; byte >> bit !== 0; bit++) {
        if (((byte >> bit) & 1) !== 0) yield at * 8 + bit;
      }
    }
  }
}

/** Reads the deleted rows of one of the manifest's segments. Throws the envelope's errors. */
export async function readDeletedRows(
  store: Store,
  uid: number,
  { id, rows, deleted }: SegmentRecord,
): Promise<DeletedRows> {
  if (deleted === 0) return DeletedRows.none(rows);
  const key = deletedRowsKey(uid, id);
  const what = describeKey(key);
  const stored = await store.get(key);
  if (stored === undefined) throw new DamagedBytesError(`${what}: missing`);
  const found = DeletedRows.decode(stored, rows, what);
  if (found.count !== deleted)
    throw new DamagedBytesError(`${what}: ${found.count} rows, the manifest says ${deleted}`);
  return found;
}
