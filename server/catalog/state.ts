// The catalog's state and the one function that changes it. A command carries every id, time and generated
// value, so that applying the same commands anywhere gives the same state. Knows no database and no clock.
import type { IndexRecord, KeyRecord, TenantRecord, UsageRecord } from "./types.js";

/** Immutable: a change makes a new one with the next version. */
export interface CatalogState {
  readonly version: number;
  /** Shards the data directory was made with; null until the first start has said so. */
  readonly shards: number | null;
  readonly nextIndexUid: number;
  readonly nextIndexId: number;
  readonly nextKeyId: number;
  readonly nextTenantId: number;
  readonly tenants: ReadonlyMap<number, TenantRecord>;
  readonly keys: ReadonlyMap<number, KeyRecord>;
  /** By uid. */
  readonly indexes: ReadonlyMap<number, IndexRecord>;
  /** Uids whose record is gone but whose data may still be in the shards. */
  readonly toDrop: ReadonlySet<number>;
  /** By tenant. */
  readonly usage: ReadonlyMap<number, UsageRecord>;
  /** Derived: indexes by `nameKey`, keys by hash. */
  readonly indexByName: ReadonlyMap<string, IndexRecord>;
  readonly keyByHash: ReadonlyMap<string, KeyRecord>;
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
  | { readonly type: "usage.put"; readonly usage: readonly UsageRecord[] };

/** What of the state stands in one stored record. ON DISK - names are never reused for something else. */
export interface Meta {
  readonly version: number;
  readonly shards: number | null;
  readonly nextIndexUid: number;
  readonly nextIndexId: number;
  readonly nextKeyId: number;
  readonly nextTenantId: number;
}

/** A stored record that a command changes; `record` null deletes it. */
export interface Change {
  readonly kind: "tenant" | "key" | "index" | "drop" | "usage";
  readonly id: number;
  readonly record: object | null;
}

export const EMPTY_STATE: CatalogState = {
  version: 0,
  shards: null,
  nextIndexUid: 1,
  nextIndexId: 1,
  nextKeyId: 1,
  nextTenantId: 1,
  tenants: new Map(),
  keys: new Map(),
  indexes: new Map(),
  toDrop: new Set(),
  usage: new Map(),
  indexByName: new Map(),
  keyByHash: new Map(),
};

export function nameKey(tenant: number, name: string): string {
  return `${tenant}/${name}`;
}

export function metaOf(state: CatalogState): Meta {
  const { version, shards, nextIndexUid, nextIndexId, nextKeyId, nextTenantId } = state;
  return { version, shards, nextIndexUid, nextIndexId, nextKeyId, nextTenantId };
}

/** Fills in the derived maps. */
export function withLookups(state: Omit<CatalogState, "indexByName" | "keyByHash">): CatalogState {
  return {
    ...state,
    indexByName: new Map(
      [...state.indexes.values()].map((record) => [nameKey(record.tenant, record.name), record]),
    ),
    keyByHash: new Map([...state.keys.values()].map((key) => [key.hash, key])),
  };
}

/** The state after the command, and the stored records it changes. The same everywhere for the same input. */
export function apply(state: CatalogState, command: Command): { state: CatalogState; changes: Change[] } {
  const { changes, ...members } = applied(state, command);
  return { state: withLookups({ ...state, ...members, version: state.version + 1 }), changes };
}

function applied(state: CatalogState, command: Command): Partial<CatalogState> & { changes: Change[] } {
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
      return {
        indexes: without(state.indexes, command.uid),
        toDrop: new Set(state.toDrop).add(command.uid),
        changes: [
          { kind: "index", id: command.uid, record: null },
          { kind: "drop", id: command.uid, record: {} },
        ],
      };
    case "index.dropped": {
      const toDrop = new Set(state.toDrop);
      toDrop.delete(command.uid);
      return { toDrop, changes: [{ kind: "drop", id: command.uid, record: null }] };
    }
    case "usage.put": {
      const usage = new Map(state.usage);
      for (const entry of command.usage) usage.set(entry.tenant, entry);
      return {
        usage,
        changes: command.usage.map((entry) => ({ kind: "usage", id: entry.tenant, record: entry })),
      };
    }
  }
}

/** With the tenant go its keys and counters. Requires that it has no indexes. */
function deleteTenant(state: CatalogState, id: number): Partial<CatalogState> & { changes: Change[] } {
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

function without<V>(map: ReadonlyMap<number, V>, id: number): Map<number, V> {
  const copy = new Map(map);
  copy.delete(id);
  return copy;
}
