// What a kind of record declares about itself, and how its file describes a change of stored records.

/** How records of one kind are stored. kinds.ts lists them all. */
export interface StoredKind {
  /** Records are stored under "<name>/<id>". ON DISK - never reuse a name for something else. */
  readonly name: string;
  /** The counter that gives the next free id. Null for a record that has the id of its owner. */
  readonly counter: string | null;
  /** Owner of the records, which are deleted with it. */
  readonly of: "tenant" | "index" | null;
  /**
   * True if other records mean nothing without these: the catalog then refuses to open when one is damaged.
   */
  readonly vital: boolean;
  /** Name of these records in a copy of an index's settings. Null if they are never copied. */
  readonly copiedAs: string | null;
  /** What the records of an index stay with when two indexes are swapped. Absent for other records. */
  readonly goesWith?: "data" | "name";
}

/** A stored record that a command changes; `record` null deletes it. */
export interface Change {
  readonly kind: string;
  readonly id: number;
  readonly record: object | null;
}

/** What a command does: the members of the state that it replaces, and the stored records that it changes. */
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
