// What is looked up in the catalog's state by something else than an id: indexes by name, keys by the values
// that name them. Derived, never stored.
import { type IndexRecord, isMade } from "./records/index-record.js";
import type { KeyRecord } from "./records/key.js";

/** One value by which a key can be named. */
export interface KeyValue {
  readonly key: KeyRecord;
  readonly hash: string;
  /** When this value stops being good, whatever the key says; null for the present value. */
  readonly until: string | null;
}

export interface Lookups {
  /** By `nameKey`. */
  readonly indexByName: ReadonlyMap<string, IndexRecord>;
  /** The values of all keys, those that a rotation has replaced too. */
  readonly keyByHash: ReadonlyMap<string, KeyValue>;
  /** The same by the prefix that is shown; several values may share one. */
  readonly keysByPrefix: ReadonlyMap<string, readonly KeyValue[]>;
}

export function nameKey(tenant: number, name: string): string {
  return `${tenant}/${name}`;
}

/** The tenant's index of this name, undefined when there is none. */
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

/** The lookups of the records that are given. */
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
