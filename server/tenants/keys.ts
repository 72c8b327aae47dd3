// API keys: making values, reading key bodies, what is shown. A value is kept as SHA-256 only.
import { hash, randomBytes } from "node:crypto";
import { type KeyRecord, SCOPES, type Scope } from "../catalog/types.js";
import { SkeinError } from "../errors.js";
import { describe, Members } from "../input.js";
import type { Limits } from "../limits.js";
import { anyPatternMatches, grantable } from "./scopes.js";

const SHOWN_PREFIX_LENGTH = 10;
const NAME_BYTES_MAX = 200;
const RATE_MAX = 1_000_000;
const ISO_TIME = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2}))?$/;

/** A fresh value with 256 random bits. */
export function newKeyValue(): string {
  return `sk_${randomBytes(32).toString("base64url")}`;
}

export function hashKey(value: string): string {
  return hash("sha256", value);
}

export function shownPrefix(value: string): string {
  return value.slice(0, SHOWN_PREFIX_LENGTH);
}

/** The members of a key that a client decides. */
export type KeyDraft = Pick<KeyRecord, "name" | "scopes" | "indexes" | "expiresAt" | "rateLimit">;

/** Who makes or changes a key; nobody can give away more than he has. */
export interface Grantor {
  readonly scopes: readonly Scope[];
  readonly indexes: readonly string[];
  readonly expiresAt: string | null;
  readonly rateLimit: number | null;
}

/**
 * A create body, or with `current` a PATCH body. Throws SK-SYS-400, and SK-SYS-403 for a key that could do more, would live
 * longer or be limited less than the grantor.
 */
export function readKey(
  body: unknown,
  current: KeyDraft | null,
  grantor: Grantor,
  limits: Limits,
  now: Date,
): KeyDraft {
  const members = new Members(body, "", "SK-SYS-400");
  members.allowOnly(["name", "scopes", "indexes", "expires_at", "rate_limit"]);
  const given = (name: string): boolean => current === null || members.has(name);
  const draft: KeyDraft = {
    name: given("name") ? readName(members) : current!.name,
    scopes: given("scopes") ? readScopes(members) : current!.scopes,
    indexes: given("indexes") ? readPatterns(members, limits) : current!.indexes,
    expiresAt: given("expires_at") ? readExpiry(members, now) : current!.expiresAt,
    rateLimit: given("rate_limit")
      ? (members.optionalInteger("rate_limit", 1, RATE_MAX) ?? null)
      : current!.rateLimit,
  };
  checkGrant(draft, grantor);
  checkBounds(draft, grantor);
  return draft;
}

/** Refuses rights that the grantor does not have. */
export function checkGrant(rights: Pick<KeyRecord, "scopes" | "indexes">, grantor: Grantor): void {
  const scope = rights.scopes.find((wanted) => !grantable(grantor.scopes).includes(wanted));
  if (scope !== undefined) {
    throw new SkeinError("SK-SYS-403", `your key lacks the scope "${scope}" and cannot give or take it`);
  }
  const pattern = rights.indexes.find((wanted) => !anyPatternMatches(grantor.indexes, wanted));
  if (pattern !== undefined) {
    throw new SkeinError(
      "SK-SYS-403",
      `your key does not cover the indexes ${describe(pattern)} and cannot give or take them`,
    );
  }
}

/** Refuses a longer life or a higher rate than the grantor's own. */
function checkBounds({ expiresAt, rateLimit }: KeyDraft, grantor: Grantor): void {
  const end = grantor.expiresAt;
  if (end !== null && (expiresAt === null || Date.parse(expiresAt) > Date.parse(end))) {
    throw new SkeinError(
      "SK-SYS-403",
      `your key expires at ${end}; a key that it makes or changes needs an expires_at no later than that`,
    );
  }
  const rate = grantor.rateLimit;
  if (rate !== null && (rateLimit === null || rateLimit > rate)) {
    throw new SkeinError(
      "SK-SYS-403",
      `your key is limited to ${rate} requests per second; a key that it makes or changes needs a rate_limit of at most ${rate}`,
    );
  }
}

/** What clients see; the hash stays inside. */
export function keyView(key: KeyRecord): Record<string, unknown> {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    scopes: key.scopes,
    indexes: key.indexes,
    expires_at: key.expiresAt,
    rate_limit: key.rateLimit,
    created_at: key.createdAt,
  };
}

function readName(members: Members): string {
  const name = members.string("name", NAME_BYTES_MAX);
  if (name.trim() === "") members.refuse("name", "must not be empty");
  return name;
}

function readScopes(members: Members): Scope[] {
  const wanted = members.array("scopes", 100, "an array of scopes");
  if (wanted.length === 0) members.refuse("scopes", `must name at least one of ${SCOPES.join(", ")}`);
  const scopes = wanted.map(
    (value, i) =>
      SCOPES.find((scope) => scope === value) ??
      members.refuse(`scopes[${i}]`, `must be one of ${SCOPES.join(", ")}, not ${describe(value)}`),
  );
  return [...new Set(scopes)];
}

function readPatterns(members: Members, limits: Limits): string[] {
  const patterns = members.optionalStrings("indexes", limits.keyPatternsMax, limits.indexNameBytesMax) ?? [
    "*",
  ];
  patterns.forEach((pattern, i) => {
    if (!/^[a-z0-9_*-]+$/.test(pattern)) {
      members.refuse(
        `indexes[${i}]`,
        `must be an index name, with * for any characters, not ${describe(pattern)}`,
      );
    }
  });
  return [...new Set(patterns)];
}

function readExpiry(members: Members, now: Date): string | null {
  const text = members.optionalString("expires_at", 100, "an ISO 8601 time");
  if (text === undefined) return null;
  const time = new Date(text);
  const day = ISO_TIME.exec(text)?.[1];
  if (day === undefined || !isDay(day) || Number.isNaN(time.getTime())) {
    return members.refuse(
      "expires_at",
      `must be an ISO 8601 time such as 2031-01-01T00:00:00Z, not ${describe(text)}`,
    );
  }
  if (time <= now) members.refuse("expires_at", "must be in the future");
  return time.toISOString();
}

/** Whether the calendar has the day; `Date` takes 31 February for 3 March. */
function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}
