// Translates a shard's refusals into errors from the catalogue. Unexpected errors are passed on unchanged;
// they are logged, and clients get a 500.
import {
  isUnreadable,
  SHARD_DAMAGED,
  SHARD_LATE,
  SHARD_NO_MEMORY,
  SHARD_NOT_OPEN,
  SHARD_STORAGE,
  SHARD_TOO_LARGE,
  SHARD_TRAPPED,
  SHARD_UNAVAILABLE,
  SHARD_VERSION,
  ShardError,
} from "../../../shards/protocol/errors.js";
import { type ErrorExtras, SkeinError } from "../../ground/errors.js";

/** A thread or an engine ended while the request was in flight. */
export class ShardEndedError extends SkeinError {
  /**
   * Number of the thread life that ended while the request was in flight; the request may be the cause. Null
   * if the request broke the engine and is therefore certainly to blame.
   */
  readonly life: number | null;

  constructor(sentence: string, { life, cause }: { life: number | null; cause: unknown }) {
    super("SK-SE-503", sentence, { retryAfter: 1, cause });
    this.life = life;
  }
}

/** The reply would exceed the maximum size. */
export class ReplyTooLargeError extends SkeinError {
  constructor(extras: ErrorExtras = {}) {
    super(
      "SK-SE-413",
      "the reply would exceed the maximum size; ask for fewer documents per page, fewer fields or fewer facet values",
      extras,
    );
  }
}

/** Decodes a reply. If it is a refusal, reports any damage to `onDamage` and throws a SkeinError. */
export function decodeReply<T>(
  reply: Uint8Array,
  decode: (reply: Uint8Array) => T,
  onDamage: (error: ShardError) => void = () => undefined,
): T {
  const failed = (error: unknown): never => {
    if (isUnreadable(error)) onDamage(error);
    throw asSkeinError(error);
  };
  try {
    const decoded = decode(reply);
    return decoded instanceof Promise ? (decoded.catch(failed) as T) : decoded;
  } catch (error) {
    return failed(error);
  }
}

/** Returns a sentence that tells clients that an index's stored data is unreadable. */
export function damageSentence({ code, message }: ShardError): string {
  return code === SHARD_VERSION
    ? `the index was stored by another version of Skein (${message}); start that version`
    : `stored data of the index is damaged (${message}); stop the server and run "skein check" and "skein repair"`;
}

/** The error for a search that missed its deadline. */
export function lateSearch(cause?: unknown): SkeinError {
  return new SkeinError(
    "SK-SE-503",
    "the search exceeded the time limit and was ended; narrow it or retry in a moment",
    { retryAfter: 1, cause },
  );
}

function asSkeinError(error: unknown): unknown {
  if (!(error instanceof ShardError)) return error;
  switch (error.code) {
    case SHARD_UNAVAILABLE:
    case SHARD_NOT_OPEN:
      return new SkeinError("SK-SE-503", "the index is being reopened; retry in a moment", {
        retryAfter: 1,
        cause: error,
      });
    case SHARD_TRAPPED:
      return new ShardEndedError("the request crashed the search engine; the index is being reopened", {
        life: null,
        cause: error,
      });
    case SHARD_TOO_LARGE:
      return new ReplyTooLargeError({ cause: error });
    case SHARD_LATE:
      return lateSearch(error);
    case SHARD_NO_MEMORY:
      return new SkeinError("SK-SE-503", "the search engine is out of memory; nothing was changed", {
        retryAfter: 5,
        cause: error,
      });
    case SHARD_DAMAGED:
    case SHARD_VERSION:
      return new SkeinError("SK-SE-503", damageSentence(error), { retryAfter: 60, cause: error });
    case SHARD_STORAGE:
      return new SkeinError("SK-SYS-503", "the storage refused the write; nothing was changed", {
        retryAfter: 5,
        cause: error,
      });
    default:
      return error;
  }
}

/** Makes an error fit the document routes: SK-SE-503 becomes SK-DOC-503. */
export function asDocumentError(error: unknown): unknown {
  if (!(error instanceof SkeinError) || error.code !== "SK-SE-503") return error;
  return new SkeinError("SK-DOC-503", error.message, {
    ...(error.retryAfter === undefined ? {} : { retryAfter: error.retryAfter }),
    cause: error,
  });
}
