// Adds cross-origin headers for browsers, only for the origins in the configuration.
import type { HeaderLines } from "./headers.js";

const EXPOSED = ["access-control-expose-headers", "x-request-id, retry-after"] as const;
const PREFLIGHT: HeaderLines = [
  ["access-control-allow-methods", "GET, POST, PATCH, DELETE"],
  [
    "access-control-allow-headers",
    "authorization, content-type, content-encoding, x-request-id, x-skein-tenant",
  ],
  ["access-control-max-age", "86400"],
];
const ANY_ORIGIN: HeaderLines = [["access-control-allow-origin", "*"], EXPOSED];
/** A reply cached for one origin must not be served to another, or to a request without an origin. */
const VARY: HeaderLines = [["vary", "origin"]];
const NO_HEADERS: HeaderLines = [];

/**
 * Headers for a reply to a request from `origin` ("" if the request has none). If `allowed` is null, no
 * origin is allowed and there are no headers. Unless `allowed` contains "*", every reply has `Vary: Origin`,
 * even a reply to a missing or refused origin.
 */
export function corsHeaders(origin: string, method: string, allowed: readonly string[] | null): HeaderLines {
  if (allowed === null) return NO_HEADERS;
  const any = allowed.includes("*");
  if (origin === "" || !(any || allowed.includes(origin))) return any ? NO_HEADERS : VARY;
  const headers = any ? ANY_ORIGIN : [["access-control-allow-origin", origin] as const, EXPOSED, ...VARY];
  return method === "OPTIONS" ? [...headers, ...PREFLIGHT] : headers;
}
