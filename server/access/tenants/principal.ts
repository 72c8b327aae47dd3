// Who is asking: finds the key of an Authorization header, or the key that a search token was made of, and says what it may
// do. Compares hashes, so that no comparison's duration tells anything about a key.
import { timingSafeEqual } from "node:crypto";
import type { KeyValue } from "../../catalog/lookups.js";
import { SCOPES, type Scope } from "../../catalog/records/key.js";
import type { CatalogState } from "../../catalog/state.js";
import { SkeinError } from "../../ground/errors.js";
import { FIXED_LIMITS, type Limits } from "../../ground/limits.js";
import { type Grantor, hashKey } from "./keys.js";
import { allows, anyPatternMatches } from "./scopes.js";
import { isSignedBy, isToken, openToken, type SearchToken, sentToken } from "./search-token.js";

const HEADER = /^Bearer +([\x21-\x7e]+) *$/i;
const KEY_LENGTH_MAX = 512;
const ALL_INDEXES = ["*"];
/** What a search token may be for, where its key may. */
const TOKEN_SCOPES: readonly Scope[] = ["search", "events"];
/** Hashes of so many values that were good lately are kept. */
const KNOWN_VALUES_MAX = 1_000;
/** A token of an unknown key is compared with a signature by this one, so that it takes as long as one of a known key. */
const NO_KEY = hashKey("");

export interface Principal {
  readonly tenant: number;
  /** null for the bootstrap admin key. */
  readonly keyId: number | null;
  readonly scopes: readonly Scope[];
  readonly indexes: readonly string[];
  readonly rateLimit: number | null;
  /** SHA-256 of the value that was sent, or that a token was signed with, hexadecimal; empty for the bootstrap admin key. */
  readonly valueHash: string;
  /** The token that narrows the key; null when the key itself was sent. */
  readonly token: SearchToken | null;
}

/** The tenant of a fresh server. */
export const DEFAULT_TENANT = "default";

export class Doorkeeper {
  readonly #adminHash: Buffer;
  /**
   * Hashes by value, so that a client's key is not hashed with each of its requests. Only values that were good come in, so
   * nobody can push out others with made-up ones. What a value may do is looked up each time: one that is revoked does
   * nothing from then on. A map finds a value by a hash whose seed no client knows, so how long that takes tells nothing of
   * keys that are similar. Values lie in memory only, as they do while a request with them is answered.
   */
  readonly #hashes = new Map<string, string>();
  readonly #limits: Limits;

  constructor(adminKey: string, limits: Limits) {
    this.#adminHash = Buffer.from(hashKey(adminKey));
    this.#limits = limits;
  }

  /**
   * The principal behind the header. The bootstrap key acts for the default tenant, or for the one that
   * `tenantHeader` names; null: it is no key here. `now` in milliseconds since 1970. Throws SK-SYS-401.
   */
  identify(authorization: string, tenantHeader: string | null, state: CatalogState, now: number): Principal {
    const value = HEADER.exec(authorization)?.[1];
    if (value === undefined) {
      throw new SkeinError("SK-SYS-401", "an API key is required: send the header Authorization: Bearer KEY");
    }
    if (isToken(value)) return this.#holder(value, state, now);
    if (value.length > KEY_LENGTH_MAX) throw notValid();
    const hash = this.#hashes.get(value) ?? hashKey(value);
    if (timingSafeEqual(Buffer.from(hash), this.#adminHash) && tenantHeader !== null) {
      this.#keepHash(value, hash);
      return this.#bootstrap(tenantHeader, state);
    }
    const known = state.keyByHash.get(hash);
    if (known === undefined) throw notValid();
    const principal = living(known, now);
    this.#keepHash(value, hash);
    return principal;
  }

  #keepHash(value: string, hash: string): void {
    if (this.#hashes.has(value)) return;
    if (this.#hashes.size >= KNOWN_VALUES_MAX) this.#hashes.clear();
    this.#hashes.set(value, hash);
  }

  #bootstrap(tenantHeader: string, state: CatalogState): Principal {
    const name = tenantHeader === "" ? DEFAULT_TENANT : tenantHeader;
    for (const tenant of state.tenants.values()) {
      if (tenant.name !== name) continue;
      const rights = { scopes: SCOPES, indexes: ALL_INDEXES, rateLimit: null, valueHash: "" };
      return { tenant: tenant.id, keyId: null, ...rights, token: null };
    }
    throw new SkeinError("SK-SYS-404", "the header X-Skein-Tenant names a tenant that does not exist");
  }

  /** Who holds a search token. Nothing in the token counts before its signature does. */
  #holder(value: string, state: CatalogState, now: number): Principal {
    const sent = value.length > FIXED_LIMITS.tokenBytesMax ? null : sentToken(value);
    if (sent === null) throw new SkeinError("SK-SYS-401", "the search token is not valid");
    const candidates = state.keysByPrefix.get(sent.prefix) ?? [];
    const signer = candidates.find(({ hash }) => isSignedBy(sent, hash));
    if (candidates.length === 0) isSignedBy(sent, NO_KEY);
    if (signer === undefined) throw new SkeinError("SK-SYS-401", "the search token is not valid");
    const key = living(signer, now);
    const token = openToken(sent, this.#limits);
    if (token.expiresAt !== null && Date.parse(token.expiresAt) <= now)
      throw new SkeinError("SK-SYS-401", `the search token expired at ${token.expiresAt}`);
    return { ...key, scopes: TOKEN_SCOPES.filter((scope) => allows(key.scopes, scope)), token };
  }
}

/** Throws SK-SYS-401 for a value that is good no longer. */
function living(value: KeyValue, now: number): Principal {
  const end = endOf(value);
  if (end !== null && Date.parse(end) <= now)
    throw new SkeinError("SK-SYS-401", `the API key expired at ${end}`);
  const { tenant, id: keyId, scopes, indexes, rateLimit } = value.key;
  return { tenant, keyId, scopes, indexes, rateLimit, valueHash: value.hash, token: null };
}

/** When a value stops being good; null: never. */
function endOf({ key: { expiresAt }, until }: KeyValue): string | null {
  if (expiresAt === null || until === null) return expiresAt ?? until;
  return Date.parse(expiresAt) < Date.parse(until) ? expiresAt : until;
}

/**
 * What a key that manages keys may do as of this state: while its request came in, its value may have been replaced and the key
 * narrowed or deleted. A replaced value gives nothing that outlives it. Throws SK-SYS-401, SK-SYS-403.
 */
export function grantorOf(principal: Principal, state: CatalogState, now: number): Grantor {
  if (principal.keyId === null) return { ...principal, expiresAt: null };
  const value = state.keyByHash.get(principal.valueHash);
  if (value === undefined) throw notValid();
  const { scopes, indexes, rateLimit } = living(value, now);
  checkRights({ ...principal, scopes }, "keys", undefined);
  return { scopes, indexes, rateLimit, expiresAt: endOf(value) };
}

function notValid(): SkeinError {
  return new SkeinError("SK-SYS-401", "the API key is not valid");
}

/** Whether the header carries this key. */
export function carriesKey(authorization: string, key: string): boolean {
  const value = HEADER.exec(authorization)?.[1];
  return value !== undefined && timingSafeEqual(Buffer.from(hashKey(value)), Buffer.from(hashKey(key)));
}

/** Throws SK-SYS-403 when the key lacks the scope or does not cover the index. */
export function checkRights(principal: Principal, scope: Scope, index: string | undefined): void {
  const what = principal.token === null ? "API key" : "search token";
  if (!allows(principal.scopes, scope)) {
    throw new SkeinError("SK-SYS-403", `the ${what} lacks the scope "${scope}"`, { details: { scope } });
  }
  if (index === undefined) return;
  for (const indexes of [principal.indexes, principal.token?.indexes ?? ALL_INDEXES]) {
    if (anyPatternMatches(indexes, index)) continue;
    throw new SkeinError("SK-SYS-403", `the ${what} does not cover this index`, { details: { indexes } });
  }
}
