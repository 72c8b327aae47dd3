// Creates and verifies search tokens. A shop's own server signs them with a search key, without calling
// Skein, for one visitor or a group of visitors. A token can only narrow the rights of its key.
//   skt_<the key's prefix>.<base64url of the JSON of its members>.<base64url of the signature>
// The signature is HMAC-SHA256 (RFC 2104) over everything before the last dot. The HMAC key is the SHA-256 of
// the search key, because the server stores only that hash.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { SkeinError } from "../../ground/errors.js";
import { object, optional } from "../../ground/input/object-reader.js";
import { checked, integer, list, text } from "../../ground/input/readers.js";
import { isoTime } from "../../ground/input/time-reader.js";
import { FIXED_LIMITS, type Limits } from "../../ground/limits.js";
import { INDEX_PATTERN } from "./scopes.js";

const MARK = "skt_";
const FORM = /^skt_([\w-]{1,64})\.([\w-]+)\.([\w-]{43})$/;

const TOKEN = object(
  {
    filter_by: optional(
      checked(text(FIXED_LIMITS.tokenBytesMax), (filter) =>
        filter.trim() === "" ? "must not be empty" : null,
      ),
      "Filter expression that every search has beside its own.",
    ),
    indexes: optional(list(INDEX_PATTERN, FIXED_LIMITS.keyPatternsMax)),
    expires_at: optional(isoTime()),
    user_id: optional(
      checked(text(FIXED_LIMITS.personBytesMax), (person) => (person === "" ? "must not be empty" : null)),
    ),
    rate_limit: optional(integer(1, FIXED_LIMITS.requestsPerSecondMax)),
  },
  { unknown: "refused", nulls: "refused" },
);

/** A token's restrictions, which apply in addition to its key's. A null member restricts nothing. */
export interface SearchToken {
  /** Identifies the token for its rate limit. */
  readonly signature: string;
  readonly filterBy: string | null;
  readonly indexes: readonly string[] | null;
  readonly expiresAt: string | null;
  readonly userId: string | null;
  readonly rateLimit: number | null;
}

/** A token as received. Trust nothing in it until `isSignedBy` has verified the signature. */
export interface SentToken {
  /** Prefix of the key that the token claims to be signed with. */
  readonly prefix: string;
  readonly signed: string;
  readonly payload: string;
  readonly signature: Buffer;
}

export function isToken(value: string): boolean {
  return value.startsWith(MARK);
}

/** Splits a token into its parts. Returns null if the value does not look like a token. */
export function sentToken(value: string): SentToken | null {
  const [, prefix, payload, signature] = FORM.exec(value) ?? [];
  if (prefix === undefined || payload === undefined || signature === undefined) return null;
  return {
    prefix,
    signed: value.slice(0, value.lastIndexOf(".")),
    payload,
    signature: Buffer.from(signature, "base64url"),
  };
}

/**
 * True if the key with this hash (hexadecimal) signed the token. Takes the same time for valid and invalid
 * signatures.
 */
export function isSignedBy({ signed, signature }: SentToken, keyHash: string): boolean {
  return timingSafeEqual(signatureOf(signed, Buffer.from(keyHash, "hex")), signature);
}

/**
 * Reads a token's members. The caller must have verified the signature. Throws SK-SYS-401 if the members are
 * invalid.
 */
export function openToken({ payload, signature }: SentToken, limits: Limits): SearchToken {
  const json = Buffer.from(payload, "base64url").toString("utf8");
  const given = TOKEN.read(parsed(json), "token", { limits, code: "SK-SYS-401" });
  return {
    signature: signature.toString("base64url"),
    filterBy: given.filter_by ?? null,
    indexes: given.indexes ?? null,
    expiresAt: given.expires_at ?? null,
    userId: given.user_id ?? null,
    rateLimit: given.rate_limit ?? null,
  };
}

/** Creates a token with these members, signed with `key`. */
export function makeToken(key: string, prefix: string, members: Readonly<Record<string, unknown>>): string {
  const signed = `${MARK}${prefix}.${Buffer.from(JSON.stringify(members)).toString("base64url")}`;
  const secret = createHash("sha256").update(key).digest();
  return `${signed}.${signatureOf(signed, secret).toString("base64url")}`;
}

function signatureOf(signed: string, secret: Buffer): Buffer {
  return createHmac("sha256", secret).update(signed).digest();
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new SkeinError("SK-SYS-401", "the search token does not contain JSON", { cause });
  }
}
