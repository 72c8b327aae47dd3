// Defines what each kind of record declares about itself, and how a record's file describes a change to
// stored records.

/** How one kind of record is stored. kinds.ts lists all kinds. */
export interface StoredKind {
  /** Records are stored under "<name>/<id>". ON DISK - never reuse a name for something else. */
  readonly name: string;
  /**
   * Name of the counter that supplies ids for new records. Null if the id is another number: a usage record
   * has its tenant's id, a drop record has a data number.
   */
  readonly counter: string | null;
  /** What each record belongs to. Deleting the owner deletes the record. */
  readonly of: "tenant" | "index" | null;
  /**
   * True if other records are meaningless without these. The catalog then refuses to open if one of these is
   * damaged.
   */
  readonly vital: boolean;
  /** Name for these records in a request that copies parts of an index. Null if they cannot be copied. */
  readonly copiedAs: string | null;
  /**
   * Says whether these records stay with an index's data or with its name when the index is swapped with
   * another one. Absent if the records do not belong to indexes.
   */
  readonly goesWith?: "data" | "name";
}

/** A change to one stored record. A null `record` deletes it. */
export interface Change {
  readonly kind: string;
  readonly id: number;
  readonly record: object | null;
}

/** A command's result: the replaced members of the state, and the changes to stored records. */
export type Applied<State> = Partial<State> & { readonly changes: readonly Change[] };

export function stored({ name }: StoredKind, id: number, record: object): Change {
  return { kind: name, id, record };
}

export function removed({ name }: StoredKind, id: number): Change {
  return { kind: name, id, record: null };
}

export function without<V>(records: ReadonlyMap<number, V>, id: number): Map<number, V> {
  const copy = new Map(records);
  copy.delete(id);
  return copy;
}
