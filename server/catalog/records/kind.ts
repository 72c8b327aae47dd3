// What each kind of record declares about itself, and how a record's file describes a change to stored
// records.

/** How one kind of record is stored. kinds.ts lists all kinds. */
export interface StoredKind {
  /** Records are stored under "<name>/<id>". ON DISK - never reuse a name for something else. */
  readonly name: string;
  /** The counter that supplies ids for new records. Null if a record has its owner's id. */
  readonly counter: string | null;
  /** What owns the records. They are deleted together with their owner. */
  readonly of: "tenant" | "index" | null;
  /**
   * True if other records are meaningless without these. The catalog then refuses to open if one of these is
   * damaged.
   */
  readonly vital: boolean;
  /**
   * The name of these records in a request that copies an index's settings. Null if they are never copied.
   */
  readonly copiedAs: string | null;
  /**
   * Whether an index's records stay with its data or with its name when two indexes are swapped. Absent if no
   * index owns them.
   */
  readonly goesWith?: "data" | "name";
}

/** A change to one stored record. A null `record` deletes it. */
export interface Change {
  readonly kind: string;
  readonly id: number;
  readonly record: object | null;
}

/** A command's result: the members of the state that it replaces, and its changes to stored records. */
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
