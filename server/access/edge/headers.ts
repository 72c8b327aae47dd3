// The headers of every reply that tell a browser what it must not do with it. Constant arrays, because each reply has them.

/** Header lines, names in lower case. */
export type HeaderLines = readonly (readonly [name: string, value: string])[];

/** No sniffing, no framing, nothing loaded, nothing told to other sites, and no copy in any cache: replies depend on the key. */
export const SECURITY_HEADERS: HeaderLines = [
  ["x-content-type-options", "nosniff"],
  ["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
  ["referrer-policy", "no-referrer"],
  ["cache-control", "no-store"],
];

/** The same over TLS: for a year browsers ask this host over https only. */
export const SECURITY_HEADERS_OVER_TLS: HeaderLines = [
  ...SECURITY_HEADERS,
  ["strict-transport-security", "max-age=31536000"],
];
