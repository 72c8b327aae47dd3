// What each kind of record declares about itself, and how a record's file describes a change to stored
// records.

/** How records of one kind are stored. kinds.ts lists them all. */
export interface StoredKind {
  /** Records are stored under "<name>/<id>". ON DISK - never reuse a name for something else. */
  readonly name: string;
  /** The counter that supplies ids for new records. Null if a record uses the id of its owner. */
  readonly counter: string | null;
  /** Owner of the records. They are deleted together with it. */
  readonly of: "tenant" | "index" | null;
  /**
   * True if other records are meaningless without these. The catalog then refuses to open if one of them is
   * damaged.
   */
  readonly vital: boolean;
  /** Name of these records in a request that copies an index's settings. Null if they are never copied. */
  readonly copiedAs: string | null;
  /**
   * Whether the records of an index stay with its data or with its name when two indexes are swapped. Absent
   * if no index owns them.
   */
  readonly goesWith?: "data" | "name";
}

/** A change to one stored record. If `record` is null, the record is deleted. */
export interface Change {
  readonly kind: string;
  readonly id: number;
  readonly record: object | null;
}

/** Result of a command: the members of the state that it replaces, and its changes to stored records. */
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
