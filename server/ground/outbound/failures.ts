// Translates each way in which resolving a name, connecting or TLS can fail into an error code and a message.
// A message contains the URL's host but nothing else from the URL, because user, path and query may contain
// secrets.
import { FeedError, type FeedErrorCode } from "../errors.js";

/** A transient failure: a retry may succeed. */
export class PassingError extends FeedError {
  /** How long (ms) the server asks clients to wait before a retry; null if it does not say. */
  readonly afterMs: number | null;

  constructor(code: FeedErrorCode, message: string, cause?: unknown, afterMs: number | null = null) {
    super(code, message, cause);
    this.afterMs = afterMs;
  }
}

/** Why a certificate is not trusted, by OpenSSL or Node.js error code. */
const CERTIFICATE_FAULTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "has expired",
  CERT_NOT_YET_VALID: "is not valid yet",
  CERT_REVOKED: "was revoked",
  DEPTH_ZERO_SELF_SIGNED_CERT: "is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "is signed by an unknown authority",
  UNABLE_TO_GET_ISSUER_CERT: "is signed by an unknown authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "is signed by an unknown authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "comes without its intermediate certificates",
  ERR_TLS_CERT_ALTNAME_INVALID: "is for a different name",
};

const UNREACHABLE = new Set(["EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN", "ENETDOWN", "EADDRNOTAVAIL"]);

export function nameFailure(host: string, cause: unknown): PassingError {
  return new PassingError("SK-DS-523", `the name ${host} cannot be resolved`, cause);
}

/**
 * Turns an error on the connection to `host` into a FeedError. The connection may or may not have been
 * established.
 */
export function connectionFailure(host: string, cause: unknown): FeedError {
  if (cause instanceof FeedError) return cause;
  const code = (cause as { code?: unknown } | null)?.code;
  const name = typeof code === "string" ? code : "";
  const fault = CERTIFICATE_FAULTS[name];
  if (fault !== undefined) return new FeedError("SK-DS-525", `the certificate of ${host} ${fault}`, cause);
  if (name === "EPROTO" || /^ERR_(SSL|TLS)_/.test(name))
    return new FeedError("SK-DS-525", `no secure connection to ${host} could be established`, cause);
  return new PassingError("SK-DS-521", broken(host, name), cause);
}

function broken(host: string, code: string): string {
  if (code === "ECONNREFUSED") return `${host} refused the connection`;
  if (UNREACHABLE.has(code)) return `${host} cannot be reached`;
  if (code === "HPE_HEADER_OVERFLOW") return `${host} answered with headers that are too large`;
  if (code.startsWith("HPE_")) return `${host} answered with something that is not HTTP`;
  return `${host} broke off the connection`;
}

/**
 * The error for a server that was silent for `ms` milliseconds. `phase` is what it failed to do, for example
 * "accept the connection".
 */
export function silenceFailure(host: string, phase: string, ms: number): PassingError {
  return new PassingError("SK-DS-504", `${host} did not ${phase} within ${seconds(ms)}`);
}

export function seconds(ms: number): string {
  return `${ms / 1000} s`;
}
