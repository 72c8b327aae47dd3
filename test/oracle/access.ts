// Models which requests a key or token allows and which documents it shows, written only from docs/api.md.
// Slow and simple: keys, tokens and tenants are never forgotten, and every question is answered from the
// complete history.

export const GROUPS = ["red", "green", "blue"] as const;
export type Group = (typeof GROUPS)[number];

/** The only scopes that a search token can have. */
const OF_TOKENS = ["search", "events"];

export interface TenantModel {
  readonly id: number;
  readonly name: string;
  deleted: boolean;
  /** Null if searches are unlimited. */
  searchesPerMonth: number | null;
  /** Number of searches, by month. */
  readonly used: Map<string, number>;
  /** Names of the tenant's indexes. Each index contains one document of every group. */
  readonly indexes: Set<string>;
}

export interface KeyModel {
  readonly id: number;
  readonly tenant: TenantModel;
  scopes: readonly string[];
  indexes: readonly string[];
  /** Milliseconds since 1970; null if the key never expires. */
  expiresAt: number | null;
  deleted: boolean;
  /** All values the key has ever had, the current one last. */
  readonly values: KeyValue[];
}

export interface KeyValue {
  readonly text: string;
  /** When this value expires, in milliseconds since 1970; null if it never does. */
  until: number | null;
}

export interface TokenModel {
  readonly text: string;
  /** False if the token is forged, that is, not signed with its key. */
  readonly genuine: boolean;
  readonly groups: readonly Group[] | null;
  readonly indexes: readonly string[] | null;
  readonly expiresAt: number | null;
}

export type Credential =
  | { readonly kind: "none" | "unknown" }
  | { readonly kind: "bootstrap"; readonly tenant: TenantModel }
  | { readonly kind: "key"; readonly key: KeyModel; readonly value: KeyValue }
  | { readonly kind: "token"; readonly key: KeyModel; readonly value: KeyValue; readonly token: TokenModel };

/** What a valid credential allows. */
export interface Rights {
  readonly tenant: TenantModel;
  /** Null if all scopes are allowed. */
  readonly scopes: readonly string[] | null;
  /** An index name must match at least one pattern in each list. */
  readonly patterns: readonly (readonly string[])[];
  readonly groups: readonly Group[];
  readonly expiresAt: number | null;
}

export const documentId = ({ name }: TenantModel, index: string, group: Group): string =>
  `${name}-${index}-${group}`;

/** Returns the credential's rights, or the status of the refusal. */
export function identify(credential: Credential, now: number): Rights | 401 | 404 {
  const all = { scopes: null, patterns: [], groups: GROUPS, expiresAt: null };
  switch (credential.kind) {
    case "none":
    case "unknown":
      return 401;
    case "bootstrap":
      return credential.tenant.deleted ? 404 : { ...all, tenant: credential.tenant };
    case "key":
      return rightsOfKey(credential.key, credential.value, now);
    case "token": {
      const { key, value, token } = credential;
      const rights = rightsOfKey(key, value, now);
      if (rights === 401 || !token.genuine || isOver(token.expiresAt, now)) return 401;
      return {
        ...rights,
        scopes: OF_TOKENS.filter((scope) => has(rights, scope)),
        patterns: [...rights.patterns, token.indexes ?? ["*"]],
        groups: token.groups ?? GROUPS,
      };
    }
  }
}

function rightsOfKey(key: KeyModel, value: KeyValue, now: number): Rights | 401 {
  const { tenant, expiresAt } = key;
  if (key.deleted || tenant.deleted || isOver(expiresAt, now) || isOver(value.until, now)) return 401;
  const scopes = key.scopes.includes("admin") ? null : key.scopes;
  // A key or token created with a replaced value expires no later than that value.
  const ends = [expiresAt, value.until].filter((end) => end !== null);
  const end = ends.length === 0 ? null : Math.min(...ends);
  return { tenant, scopes, patterns: [key.indexes], groups: GROUPS, expiresAt: end };
}

const isOver = (end: number | null, now: number): boolean => end !== null && end <= now;

export function has({ scopes }: Rights, scope: string): boolean {
  return scopes === null || scopes.includes(scope);
}

export function covers({ patterns }: Rights, index: string): boolean {
  return patterns.every((some) => some.some((pattern) => fits(pattern, index)));
}

function fits(pattern: string, name: string): boolean {
  return new RegExp(`^${pattern.replaceAll("*", ".*")}$`).test(name);
}

/**
 * Expected status for a request to an index: 403 if the scope is missing or the index is not covered, 404 if
 * the index does not exist, otherwise 200.
 */
export function useOfIndex(rights: Rights, scope: string, index: string): 200 | 403 | 404 {
  if (!has(rights, scope) || !covers(rights, index)) return 403;
  return rights.tenant.indexes.has(index) ? 200 : 404;
}

/**
 * True if the holder of these rights may create the key: the rights must include each of the key's scopes,
 * and cover every index that its patterns match.
 */
export function mayGive(rights: Rights, { scopes, indexes }: Pick<KeyModel, "scopes" | "indexes">): boolean {
  if (scopes.some((scope) => (scope === "admin" ? rights.scopes !== null : !has(rights, scope))))
    return false;
  const meant = (pattern: string) => ["", "x", "-zz9"].map((some) => pattern.replaceAll("*", some));
  return indexes.every((pattern) => meant(pattern).every((name) => covers(rights, name)));
}

/**
 * True if the holder of these rights may create a key that expires at `expiresAt`: it must expire no later
 * than the rights do.
 */
export function mayLive(rights: Rights, expiresAt: number | null): boolean {
  return rights.expiresAt === null || (expiresAt !== null && expiresAt <= rights.expiresAt);
}

/** Number of searches left in the tenant's plan. */
export function searchesLeft(tenant: TenantModel, month: string): number {
  if (tenant.searchesPerMonth === null) return Number.POSITIVE_INFINITY;
  return Math.max(0, tenant.searchesPerMonth - usedIn(tenant, month));
}

export const usedIn = ({ used }: TenantModel, month: string): number => used.get(month) ?? 0;
