// The security headers that are sent with every reply. They are constant arrays, so that no reply has to
// build them.

/** Header lines, with lower-case names. */
export type HeaderLines = readonly (readonly [name: string, value: string])[];

/**
 * Forbid sniffing, framing, loading anything, sending a referrer, and caching (replies depend on the key).
 */
export const SECURITY_HEADERS: HeaderLines = [
  ["x-content-type-options", "nosniff"],
  ["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
  ["referrer-policy", "no-referrer"],
  ["cache-control", "no-store"],
];

/** Over TLS, also make browsers use only https for this host for a year. */
export const SECURITY_HEADERS_OVER_TLS: HeaderLines = [
  ...SECURITY_HEADERS,
  ["strict-transport-security", "max-age=31536000"],
];
