// Errors sent from a shard to the server. An error has a code to match on, and a message for the log.

/**
 * The index was closed by a fault and is being reopened, or the shard is shutting down. The caller should
 * retry.
 */
export const SHARD_UNAVAILABLE = "SK-SE-503";
/** The index is not open in this shard; send OPEN first. */
export const SHARD_NOT_OPEN = "SHARD-NOT-OPEN";
/** The message or query program is malformed, which is a bug in the sender. */
export const SHARD_BAD_MESSAGE = "SHARD-BAD-MESSAGE";
/** Stored bytes failed their checks; the index cannot be opened without a repair. */
export const SHARD_DAMAGED = "SHARD-DAMAGED";
/** The stored bytes were written by another version of Skein, and this version cannot read them. */
export const SHARD_VERSION = "SHARD-VERSION";
/** The database refused a write; nothing has changed. */
export const SHARD_STORAGE = "SHARD-STORAGE";
/** The engine's memory for the index is full; nothing has changed. */
export const SHARD_NO_MEMORY = "SHARD-NO-MEMORY";
/** The request's deadline passed before it was answered. */
export const SHARD_LATE = "SHARD-LATE";
/** This request made the engine trap; the index is being reopened. */
export const SHARD_TRAPPED = "SHARD-TRAPPED";
/** The requested documents exceed the answer's size limit. */
export const SHARD_TOO_LARGE = "SHARD-TOO-LARGE";
/** Any unforeseen error. */
export const SHARD_INTERNAL = "SHARD-INTERNAL";

export type ShardErrorCode =
  | typeof SHARD_UNAVAILABLE
  | typeof SHARD_NOT_OPEN
  | typeof SHARD_BAD_MESSAGE
  | typeof SHARD_DAMAGED
  | typeof SHARD_VERSION
  | typeof SHARD_STORAGE
  | typeof SHARD_NO_MEMORY
  | typeof SHARD_LATE
  | typeof SHARD_TRAPPED
  | typeof SHARD_TOO_LARGE
  | typeof SHARD_INTERNAL;

export class ShardError extends Error {
  readonly code: ShardErrorCode;
  /** The affected index, for SHARD_DAMAGED and SHARD_VERSION. */
  readonly uid: number | undefined;

  constructor(code: ShardErrorCode, message: string, options?: ErrorOptions & { uid?: number | undefined }) {
    super(message, options);
    this.name = "ShardError";
    this.code = code;
    this.uid = options?.uid;
  }
}

const CODES: ReadonlySet<string> = new Set([
  SHARD_UNAVAILABLE,
  SHARD_NOT_OPEN,
  SHARD_BAD_MESSAGE,
  SHARD_DAMAGED,
  SHARD_VERSION,
  SHARD_STORAGE,
  SHARD_NO_MEMORY,
  SHARD_LATE,
  SHARD_TRAPPED,
  SHARD_TOO_LARGE,
  SHARD_INTERNAL,
]);

/** Maps an unknown code to SHARD_INTERNAL. */
export function shardErrorCode(code: unknown): ShardErrorCode {
  return typeof code === "string" && CODES.has(code) ? (code as ShardErrorCode) : SHARD_INTERNAL;
}

/**
 * True if stored data is unreadable. The index then stays closed, or answers only requests that do not need
 * that data.
 */
export function isUnreadable(error: unknown): error is ShardError {
  return error instanceof ShardError && (error.code === SHARD_DAMAGED || error.code === SHARD_VERSION);
}
