// Limits of one index in a shard. Each name ends with its unit.

/**
 * Maximum JSON input per built segment, which takes 40 to 60 ms to build. The larger the segment, the less
 * often its documents are merged.
 */
export const BUILD_INPUT_BYTES = 2 * 1024 * 1024;
/** Maximum JSON input of queued writes that share one commit. */
export const COMMIT_INPUT_BYTES = 2 * 1024 * 1024;
/** A slice of re-indexing ends with the document that brings its input to this size. */
export const REINDEX_INPUT_BYTES = 256 * 1024;
/** Segment count from which writes wait for merges. */
export const SEGMENTS_MAX = 64;
/** Segment count from which merging takes precedence over re-indexing. */
export const SEGMENTS_MANY = 24;
/** When to merge neighbouring segments while writes arrive; see MergeEagerness. */
export const MERGE_BUSY = { runMin: 4, othersMin: 1, shareMax: 0.25 };
/** When to merge neighbouring segments once the index is quiet; see MergeEagerness. */
export const MERGE_IDLE = { runMin: 2, othersMin: 0.5, shareMax: 0.5 };
/**
 * An index is quiet once it has been neither read nor written for this long. A large index waits longer,
 * until all threads have collected their garbage and released their write buffers (discards.ts), because its
 * merges and renewals temporarily need much memory.
 */
export const IDLE_MS = 2000;
export const LARGE_IDLE_MS = 6000;
/** An index that is read continuously is quiet once it has not been written for this long. */
export const QUIET_WAIT_MS = 30_000;
/**
 * Memory that an engine may waste before it is renewed: this many bytes or this share of the memory that it
 * uses, whichever is more.
 */
export const WASTED_BYTES_MAX = 8 * 1024 * 1024;
export const WASTED_SHARE_MAX = 1;
/**
 * An index of at least this size is large. Its merges and renewals are large work, for which shards take
 * turns.
 */
export const LARGE_WORK_BYTES = 8 * 1024 * 1024;
/**
 * Limits on wasted memory for an index that is neither being read nor written. They are lower, because
 * copying such an index disturbs nobody.
 */
export const WASTED_IDLE_BYTES_MAX = 4 * 1024 * 1024;
export const WASTED_IDLE_SHARE_MAX = 0.05;
/**
 * Minimum time between two renewals of an index in use. Each renewal copies the index, and writes wait for
 * it.
 */
export const RENEW_PAUSE_MS = 2000;
/**
 * Disk space that deleted and replaced values may occupy while there are no writes: this many bytes or this
 * share of the live values' size, whichever is more. Applies separately to pieces, codes, models, vectors and
 * documents.
 */
export const GARBAGE_BYTES_MAX = 4 * 1024 * 1024;
export const GARBAGE_SHARE_MAX = 0.1;
/**
 * Maximum total size of documents that one request may rewrite through updates. Even a small update may
 * rewrite a large document.
 */
export const WRITE_RESULT_BYTES_MAX = 256 * 1024 * 1024;
/** Size of the largest segment whose pieces are written in the manifest's own batch. */
export const BATCH_SEGMENT_BYTES = 4 * 1024 * 1024;

/**
 * Scratch memory lent to a reader in another thread for intermediate results: a fixed amount, plus an amount
 * per document. Queries that need more are answered by the shard itself. Unused scratch takes no physical
 * memory.
 */
export const READER_SCRATCH_BYTES = 256 * 1024;
export const READER_SCRATCH_DOCUMENT_BYTES = 128;
