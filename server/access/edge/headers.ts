// Header lines, and the security headers that are sent with every reply.

/** Header lines, with lower-case names. */
export type HeaderLines = readonly (readonly [name: string, value: string])[];

/** Constant header lines. They are joined once, so that a reply can send them as if they were one line. */
export class HeaderBlock {
  static readonly none = new HeaderBlock([]);
  readonly lines: HeaderLines;
  /** Name of the first line; "" if there is none. */
  readonly name: string;
  /** Value of the first line, followed by the other lines. */
  readonly rest: string;

  constructor(lines: HeaderLines) {
    const [first, ...others] = lines;
    this.lines = lines;
    this.name = first?.[0] ?? "";
    this.rest = [first?.[1] ?? "", ...others.map(([name, value]) => `${name}: ${value}`)].join("\r\n");
  }
}

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
