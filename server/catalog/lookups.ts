// Maps for finding records in the catalog's state other than by id: indexes by name, keys by a value's hash
// or prefix. They are derived from the records and are not stored.
import { type IndexRecord, isMade } from "./records/index-record.js";
import type { KeyRecord } from "./records/key.js";

/** One of the values that currently work for a key. */
export interface KeyValue {
  readonly key: KeyRecord;
  readonly hash: string;
  /** When this value stops working even if the key has not expired. Null for the key's current value. */
  readonly until: string | null;
}

export interface Lookups {
  /** Keyed by `nameKey(tenant, name)`. */
  readonly indexByName: ReadonlyMap<string, IndexRecord>;
  /** The values of all keys by hash, including values replaced by a rotation. */
  readonly keyByHash: ReadonlyMap<string, KeyValue>;
  /** The same values by the prefix shown to people. Several values may share a prefix. */
  readonly keysByPrefix: ReadonlyMap<string, readonly KeyValue[]>;
}

export function nameKey(tenant: number, name: string): string {
  return `${tenant}/${name}`;
}

/** The tenant's index with this name, or undefined if there is none. */
export function indexNamed(
  { indexByName }: Pick<Lookups, "indexByName">,
  tenant: number,
  name: string,
): IndexRecord | undefined {
  const record = indexByName.get(nameKey(tenant, name));
  return record === undefined || !isMade(record) ? undefined : record;
}

interface Records {
  readonly indexes: ReadonlyMap<number, IndexRecord>;
  readonly keys: ReadonlyMap<number, KeyRecord>;
}

/** Builds the lookups for these records. */
export function lookupsOf(records: Records): Lookups;
export function lookupsOf(records: Partial<Records>): Partial<Lookups>;
export function lookupsOf({ indexes, keys }: Partial<Records>): Partial<Lookups> {
  return {
    ...(indexes === undefined ? {} : { indexByName: indexesByName(indexes.values()) }),
    ...(keys === undefined ? {} : keyValues(keys.values())),
  };
}

function indexesByName(indexes: Iterable<IndexRecord>): Lookups["indexByName"] {
  return new Map([...indexes].map((record) => [nameKey(record.tenant, record.name), record]));
}

function keyValues(keys: Iterable<KeyRecord>): Pick<Lookups, "keyByHash" | "keysByPrefix"> {
  const keyByHash = new Map<string, KeyValue>();
  const keysByPrefix = new Map<string, KeyValue[]>();
  const add = (prefix: string, value: KeyValue): void => {
    keyByHash.set(value.hash, value);
    const alike = keysByPrefix.get(prefix);
    if (alike === undefined) keysByPrefix.set(prefix, [value]);
    else alike.push(value);
  };
  for (const key of keys) {
    const { hash, prefix, previous } = key;
    add(prefix, { key, hash, until: null });
    if (previous !== undefined) add(previous.prefix, { key, hash: previous.hash, until: previous.expiresAt });
  }
  return { keyByHash, keysByPrefix };
}
