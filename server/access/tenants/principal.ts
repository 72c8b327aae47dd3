// Identifies a request's caller. Finds the key in the Authorization header, or the key that signed a search
// token, and returns its rights. Looks keys up by their hashes, so that the time a look-up takes reveals
// nothing about a key.
import { timingSafeEqual } from "node:crypto";
import { ClockCache } from "../../../engine-wasm/host/runtime/clock-cache.js";
import type { KeyValue } from "../../catalog/lookups.js";
import { type RateLimitCounts, SCOPES, type Scope } from "../../catalog/records/key.js";
import type { CatalogState } from "../../catalog/state.js";
import { SkeinError } from "../../ground/errors.js";
import { FIXED_LIMITS, type Limits } from "../../ground/limits.js";
import { UNGUESSABLE_LENGTH } from "./admin-key.js";
import { countedBy, type Grantor, hashKey } from "./keys.js";
import { allows, anyPatternMatches } from "./scopes.js";
import { isSignedBy, isToken, openToken, type SearchToken, sentToken } from "./search-token.js";

const HEADER = /^Bearer +([\x21-\x7e]+) *$/i;
/** The spelling that clients use. Other spellings are valid but not cached. */
const USUAL_HEADER = /^Bearer [\x21-\x7e]+$/;
const KEY_LENGTH_MAX = 512;
const ALL_INDEXES = ["*"];
/** Scopes that a search token may inherit from its key. */
const TOKEN_SCOPES: readonly Scope[] = ["search", "events"];
/** Total length of the Authorization headers whose callers are remembered. */
const KNOWN_LENGTH_MAX = 400_000;
/** Number of tenants whose bootstrap principals are remembered. */
const BOOTSTRAPS_MAX = 1_000;
/**
 * If no key has a token's prefix, the token is checked against this hash, so that refusing it takes as long
 * as checking it against a real key.
 */
const NO_KEY = hashKey("");

export interface Principal {
  readonly tenant: number;
  /** Null for the bootstrap admin key. */
  readonly keyId: number | null;
  readonly scopes: readonly Scope[];
  readonly indexes: readonly string[];
  readonly rateLimit: number | null;
  readonly rateLimitCounts: RateLimitCounts;
  /**
   * SHA-256 (hexadecimal) of the key value in the header, or of the key value that signed the token. Empty
   * for the bootstrap admin key.
   */
  readonly valueHash: string;
  /** The token that narrows the key, or null if the key itself was sent. */
  readonly token: SearchToken | null;
}

/** The caller who sends a certain Authorization header. */
interface Known {
  /** Null for the bootstrap admin key. */
  readonly principal: Principal | null;
  /** When the key or the token expires, in Unix milliseconds. */
  readonly endMs: number;
}

/** Name of the tenant that every new server starts with. */
export const DEFAULT_TENANT = "default";

export class Doorkeeper {
  /** True if the bootstrap key is so short that it could be found by guessing. */
  readonly isAdminKeyGuessable: boolean;
  readonly #adminHash: Buffer;
  /**
   * Callers by the header that they send, so that a client's key is not hashed, and its token not verified,
   * for every request. Only valid headers in the usual spelling are kept, so nobody can evict them with
   * made-up values or with many spellings of one key. Any change of any key makes all callers unknown, so
   * revocation takes effect at once. The Map hashes its keys with a random seed, so look-up times reveal
   * nothing about similar keys. Headers are kept in memory only, and every request that carries one has it in
   * memory anyway.
   */
  readonly #known = new ClockCache<string, Known>(KNOWN_LENGTH_MAX);
  /** The catalog's keys when the known callers were identified. */
  #keys: CatalogState["keyByHash"] | null = null;
  /** Principals of the bootstrap key by the tenant's name. */
  readonly #bootstraps = new ClockCache<string, Principal>(BOOTSTRAPS_MAX);
  readonly #limits: Limits;

  constructor(adminKey: string, limits: Limits) {
    this.isAdminKeyGuessable = adminKey.length < UNGUESSABLE_LENGTH;
    this.#adminHash = Buffer.from(hashKey(adminKey));
    this.#limits = limits;
  }

  /**
   * Identifies the caller from the Authorization header. The bootstrap key acts for the tenant named in
   * `tenantHeader`, or for the default tenant if the header is empty; if `tenantHeader` is null, the
   * bootstrap key is not accepted. `now` is Unix time in milliseconds. Throws SK-SYS-401, and SK-SYS-404 if
   * `tenantHeader` names an unknown tenant.
   */
  identify(authorization: string, tenantHeader: string | null, state: CatalogState, now: number): Principal {
    if (this.#keys !== state.keyByHash) {
      this.#known.clear();
      this.#keys = state.keyByHash;
    }
    let known = this.#known.get(authorization);
    if (known === undefined || known.endMs <= now) {
      known = this.#identified(authorization, state, now);
      if (USUAL_HEADER.test(authorization)) this.#known.set(authorization, known, authorization.length);
    }
    if (known.principal !== null) return known.principal;
    if (tenantHeader === null) throw notValid();
    return this.#bootstrap(tenantHeader, state);
  }

  #identified(authorization: string, state: CatalogState, now: number): Known {
    const value = HEADER.exec(authorization)?.[1];
    if (value === undefined) {
      throw new SkeinError("SK-SYS-401", "an API key is required: send the header Authorization: Bearer KEY");
    }
    if (isToken(value)) return this.#holder(value, state, now);
    if (value.length > KEY_LENGTH_MAX) throw notValid();
    const hash = hashKey(value);
    if (timingSafeEqual(Buffer.from(hash), this.#adminHash))
      return { principal: null, endMs: Number.POSITIVE_INFINITY };
    const key = state.keyByHash.get(hash);
    if (key === undefined) throw notValid();
    return { principal: living(key, now), endMs: msOf(endOf(key)) };
  }

  #bootstrap(tenantHeader: string, state: CatalogState): Principal {
    const name = tenantHeader === "" ? DEFAULT_TENANT : tenantHeader;
    const known = this.#bootstraps.get(name);
    if (known !== undefined && state.tenants.get(known.tenant)?.name === name) return known;
    for (const tenant of state.tenants.values()) {
      if (tenant.name !== name) continue;
      const rights = {
        scopes: SCOPES,
        indexes: ALL_INDEXES,
        rateLimit: null,
        rateLimitCounts: "slots",
        valueHash: "",
      } as const;
      const principal = { tenant: tenant.id, keyId: null, ...rights, token: null };
      this.#bootstraps.set(name, principal);
      return principal;
    }
    throw new SkeinError("SK-SYS-404", "the header X-Skein-Tenant names a tenant that does not exist");
  }

  /** Identifies who holds a search token. Nothing in it is trusted before its signature is verified. */
  #holder(value: string, state: CatalogState, now: number): Known {
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
    const scopes = TOKEN_SCOPES.filter((scope) => allows(key.scopes, scope));
    return {
      principal: { ...key, scopes, token },
      endMs: Math.min(msOf(endOf(signer)), msOf(token.expiresAt)),
    };
  }
}

/** Returns the rights of the key that the value belongs to. Throws SK-SYS-401 if the value has expired. */
function living(value: KeyValue, now: number): Principal {
  const end = endOf(value);
  if (end !== null && Date.parse(end) <= now)
    throw new SkeinError("SK-SYS-401", `the API key expired at ${end}`);
  const { tenant, id: keyId, scopes, indexes, rateLimit } = value.key;
  const rateLimitCounts = countedBy(value.key);
  return { tenant, keyId, scopes, indexes, rateLimit, rateLimitCounts, valueHash: value.hash, token: null };
}

/** The time at which a value expires, or null if it never does. */
function endOf({ key: { expiresAt }, until }: KeyValue): string | null {
  if (expiresAt === null || until === null) return expiresAt ?? until;
  return Date.parse(expiresAt) < Date.parse(until) ? expiresAt : until;
}

/** A time in Unix milliseconds; infinite if there is none. */
function msOf(time: string | null): number {
  return time === null ? Number.POSITIVE_INFINITY : Date.parse(time);
}

/**
 * Looks up again which rights a key that manages keys may grant, because the key may have been rotated,
 * narrowed or deleted while its request was being received. A replaced value cannot grant anything that
 * outlives it. Throws SK-SYS-401 if the value is no longer valid, and SK-SYS-403 if the key may no longer
 * manage keys.
 */
export function grantorOf(principal: Principal, state: CatalogState, now: number): Grantor {
  if (principal.keyId === null) return { ...principal, expiresAt: null };
  const value = state.keyByHash.get(principal.valueHash);
  if (value === undefined) throw notValid();
  const { scopes, indexes, rateLimit, rateLimitCounts } = living(value, now);
  checkRights({ ...principal, scopes }, "keys", undefined);
  return { scopes, indexes, rateLimit, rateLimitCounts, expiresAt: endOf(value) };
}

function notValid(): SkeinError {
  return new SkeinError("SK-SYS-401", "the API key is not valid");
}

/** True if the header carries this key. */
export function carriesKey(authorization: string, key: string): boolean {
  const value = HEADER.exec(authorization)?.[1];
  return value !== undefined && timingSafeEqual(Buffer.from(hashKey(value)), Buffer.from(hashKey(key)));
}

/**
 * Checks that the principal has the scope and, if `index` is given, may use that index. Throws SK-SYS-403
 * otherwise.
 */
export function checkRights(principal: Principal, scope: Scope, index: string | undefined): void {
  const what = principal.token === null ? "API key" : "search token";
  if (!allows(principal.scopes, scope)) {
    throw new SkeinError("SK-SYS-403", `the ${what} lacks the scope "${scope}"`, { details: { scope } });
  }
  if (index === undefined) return;
  checkCovers(principal.indexes, index, what);
  if (principal.token !== null) checkCovers(principal.token.indexes ?? ALL_INDEXES, index, what);
}

function checkCovers(indexes: readonly string[], index: string, what: string): void {
  if (anyPatternMatches(indexes, index)) return;
  throw new SkeinError("SK-SYS-403", `the ${what} does not cover this index`, { details: { indexes } });
}
