// Codes in the protocol between threads: requests, write actions, failures. Both sides run the same build, so
// these numbers may change with a release. docs/FORMATS.md shows the layouts.

/** First byte of a request. */
export const Op = {
  OPEN: 1,
  CLOSE: 2,
  DROP: 3,
  SCHEMA: 4,
  STATS: 5,
  PING: 6,
  SHUTDOWN: 7,
  WRITE: 8,
  DELETE_WHERE: 9,
  EXPAND: 10,
  SEARCH: 11,
  FETCH: 12,
  GET: 13,
  EXPORT: 14,
  ALL_SEQS: 15,
  TOGETHER: 16,
  SEARCH_PAGE: 17,
  EXPLAIN: 18,
  STANDING: 19,
  IN_USE: 20,
  ADDITIONS: 21,
  COUNT_UNSEEN: 22,
  DELETE_UNSEEN: 23,
  VECTORS: 24,
  MODEL: 25,
  MODEL_OF: 26,
  EMBED: 27,
  NEAREST: 28,
  SIMILARITIES: 29,
  SAMPLE: 30,
  PENDING: 31,
  PUT_VECTORS: 32,
  COMPANY: 33,
  SIZE: 34,
  PUBLISHED: 35,
  TAKE_BACK: 36,
  BACKUP_TAKE: 40,
  BACKUP_WRITE: 41,
  BACKUP_DROP: 42,
  STORED: 43,
  ADOPT: 44,
  STORED_MODEL: 45,
} as const;
export type Op = (typeof Op)[keyof typeof Op];

/** First byte of a reply. */
export const REPLY_OK = 0;
export const REPLY_ERROR = 1;

/**
 * What a write does with its documents. SYNC is an upsert that leaves the stored document alone if it is the
 * same JSON value. A SYNC document without bytes is a mark: it keeps whatever is stored under its id, because
 * the new version is unknown.
 */
export const Action = { UPSERT: 0, CREATE: 1, UPDATE: 2, EMPLACE: 3, DELETE: 4, SYNC: 5 } as const;
export type Action = (typeof Action)[keyof typeof Action];

/** Failure codes for a document, in addition to the engine's DOC_* codes (engine-wasm/assembly/layout.ts). */
export const DOC_EXISTS = 100; // create: the id already exists
export const DOC_MISSING = 101; // update, delete: no document with that id
export const DOC_TOO_LARGE = 102; // the document, or the result of an update
export const DOC_BATCH_TOO_LARGE = 103; // the request's updates would rewrite too many bytes

/** The `slot` of a failure that does not concern a single field. */
export const NO_SLOT = 0xffff;
