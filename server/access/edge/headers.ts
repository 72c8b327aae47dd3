// Headers sent with every reply that tell browsers what not to do with it. They are constant arrays because
// every reply needs them.

/** Header lines, names in lower case. */
export type HeaderLines = readonly (readonly [name: string, value: string])[];

/** No sniffing, no framing, nothing loaded, no referrer, and no caching: replies depend on the key. */
export const SECURITY_HEADERS: HeaderLines = [
  ["x-content-type-options", "nosniff"],
  ["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
  ["referrer-policy", "no-referrer"],
  ["cache-control", "no-store"],
];

/** The same over TLS: for a year, browsers use only https for this host. */
export const SECURITY_HEADERS_OVER_TLS: HeaderLines = [
  ...SECURITY_HEADERS,
  ["strict-transport-security", "max-age=31536000"],
];
