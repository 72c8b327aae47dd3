// Creates API key values, reads request bodies for keys, and builds the clients' view of a key. Only a
// value's SHA-256 is stored.
import { hash, randomBytes } from "node:crypto";
import {
  type KeyRecord,
  RATE_LIMIT_COUNTS,
  type RateLimitCounts,
  SCOPES,
  type Scope,
} from "../../catalog/records/key.js";
import { SkeinError } from "../../ground/errors.js";
import { describe, isObject } from "../../ground/input/json-value.js";
import { defaultsTo, object, required } from "../../ground/input/object-reader.js";
import { checked, integer, list, oneOf, refuse, someOf, text } from "../../ground/input/readers.js";
import { isoTime } from "../../ground/input/time-reader.js";
import { FIXED_LIMITS, type Limits } from "../../ground/limits.js";
import { anyPatternMatches, grantable, INDEX_PATTERN } from "./scopes.js";

const SHOWN_PREFIX_LENGTH = 10;

export const KEY = object(
  {
    name: required(
      checked(
        text(FIXED_LIMITS.keyNameBytesMax),
        (name) => (name.trim() === "" ? "must not be empty" : null),
        {
          minLength: 1,
        },
      ),
    ),
    scopes: required(someOf(SCOPES, "an array of scopes")),
    indexes: defaultsTo(
      ["*"],
      list(INDEX_PATTERN, FIXED_LIMITS.keyPatternsMax),
      "Names of indexes, * for any characters.",
    ),
    expires_at: defaultsTo(null, isoTime()),
    rate_limit: defaultsTo(null, integer(1, FIXED_LIMITS.requestsPerSecondMax), "Requests per second."),
    rate_limit_counts: defaultsTo(
      "slots",
      oneOf(RATE_LIMIT_COUNTS),
      "slots: each search of a multi-search counts; requests: the multi-search counts once.",
    ),
  },
  { unknown: "refused" },
);

/** Body of a rotation request. */
export const ROTATION = object(
  {
    grace_s: defaultsTo(
      0,
      integer(0, FIXED_LIMITS.keyGraceSecondsMax),
      "Seconds for which the old value stays good.",
    ),
  },
  { unknown: "refused" },
);

/** Returns a new key value with 256 random bits. */
export function newKeyValue(): string {
  return `sk_${randomBytes(32).toString("base64url")}`;
}

export function hashKey(value: string): string {
  return hash("sha256", value);
}

export function shownPrefix(value: string): string {
  return value.slice(0, SHOWN_PREFIX_LENGTH);
}

/** The key's members that clients may set. */
export type KeyDraft = Pick<KeyRecord, "name" | "scopes" | "indexes" | "expiresAt" | "rateLimit"> & {
  readonly rateLimitCounts: RateLimitCounts;
};

/** Rights and limits of the caller who creates or changes a key. Nobody can grant more than they have. */
export interface Grantor {
  readonly scopes: readonly Scope[];
  readonly indexes: readonly string[];
  readonly expiresAt: string | null;
  readonly rateLimit: number | null;
  readonly rateLimitCounts: RateLimitCounts;
}

/**
 * Reads the body of a create request, or of a PATCH if `current` is given. Throws SK-SYS-400 if the body is
 * invalid, and SK-SYS-403 if the key would have more rights, a later expiry or a higher rate limit than the
 * grantor.
 */
export function readKey(
  body: unknown,
  current: KeyRecord | null,
  grantor: Grantor,
  limits: Limits,
  now: Date,
): KeyDraft {
  const rules = { limits, code: "SK-SYS-400" } as const;
  const present =
    current === null
      ? undefined
      : {
          ...current,
          expires_at: current.expiresAt,
          rate_limit: current.rateLimit,
          rate_limit_counts: countedBy(current),
        };
  const given = KEY.read(body, "", rules, present);
  const { name, scopes, expires_at: expiresAt, rate_limit: rateLimit } = given;
  const { rate_limit_counts: rateLimitCounts } = given;
  const expiryGiven = isObject(body) && Object.hasOwn(body, "expires_at");
  if (expiryGiven && expiresAt !== null && new Date(expiresAt) <= now)
    refuse("expires_at", "must be in the future", rules);
  const indexes = [...new Set(given.indexes)];
  const draft: KeyDraft = { name, scopes, indexes, expiresAt, rateLimit, rateLimitCounts };
  checkGrant(draft, grantor);
  checkBounds(draft, grantor);
  return draft;
}

/** Checks that the grantor may grant these rights. Throws SK-SYS-403 if it lacks one of them. */
export function checkGrant(rights: Pick<KeyRecord, "scopes" | "indexes">, grantor: Grantor): void {
  const scope = rights.scopes.find((wanted) => !grantable(grantor.scopes).includes(wanted));
  if (scope !== undefined) {
    throw new SkeinError("SK-SYS-403", `your key lacks the scope "${scope}" and cannot grant or revoke it`);
  }
  const pattern = rights.indexes.find((wanted) => !anyPatternMatches(grantor.indexes, wanted));
  if (pattern !== undefined) {
    throw new SkeinError(
      "SK-SYS-403",
      `your key does not cover the indexes ${describe(pattern)} and cannot grant or revoke access to them`,
    );
  }
}

/**
 * Returns the rotated key. The previous value stays valid for `graceS` seconds. Any older value stops working
 * at once.
 */
export function rotatedKey(key: KeyRecord, value: string, graceS: number, now: Date): KeyRecord {
  const { previous: _earlier, ...rest } = key;
  const { hash, prefix } = key;
  const expiresAt = new Date(now.getTime() + graceS * 1000).toISOString();
  const previous = graceS === 0 ? {} : { previous: { hash, prefix, expiresAt } };
  return { ...rest, ...previous, hash: hashKey(value), prefix: shownPrefix(value) };
}

/** What the key's rate limit counts. */
export function countedBy({
  rateLimitCounts = "requests",
}: Pick<KeyRecord, "rateLimitCounts">): RateLimitCounts {
  return rateLimitCounts;
}

/**
 * Checks a key's bounds. Throws SK-SYS-403 if its expiry would be later, or its rate limit higher, than the
 * grantor's.
 */
export function checkBounds(
  { expiresAt, rateLimit, ...counts }: Pick<KeyRecord, "expiresAt" | "rateLimit" | "rateLimitCounts">,
  grantor: Grantor,
): void {
  const end = grantor.expiresAt;
  if (end !== null && (expiresAt === null || Date.parse(expiresAt) > Date.parse(end))) {
    throw new SkeinError(
      "SK-SYS-403",
      `your key expires at ${end}; keys that it creates or changes need an expires_at no later than that`,
    );
  }
  const rate = grantor.rateLimit;
  if (rate !== null && (rateLimit === null || rateLimit > rate)) {
    throw new SkeinError(
      "SK-SYS-403",
      `your key is limited to ${rate} requests per second; keys that it creates or changes need a rate_limit of at most ${rate}`,
    );
  }
  if (rate !== null && grantor.rateLimitCounts === "slots" && countedBy(counts) !== "slots") {
    throw new SkeinError(
      "SK-SYS-403",
      'your key\'s rate limit counts slots; keys that it creates or changes need rate_limit_counts "slots"',
    );
  }
}

/** The view of a key for clients, without its hash. */
export function keyView(key: KeyRecord): Record<string, unknown> {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    scopes: key.scopes,
    indexes: key.indexes,
    expires_at: key.expiresAt,
    rate_limit: key.rateLimit,
    rate_limit_counts: countedBy(key),
    created_at: key.createdAt,
    previous_expires_at: key.previous?.expiresAt ?? null,
    last_used_on: key.lastUsedOn ?? null,
  };
}
