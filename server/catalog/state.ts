// The catalog's state and the one function that changes it. A command carries every id, time and generated
// value, so that applying the same commands anywhere gives the same state. Knows no database and no clock.
import {
  COUNTERS,
  type Counter,
  KINDS,
  OWNED_KINDS,
  type OwnedKind,
  type OwnedRecords,
  type RecordKind,
} from "./kinds.js";
import { type Lookups, lookupsOf } from "./lookups.js";
import {
  type IndexContents,
  type IndexRecord,
  type KeyRecord,
  logOf,
  type RankingRule,
  type SynonymGroup,
  type TenantRecord,
  type UsageRecord,
} from "./types.js";

/** Lists by the uid of an index, each ascending by id. A list is replaced only when one of its records changes. */
type Owned<T> = ReadonlyMap<number, readonly T[]>;
type AllOwned = { readonly [K in OwnedKind]: Owned<OwnedRecords[K]> };

/** The part of the state that stands in one stored record. ON DISK - names are never reused for something else. */
export type Meta = { readonly version: number; readonly shards: number | null } & Readonly<
  Record<Counter, number>
>;

/** Immutable: a change makes a new one with the next version. */
export interface CatalogState extends Readonly<Record<Counter, number>>, Lookups {
  readonly version: number;
  /** The number of shards that the data directory has. Null until the first start has set it. */
  readonly shards: number | null;
  readonly tenants: ReadonlyMap<number, TenantRecord>;
  readonly keys: ReadonlyMap<number, KeyRecord>;
  /** By uid. */
  readonly indexes: ReadonlyMap<number, IndexRecord>;
  /** What belongs to indexes, by the uid of the owner; read them with `ownedBy`, `rulesOf` and `synonymsOf`. */
  readonly owned: AllOwned;
  /** Uids whose record is gone but whose data may still be in the shards. */
  readonly toDrop: ReadonlySet<number>;
  /** By tenant. */
  readonly usage: ReadonlyMap<number, UsageRecord>;
}

export type Command =
  | { readonly type: "shards.fix"; readonly shards: number }
  | { readonly type: "tenant.put"; readonly tenant: TenantRecord }
  | { readonly type: "tenant.delete"; readonly id: number }
  | { readonly type: "key.put"; readonly key: KeyRecord }
  | { readonly type: "key.delete"; readonly id: number }
  | { readonly type: "index.put"; readonly record: IndexRecord }
  | { readonly type: "index.delete"; readonly uid: number }
  | { readonly type: "index.dropped"; readonly uid: number }
  /** The documents of the index are spread now; those at home, by their number in the shards, are to be dropped. */
  | { readonly type: "index.spread"; readonly uid: number; readonly home: number }
  /** The two indexes exchange their names; with `drop` the one that had the first name is deleted instead. */
  | { readonly type: "index.swap"; readonly uid: number; readonly target: number; readonly drop: boolean }
  /** An index with what it took over from another. Lists that are absent stay as they are. */
  | { readonly type: "index.copy"; readonly record: IndexRecord; readonly owned: OwnedLists }
  | { [K in OwnedKind]: { type: "record.put"; kind: K; record: OwnedRecords[K] } }[OwnedKind]
  | { readonly type: "record.delete"; readonly kind: OwnedKind; readonly index: number; readonly id: number }
  | { readonly type: "usage.put"; readonly usage: readonly UsageRecord[] }
  /** Keys that were used on a day. Those that are gone are left out. */
  | { readonly type: "keys.used"; readonly ids: readonly number[]; readonly day: string }
  /** Several changes, one after the other, that are stored together. */
  | { readonly type: "all"; readonly commands: readonly Command[] };

/** Some of the records of one index. */
export type OwnedLists = { readonly [K in OwnedKind]?: readonly OwnedRecords[K][] };

/** A stored record that a command changes; `record` null deletes it. */
export interface Change {
  readonly kind: RecordKind;
  readonly id: number;
  readonly record: object | null;
}

export const EMPTY_STATE: CatalogState = {
  version: 0,
  shards: null,
  ...counters(() => 1),
  tenants: new Map(),
  keys: new Map(),
  indexes: new Map(),
  owned: eachOwned(() => new Map()),
  toDrop: new Set(),
  usage: new Map(),
  ...lookupsOf({ indexes: new Map(), keys: new Map() }),
};

export function metaOf(state: CatalogState): Meta {
  return { version: state.version, shards: state.shards, ...counters((name) => state[name]) };
}

function counters(value: (name: Counter) => number): Record<Counter, number> {
  return Object.fromEntries(COUNTERS.map((name) => [name, value(name)])) as Record<Counter, number>;
}

/** The lists that `make` gives for each kind. It is typed loosely because the compiler cannot follow a kind through the table. */
export function eachOwned(make: (kind: OwnedKind) => Owned<object>): AllOwned {
  return Object.fromEntries(OWNED_KINDS.map((kind) => [kind, make(kind)])) as unknown as AllOwned;
}

const NONE: readonly never[] = [];

/** The index's records of a kind by id; the same array until one of them changes. */
export function ownedBy<K extends OwnedKind>(
  state: CatalogState,
  kind: K,
  uid: number,
): readonly OwnedRecords[K][] {
  const lists: Owned<OwnedRecords[K]> = state.owned[kind];
  return lists.get(uid) ?? NONE;
}

export function rulesOf(state: CatalogState, uid: number): readonly RankingRule[] {
  return ownedBy(state, "rule", uid);
}

export function synonymsOf(state: CatalogState, uid: number): readonly SynonymGroup[] {
  return ownedBy(state, "synonym", uid);
}

export function contentsOf(state: CatalogState, record: IndexRecord): IndexContents {
  return { record, rules: rulesOf(state, record.uid), synonyms: synonymsOf(state, record.uid) };
}

/** Stored records by the uid of their index. */
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

interface OwnedRecord {
  readonly id: number;
  readonly index: number;
}

/** The state after the command, and the stored records that the command changes. The same input always gives the same result. */
export function apply(state: CatalogState, command: Command): { state: CatalogState; changes: Change[] } {
  const { changes, ...members } = applied(state, command);
  return { state: { ...state, ...members, ...lookupsOf(members), version: state.version + 1 }, changes };
}

function applied(state: CatalogState, command: Command): Applied {
  switch (command.type) {
    case "shards.fix":
      return { shards: command.shards, changes: [] };
    case "tenant.put": {
      const { tenant } = command;
      return {
        tenants: new Map(state.tenants).set(tenant.id, tenant),
        nextTenantId: Math.max(state.nextTenantId, tenant.id + 1),
        changes: [{ kind: "tenant", id: tenant.id, record: tenant }],
      };
    }
    case "tenant.delete":
      return deleteTenant(state, command.id);
    case "key.put": {
      const { key } = command;
      return {
        keys: new Map(state.keys).set(key.id, key),
        nextKeyId: Math.max(state.nextKeyId, key.id + 1),
        changes: [{ kind: "key", id: key.id, record: key }],
      };
    }
    case "key.delete":
      return {
        keys: without(state.keys, command.id),
        changes: [{ kind: "key", id: command.id, record: null }],
      };
    case "index.put": {
      const { record } = command;
      return {
        indexes: new Map(state.indexes).set(record.uid, record),
        nextIndexUid: Math.max(state.nextIndexUid, record.uid + 1),
        nextIndexId: Math.max(state.nextIndexId, record.id + 1),
        changes: [{ kind: "index", id: record.uid, record }],
      };
    }
    case "index.delete":
      return deleteIndex(state, command.uid);
    case "index.spread":
      return spreadIndex(state, command.uid, command.home);
    case "index.swap":
      return swapIndexes(state, command.uid, command.target, command.drop);
    case "index.copy":
      return copyTo(state, command.record, command.owned);
    case "index.dropped": {
      const toDrop = new Set(state.toDrop);
      toDrop.delete(command.uid);
      return { toDrop, changes: [{ kind: "drop", id: command.uid, record: null }] };
    }
    case "record.put": {
      const { kind, record } = command;
      const lists = withRecord<OwnedRecord>(state.owned[kind], record);
      return {
        owned: { ...state.owned, [kind]: lists },
        ...counterAfter(state, kind, [record]),
        changes: [{ kind, id: record.id, record }],
      };
    }
    case "record.delete": {
      const { kind, index, id } = command;
      const rest = ownedBy(state, kind, index).filter((record) => record.id !== id);
      return {
        owned: { ...state.owned, [kind]: withList<OwnedRecord>(state.owned[kind], index, rest) },
        changes: [{ kind, id, record: null }],
      };
    }
    case "usage.put": {
      const usage = new Map(state.usage);
      for (const entry of command.usage) usage.set(entry.tenant, entry);
      return {
        usage,
        changes: command.usage.map((entry) => ({ kind: "usage", id: entry.tenant, record: entry })),
      };
    }
    case "keys.used": {
      const used = command.ids.flatMap((id) => {
        const key = state.keys.get(id);
        return key === undefined ? [] : [{ ...key, lastUsedOn: command.day }];
      });
      return {
        keys: new Map([...state.keys, ...used.map((key) => [key.id, key] as const)]),
        changes: used.map((key) => ({ kind: "key", id: key.id, record: key })),
      };
    }
    case "all":
      return applyAll(state, command.commands);
  }
}

type Applied = Partial<CatalogState> & { changes: Change[] };

function applyAll(state: CatalogState, commands: readonly Command[]): Applied {
  let after: Applied = { changes: [] };
  for (const command of commands) {
    const { changes, ...members } = applied({ ...state, ...after }, command);
    after = { ...after, ...members, changes: [...after.changes, ...changes] };
  }
  return after;
}

function spreadIndex(state: CatalogState, uid: number, home: number): Applied {
  const { isHome: _, ...record } = state.indexes.get(uid)!;
  return {
    indexes: new Map(state.indexes).set(uid, record),
    toDrop: new Set(state.toDrop).add(home),
    changes: [
      { kind: "index", id: uid, record },
      { kind: "drop", id: home, record: {} },
    ],
  };
}

/** Deletes the index with all that it owns. Its uid stays listed until the shards have dropped its data. */
function deleteIndex(state: CatalogState, uid: number): Applied {
  return {
    indexes: without(state.indexes, uid),
    owned: eachOwned((kind) => without<readonly OwnedRecords[OwnedKind][]>(state.owned[kind], uid)),
    toDrop: new Set(state.toDrop).add(uid),
    changes: [
      { kind: "index", id: uid, record: null },
      { kind: "drop", id: uid, record: {} },
      ...OWNED_KINDS.flatMap((kind) => deletions(kind, ownedBy(state, kind, uid))),
    ],
  };
}

/**
 * Requires that both exist and belong to one tenant. What goes with the data stands under the uids and stays as it is; the
 * names change, and what stays with a name changes its uid.
 */
function swapIndexes(state: CatalogState, uid: number, target: number, drop: boolean): Applied {
  const displaced = state.indexes.get(uid)!;
  const before = state.indexes.get(target)!;
  const live = withNameOf(before, displaced);
  const indexes = new Map(state.indexes).set(target, live);
  const { owned, changes: moved } = exchangeNamed(state, uid, target);
  const changes: Change[] = [{ kind: "index", id: target, record: live }, ...moved];
  if (drop) {
    const deleted = deleteIndex({ ...state, indexes, owned }, uid);
    return { ...deleted, changes: [...changes, ...deleted.changes] };
  }
  const renamed = withNameOf(displaced, before);
  return {
    indexes: indexes.set(uid, renamed),
    owned,
    changes: [...changes, { kind: "index", id: uid, record: renamed }],
  };
}

/** An index with another's name and what goes with that: the query log. */
function withNameOf({ log: _log, ...record }: IndexRecord, other: IndexRecord): IndexRecord {
  const log = logOf(other);
  return { ...record, name: other.name, ...(log === record.uid ? {} : { log }) };
}

/** Two indexes exchange the records that stay with a name. */
function exchangeNamed(state: CatalogState, uid: number, target: number) {
  const changes: Change[] = [];
  const adopted = (kind: OwnedKind, from: number, to: number): readonly OwnedRecord[] =>
    ownedBy(state, kind, from).map((before) => {
      const record = { ...before, index: to };
      changes.push({ kind, id: record.id, record });
      return record;
    });
  const owned = eachOwned((kind) => {
    if (KINDS[kind].goesWith === "data") return state.owned[kind];
    const lists = withList<OwnedRecord>(state.owned[kind], uid, adopted(kind, target, uid));
    return withList<OwnedRecord>(lists, target, adopted(kind, uid, target));
  });
  return { owned, changes };
}

function copyTo(state: CatalogState, record: IndexRecord, copied: OwnedLists): Applied {
  const { uid } = record;
  const kinds = OWNED_KINDS.filter((kind) => copied[kind] !== undefined);
  return {
    indexes: new Map(state.indexes).set(uid, record),
    owned: eachOwned((kind) => {
      const list = copied[kind];
      return list === undefined ? state.owned[kind] : withList<OwnedRecord>(state.owned[kind], uid, list);
    }),
    ...Object.assign({}, ...kinds.map((kind) => counterAfter(state, kind, copied[kind]!))),
    changes: [
      { kind: "index", id: uid, record },
      ...kinds.flatMap((kind) => replacements(kind, ownedBy(state, kind, uid), copied[kind]!)),
    ],
  };
}

/** Deletes the tenant with its keys and counters. Requires that it has no indexes. */
function deleteTenant(state: CatalogState, id: number): Applied {
  const keys = [...state.keys.values()].filter((key) => key.tenant === id).map((key) => key.id);
  return {
    tenants: without(state.tenants, id),
    keys: new Map([...state.keys].filter(([, key]) => key.tenant !== id)),
    usage: without(state.usage, id),
    changes: [
      { kind: "tenant", id, record: null },
      { kind: "usage", id, record: null },
      ...keys.map((key): Change => ({ kind: "key", id: key, record: null })),
    ],
  };
}

function deletions(kind: OwnedKind, records: readonly OwnedRecord[]): Change[] {
  return records.map(({ id }) => ({ kind, id, record: null }));
}

/** The changes that replace a list of records. New records get new ids, so that one batch never deletes and puts the same key. */
function replacements(
  kind: OwnedKind,
  before: readonly OwnedRecord[],
  after: readonly OwnedRecord[],
): Change[] {
  return [...deletions(kind, before), ...after.map((record): Change => ({ kind, id: record.id, record }))];
}

/** The counter of a kind once these records exist. */
function counterAfter(
  state: CatalogState,
  kind: OwnedKind,
  records: readonly OwnedRecord[],
): Partial<Record<Counter, number>> {
  const { counter } = KINDS[kind];
  return { [counter]: records.reduce((next, { id }) => Math.max(next, id + 1), state[counter]) };
}

function withRecord<T extends OwnedRecord>(lists: Owned<T>, record: T): Owned<T> {
  const others = (lists.get(record.index) ?? []).filter(({ id }) => id !== record.id);
  const list = [...others, record].sort((a, b) => a.id - b.id);
  return new Map(lists).set(record.index, list);
}

/** The lists with this index's list replaced. An index without records has no list. */
function withList<T>(lists: Owned<T>, index: number, list: readonly T[]): Owned<T> {
  return list.length === 0 ? without(lists, index) : new Map(lists).set(index, list);
}

function without<V>(map: ReadonlyMap<number, V>, id: number): Map<number, V> {
  const copy = new Map(map);
  copy.delete(id);
  return copy;
}
