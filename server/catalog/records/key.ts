// The record of an API key, its storage, and its commands. server/access/tenants reads request bodies and
// decides what a key may do.
import { type Applied, removed, type StoredKind, stored, without } from "./kind.js";

/** All scopes a key can have. `admin` includes the others. */
export const SCOPES = [
  "search",
  "events",
  "documents",
  "indexes",
  "rules",
  "sources",
  "analytics",
  "coach",
  "keys",
  "admin",
] as const;
export type Scope = (typeof SCOPES)[number];

/** What a rate limit counts: every search of a multi-search, or the multi-search as one request. */
export const RATE_LIMIT_COUNTS = ["slots", "requests"] as const;
export type RateLimitCounts = (typeof RATE_LIMIT_COUNTS)[number];

export interface KeyRecord {
  readonly id: number;
  readonly tenant: number;
  readonly name: string;
  /** SHA-256 of the value in hexadecimal. The value itself is not stored. */
  readonly hash: string;
  /** The value's first characters, by which people recognise the key. */
  readonly prefix: string;
  readonly scopes: readonly Scope[];
  /** Patterns for index names; `*` matches any characters. */
  readonly indexes: readonly string[];
  readonly expiresAt: string | null;
  /** Requests per second. Null means no limit. */
  readonly rateLimit: number | null;
  /** Absent in keys stored before this could be chosen; it then counts requests. */
  readonly rateLimitCounts?: RateLimitCounts;
  readonly createdAt: string;
  /** The value that the last rotation replaced. It still works until it expires. */
  readonly previous?: PreviousKeyValue;
  /** Last day (UTC, "2026-01-31") on which a request used the key. Absent if the key has never been used. */
  readonly lastUsedOn?: string;
}

/** A key value that a rotation has replaced. */
export interface PreviousKeyValue {
  readonly hash: string;
  readonly prefix: string;
  readonly expiresAt: string;
}

export const KEY_KIND = {
  name: "key",
  counter: "nextKeyId",
  of: "tenant",
  vital: false,
  copiedAs: null,
} as const satisfies StoredKind;

export interface KeyRecords {
  readonly keys: ReadonlyMap<number, KeyRecord>;
  readonly nextKeyId: number;
}

export type KeyCommand =
  | { readonly type: "key.put"; readonly key: KeyRecord }
  | { readonly type: "key.delete"; readonly id: number }
  /** Records that the keys were used on this day. Keys that no longer exist are ignored. */
  | { readonly type: "keys.used"; readonly ids: readonly number[]; readonly day: string };

export function putKey(state: KeyRecords, key: KeyRecord): Applied<KeyRecords> {
  return {
    keys: new Map(state.keys).set(key.id, key),
    nextKeyId: Math.max(state.nextKeyId, key.id + 1),
    changes: [stored(KEY_KIND, key.id, key)],
  };
}

export function deleteKey(state: KeyRecords, id: number): Applied<KeyRecords> {
  return { keys: without(state.keys, id), changes: [removed(KEY_KIND, id)] };
}

/** Leaves a key that was used later, because front-ends report the uses around midnight in any order. */
export function markKeysUsed(state: KeyRecords, ids: readonly number[], day: string): Applied<KeyRecords> {
  const used = ids.flatMap((id) => {
    const key = state.keys.get(id);
    return key === undefined || (key.lastUsedOn ?? "") >= day ? [] : [{ ...key, lastUsedOn: day }];
  });
  return {
    keys: new Map([...state.keys, ...used.map((key) => [key.id, key] as const)]),
    changes: used.map((key) => stored(KEY_KIND, key.id, key)),
  };
}
