// Who may do what and who sees which documents, told from docs/api.md and nothing else. Slow and plain: keys, tokens and tenants are
// never forgotten, and every question is answered from all that has happened.

export const GROUPS = ["red", "green", "blue"] as const;
export type Group = (typeof GROUPS)[number];

/** Scopes that a search token may have. */
const OF_TOKENS = ["search", "events"];

export interface TenantModel {
  readonly id: number;
  readonly name: string;
  deleted: boolean;
  /** null: unlimited. */
  searchesPerMonth: number | null;
  /** Searches by month. */
  readonly used: Map<string, number>;
  /** Each has one document of every group. */
  readonly indexes: Set<string>;
}

export interface KeyModel {
  readonly id: number;
  readonly tenant: TenantModel;
  scopes: readonly string[];
  indexes: readonly string[];
  /** Milliseconds since 1970; null: never. */
  expiresAt: number | null;
  deleted: boolean;
  /** All that it ever had, the present one last. */
  readonly values: KeyValue[];
}

export interface KeyValue {
  readonly text: string;
  /** As `expiresAt`. */
  until: number | null;
}

export interface TokenModel {
  readonly text: string;
  /** Signed by its key, and not by another. */
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

/** What a credential that is good may do. */
export interface Rights {
  readonly tenant: TenantModel;
  /** null: all. */
  readonly scopes: readonly string[] | null;
  /** An index must fit a pattern of each. */
  readonly patterns: readonly (readonly string[])[];
  readonly groups: readonly Group[];
  readonly expiresAt: number | null;
}

export const documentId = ({ name }: TenantModel, index: string, group: Group): string =>
  `${name}-${index}-${group}`;

/** The rights, or the status with which the request is refused. */
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
  // A value that was replaced gives nothing that outlives it.
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

/** 403 for what lacks the scope or does not cover the index, 404 for an index that is not there, else 200. */
export function useOfIndex(rights: Rights, scope: string, index: string): 200 | 403 | 404 {
  if (!has(rights, scope) || !covers(rights, index)) return 403;
  return rights.tenant.indexes.has(index) ? 200 : 404;
}

/** Whether nothing of the key is more than the rights: neither a scope, nor an index that a pattern of it may ever mean. */
export function mayGive(rights: Rights, { scopes, indexes }: Pick<KeyModel, "scopes" | "indexes">): boolean {
  if (scopes.some((scope) => (scope === "admin" ? rights.scopes !== null : !has(rights, scope))))
    return false;
  const meant = (pattern: string) => ["", "x", "-zz9"].map((some) => pattern.replaceAll("*", some));
  return indexes.every((pattern) => meant(pattern).every((name) => covers(rights, name)));
}

/** Whether a key with this end lives no longer than the rights. */
export function mayLive(rights: Rights, expiresAt: number | null): boolean {
  return rights.expiresAt === null || (expiresAt !== null && expiresAt <= rights.expiresAt);
}

/** How many searches the plan leaves the tenant. */
export function searchesLeft(tenant: TenantModel, month: string): number {
  if (tenant.searchesPerMonth === null) return Number.POSITIVE_INFINITY;
  return Math.max(0, tenant.searchesPerMonth - usedIn(tenant, month));
}

export const usedIn = ({ used }: TenantModel, month: string): number => used.get(month) ?? 0;
