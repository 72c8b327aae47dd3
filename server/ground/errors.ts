// The error catalogue: code, HTTP status and meaning. Clients match on `code`; the message in `error` is for
// people and may change. docs/ERRORS.md has the same table, and a test compares the two. http/respond.ts
// turns a SkeinError into bytes.

interface ErrorKind {
  readonly status: number;
  /** When the error is returned, in the words of docs/ERRORS.md. */
  readonly meaning: string;
}

export const ERRORS = {
  "SK-SE-400": { status: 400, meaning: "The query is invalid: a parameter, a filter expression, the JSON." },
  "SK-SE-404": { status: 404, meaning: "Query on an index that does not exist." },
  "SK-SE-413": {
    status: 413,
    meaning:
      "The reply would exceed its maximum size (`replyBytesMax`; in a multi-search, what earlier answers have left of `multiSearchReplyBytesMax`): ask for fewer documents per page or fewer fields.",
  },
  "SK-SE-503": {
    status: 503,
    meaning:
      "The search engine cannot answer at the moment (a shard is restarting, its queue or memory is full, the search ran out of time, or the query has crashed a shard twice); retry after `Retry-After`.",
  },
  "SK-IX-400": { status: 400, meaning: "The definition or the settings of an index are invalid." },
  "SK-IX-404": { status: 404, meaning: "The index does not exist." },
  "SK-IX-409": {
    status: 409,
    meaning: "An index of this name already exists, or another change to it is in progress.",
  },
  "SK-DOC-400": { status: 400, meaning: "A document, a batch or a document filter is invalid." },
  "SK-DOC-404": { status: 404, meaning: "The document does not exist." },
  "SK-DOC-409": { status: 409, meaning: "A document with this id already exists (action create)." },
  "SK-DOC-413": { status: 413, meaning: "A document, a batch or the number of its documents is too large." },
  "SK-DOC-503": {
    status: 503,
    meaning: "Documents cannot be stored at the moment (full engine, full queue, shard restart); retry.",
  },
  "SK-DS-400": { status: 400, meaning: "A data source is invalid, or there are too many." },
  "SK-DS-404": { status: 404, meaning: "The index has no such data source, or the data source no such run." },
  "SK-DS-409": { status: 409, meaning: "The run is over, so it cannot be cancelled." },
  "SK-RR-400": {
    status: 400,
    meaning: "A ranking rule is invalid, or the index's rules are too many or too large.",
  },
  "SK-RR-404": { status: 404, meaning: "The index has no such ranking rule." },
  "SK-SY-400": {
    status: 400,
    meaning: "A synonym group is invalid, or the index's groups are too many or too large.",
  },
  "SK-SY-404": { status: 404, meaning: "The index has no such synonym group." },
  "SK-AN-400": { status: 400, meaning: "An event or a parameter of a report is invalid." },
  "SK-AN-503": {
    status: 503,
    meaning:
      "The query log cannot be read or written at the moment, or too many reports are waiting; retry after `Retry-After`. Searches continue.",
  },
  "SK-AI-400": { status: 400, meaning: "A parameter of the coach is invalid." },
  "SK-AI-404": { status: 404, meaning: "There is no such recommendation." },
  "SK-AI-409": {
    status: 409,
    meaning: "The recommendation was dismissed, so it cannot be applied, or vice versa.",
  },
  "SK-AI-429": {
    status: 429,
    meaning:
      "The plan's analyses for this month are used up; wait for the next month (`Retry-After`) or upgrade.",
  },
  "SK-AI-503": {
    status: 503,
    meaning:
      "The coach cannot work at the moment: its AI provider is down or gives unusable answers, or too many analyses are waiting. Nothing was saved or counted. Searches continue.",
  },
  "SK-SYS-400": {
    status: 400,
    meaning:
      "The request is malformed: HTTP itself, JSON, encoding, a repeated URL parameter, a parameter of a system route.",
  },
  "SK-SYS-401": { status: 401, meaning: "No valid key was sent." },
  "SK-SYS-403": { status: 403, meaning: "The key is valid but does not allow this." },
  "SK-SYS-404": { status: 404, meaning: "No such path, key, tenant or snapshot." },
  "SK-SYS-405": { status: 405, meaning: "The path exists but not with this method; see the Allow header." },
  "SK-SYS-408": { status: 408, meaning: "The request did not arrive in time." },
  "SK-SYS-409": {
    status: 409,
    meaning:
      "The change conflicts with the present state (a name is taken, a tenant is in use, a snapshot is being written).",
  },
  "SK-SYS-411": {
    status: 411,
    meaning:
      "The body was sent in chunks, which the server takes only with `--http node`; send it with Content-Length.",
  },
  "SK-SYS-413": { status: 413, meaning: "The request body is too large." },
  "SK-SYS-415": { status: 415, meaning: "The body's Content-Type or Content-Encoding is not supported." },
  "SK-SYS-417": { status: 417, meaning: "The Expect header asks for something other than 100-continue." },
  "SK-SYS-429": {
    status: 429,
    meaning:
      "The plan's quota or its limit on concurrent imports, the rate limit of a key or token, or the throttle on an address was exceeded.",
  },
  "SK-SYS-431": { status: 431, meaning: "The request head is larger than `headerBytesMax`." },
  "SK-SYS-500": {
    status: 500,
    meaning: "An unexpected failure; see the server's log under the request id.",
  },
  "SK-SYS-501": {
    status: 501,
    meaning: "The body has a transfer coding other than chunked; use Content-Encoding to compress it.",
  },
  "SK-SYS-503": {
    status: 503,
    meaning:
      "The server is starting, stopping or overloaded (too many requests, or replies that clients do not read), its disk is full or refuses a write, its memory limit is reached, or a deletion by filter waited too long for a rebuild; retry after `Retry-After`.",
  },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

export interface ErrorExtras {
  /** Facts for programs, for example {position: 12} for an error in a filter. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Seconds after which the client may retry. Sent as the Retry-After header. */
  readonly retryAfter?: number;
  readonly cause?: unknown;
}

/** An error that clients may see. `message` is one clear sentence that names the invalid parameter. */
export class SkeinError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfter: number | undefined;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.name = "SkeinError";
    this.code = code;
    this.status = ERRORS[code].status;
    this.details = extras.details;
    this.retryAfter = extras.retryAfter;
  }
}

/**
 * Why a data source's run failed. These codes are a run's `error_code` and never appear in an HTTP error. The
 * suffix is the HTTP status with the closest meaning; 520 to 525 are the codes that proxies use if their
 * origin server fails. docs/ERRORS.md has the same table.
 */
export const FEED_ERRORS = {
  "SK-DS-401":
    "The feed's server answered 401 or 403. The schedule is suspended until the credentials change.",
  "SK-DS-403": "The feed's address, or one that it redirects to, is not allowed.",
  "SK-DS-409": "The run would have deleted too much, so it deleted nothing.",
  "SK-DS-413": "The feed, or one item of it, is larger than allowed.",
  "SK-DS-422": "The feed cannot be read in the format it is said to have.",
  "SK-DS-502": "The feed's server answered with a status other than 200, or redirected too often.",
  "SK-DS-503": "The run was interrupted, or the server could not write.",
  "SK-DS-504": "The feed's server took too long.",
  "SK-DS-520": "The feed ended before it was complete, or may have.",
  "SK-DS-521": "The feed's server refused or broke off the connection.",
  "SK-DS-523": "The name of the feed's server cannot be resolved.",
  "SK-DS-525": "No secure connection to the feed's server could be established.",
} as const satisfies Record<string, string>;

export type FeedErrorCode = keyof typeof FEED_ERRORS;

/** Why a feed could not be read. `message` is one clear sentence for the person who maintains the feed. */
export class FeedError extends Error {
  readonly code: FeedErrorCode;

  constructor(code: FeedErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "FeedError";
    this.code = code;
  }
}

/**
 * An error's JSON body, used in every error response, for a document in a batch, and for a failed slot of a
 * multi-search.
 */
export interface ErrorBody {
  error: string;
  code: ErrorCode;
  details?: Readonly<Record<string, unknown>>;
}

export function errorBody(error: SkeinError): ErrorBody {
  const body: ErrorBody = { error: error.message, code: error.code };
  if (error.details !== undefined) body.details = error.details;
  return body;
}
