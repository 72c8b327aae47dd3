// Who is asking: finds the key of an Authorization header and says what it may do. Compares hashes, so that
// no comparison's duration tells anything about a key.
import { timingSafeEqual } from "node:crypto";
import type { CatalogState } from "../catalog/state.js";
import { SCOPES, type Scope } from "../catalog/types.js";
import { SkeinError } from "../errors.js";
import { hashKey } from "./keys.js";
import { allows, anyPatternMatches } from "./scopes.js";

const HEADER = /^Bearer +([\x21-\x7e]{1,512}) *$/i;
const ALL_INDEXES = ["*"];

export interface Principal {
  readonly tenant: number;
  /** null for the bootstrap admin key. */
  readonly keyId: number | null;
  readonly scopes: readonly Scope[];
  readonly indexes: readonly string[];
  readonly rateLimit: number | null;
}

/** The tenant of a fresh server. */
export const DEFAULT_TENANT = "default";

export class Doorkeeper {
  readonly #adminHash: string;

  constructor(adminKey: string) {
    this.#adminHash = hashKey(adminKey);
  }

  /**
   * The principal behind the header. The bootstrap key acts for the default tenant, or for the one that
   * `tenantHeader` names. Throws SK-SYS-401.
   */
  identify(authorization: string, tenantHeader: string, state: CatalogState, now: number): Principal {
    const value = HEADER.exec(authorization)?.[1];
    if (value === undefined) {
      throw new SkeinError("SK-SYS-401", "an API key is required: send the header Authorization: Bearer KEY");
    }
    const hash = hashKey(value);
    if (timingSafeEqual(Buffer.from(hash), Buffer.from(this.#adminHash)))
      return this.#bootstrap(tenantHeader, state);
    const key = state.keyByHash.get(hash);
    if (key === undefined) throw new SkeinError("SK-SYS-401", "the API key is not valid");
    if (key.expiresAt !== null && Date.parse(key.expiresAt) <= now) {
      throw new SkeinError("SK-SYS-401", `the API key expired at ${key.expiresAt}`);
    }
    return {
      tenant: key.tenant,
      keyId: key.id,
      scopes: key.scopes,
      indexes: key.indexes,
      rateLimit: key.rateLimit,
    };
  }

  #bootstrap(tenantHeader: string, state: CatalogState): Principal {
    const name = tenantHeader === "" ? DEFAULT_TENANT : tenantHeader;
    for (const tenant of state.tenants.values()) {
      if (tenant.name === name) {
        return { tenant: tenant.id, keyId: null, scopes: SCOPES, indexes: ALL_INDEXES, rateLimit: null };
      }
    }
    throw new SkeinError("SK-SYS-404", "the header X-Skein-Tenant names a tenant that does not exist");
  }
}

/** Whether the header carries this key. */
export function carriesKey(authorization: string, key: string): boolean {
  const value = HEADER.exec(authorization)?.[1];
  return value !== undefined && timingSafeEqual(Buffer.from(hashKey(value)), Buffer.from(hashKey(key)));
}

/** Throws SK-SYS-403 when the key lacks the scope or does not cover the index. */
export function checkRights(principal: Principal, scope: Scope, index: string | undefined): void {
  if (!allows(principal.scopes, scope)) {
    throw new SkeinError("SK-SYS-403", `the API key lacks the scope "${scope}"`, { details: { scope } });
  }
  if (index !== undefined && !anyPatternMatches(principal.indexes, index)) {
    throw new SkeinError("SK-SYS-403", "the API key does not cover this index", {
      details: { indexes: principal.indexes },
    });
  }
}
