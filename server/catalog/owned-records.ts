// Records that belong to indexes, such as rules, synonyms and data sources. Keeps one list per kind and
// index, and has the commands that all kinds share. Nothing here depends on a particular kind.
import { COUNTERS, type Counter, KINDS, OWNED_KINDS, type OwnedKind, type OwnedRecords } from "./kinds.js";
import { type Applied, type Change, removed, stored, without } from "./records/kind.js";

/**
 * For each index uid, its records in ascending order of id. A list is replaced only when one of its records
 * changes.
 */
type Owned<T> = ReadonlyMap<number, readonly T[]>;
type AllOwned = { readonly [K in OwnedKind]: Owned<OwnedRecords[K]> };

export interface OwnedState extends Readonly<Record<Counter, number>> {
  /** By kind, then by the uid of the owning index. Use `ownedBy` to read the lists. */
  readonly owned: AllOwned;
}

/** Lists of one index's records, for some or all kinds. */
export type OwnedLists = { readonly [K in OwnedKind]?: readonly OwnedRecords[K][] };

export type OwnedCommand =
  | { [K in OwnedKind]: { type: "record.put"; kind: K; record: OwnedRecords[K] } }[OwnedKind]
  | { readonly type: "record.delete"; readonly kind: OwnedKind; readonly index: number; readonly id: number };

interface OwnedRecord {
  readonly id: number;
  readonly index: number;
}

const NONE: readonly never[] = [];

/**
 * Returns the index's records of one kind, ordered by id. Returns the same array until one of the records
 * changes.
 */
export function ownedBy<K extends OwnedKind>(
  { owned }: Pick<OwnedState, "owned">,
  kind: K,
  uid: number,
): readonly OwnedRecords[K][] {
  const lists: Owned<OwnedRecords[K]> = owned[kind];
  return lists.get(uid) ?? NONE;
}

/** Calls `make` for each kind. Loosely typed, because the compiler cannot track a kind through the table. */
export function eachOwned(make: (kind: OwnedKind) => Owned<object>): AllOwned {
  return Object.fromEntries(OWNED_KINDS.map((kind) => [kind, make(kind)])) as unknown as AllOwned;
}

export function eachCounter(value: (name: Counter) => number): Record<Counter, number> {
  return Object.fromEntries(COUNTERS.map((name) => [name, value(name)])) as Record<Counter, number>;
}

/** Groups stored records by their index's uid. */
export function byIndex<T extends OwnedRecord>(records: Iterable<T>): Map<number, readonly T[]> {
  const lists = new Map<number, T[]>();
  for (const record of records) {
    const list = lists.get(record.index);
    if (list === undefined) lists.set(record.index, [record]);
    else list.push(record);
  }
  for (const list of lists.values()) list.sort((a, b) => a.id - b.id);
  return lists;
}

export function putOwned(state: OwnedState, kind: OwnedKind, record: OwnedRecord): Applied<OwnedState> {
  const { index, id } = record;
  const others: readonly OwnedRecord[] = ownedBy(state, kind, index).filter((one) => one.id !== id);
  const list = [...others, record].sort((a, b) => a.id - b.id);
  return {
    owned: { ...state.owned, [kind]: withList<OwnedRecord>(state.owned[kind], index, list) },
    ...counterAfter(state, kind, [record]),
    changes: [stored(KINDS[kind], id, record)],
  };
}

export function deleteOwned(
  state: OwnedState,
  kind: OwnedKind,
  index: number,
  id: number,
): Applied<OwnedState> {
  const rest = ownedBy(state, kind, index).filter((record) => record.id !== id);
  return {
    owned: { ...state.owned, [kind]: withList<OwnedRecord>(state.owned[kind], index, rest) },
    changes: [removed(KINDS[kind], id)],
  };
}

/** Deletes every record that the index owns. */
export function deleteAllOwned(state: OwnedState, uid: number) {
  return {
    owned: eachOwned((kind) => without<readonly OwnedRecord[]>(state.owned[kind], uid)),
    changes: OWNED_KINDS.flatMap((kind) => deletions(kind, ownedBy(state, kind, uid))),
  };
}

/**
 * Exchanges the two indexes' records, but only of those kinds that stay with an index's name rather than with
 * its data.
 */
export function exchangeNamed(state: OwnedState, uid: number, target: number) {
  const changes: Change[] = [];
  const adopted = (kind: OwnedKind, from: number, to: number): readonly OwnedRecord[] =>
    ownedBy(state, kind, from).map((before) => {
      const record = { ...before, index: to };
      changes.push(stored(KINDS[kind], record.id, record));
      return record;
    });
  const owned = eachOwned((kind) => {
    if (KINDS[kind].goesWith === "data") return state.owned[kind];
    const lists = withList<OwnedRecord>(state.owned[kind], uid, adopted(kind, target, uid));
    return withList<OwnedRecord>(lists, target, adopted(kind, uid, target));
  });
  return { owned, changes };
}

/**
 * Replaces the index's lists with those in `given`; lists of kinds absent from `given` stay unchanged. The
 * new records must have new ids, because a batch must not both delete and put a key.
 */
export function replaceOwned(state: OwnedState, uid: number, given: OwnedLists): Applied<OwnedState> {
  const kinds = OWNED_KINDS.filter((kind) => given[kind] !== undefined);
  return {
    owned: eachOwned((kind) => {
      const list = given[kind];
      return list === undefined ? state.owned[kind] : withList<OwnedRecord>(state.owned[kind], uid, list);
    }),
    ...Object.assign({}, ...kinds.map((kind) => counterAfter(state, kind, given[kind]!))),
    changes: kinds.flatMap((kind) => [
      ...deletions(kind, ownedBy(state, kind, uid)),
      ...given[kind]!.map((record) => stored(KINDS[kind], record.id, record)),
    ]),
  };
}

function deletions(kind: OwnedKind, records: readonly OwnedRecord[]): Change[] {
  return records.map(({ id }) => removed(KINDS[kind], id));
}

/** The kind's counter after these records have been created. */
function counterAfter(
  state: OwnedState,
  kind: OwnedKind,
  records: readonly OwnedRecord[],
): Partial<Record<Counter, number>> {
  const { counter } = KINDS[kind];
  return { [counter]: records.reduce((next, { id }) => Math.max(next, id + 1), state[counter]) };
}

/** Returns a copy of the lists with the index's list replaced by `list`. Empty lists are not stored. */
function withList<T>(lists: Owned<T>, index: number, list: readonly T[]): Owned<T> {
  return list.length === 0 ? without(lists, index) : new Map(lists).set(index, list);
}
