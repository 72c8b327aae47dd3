// Limits of one index in a shard, units last.

/** JSON input of one built segment: 40 to 60 ms of work. The larger, the fewer times its documents are merged. */
export const BUILD_INPUT_BYTES = 2 * 1024 * 1024;
/** JSON input of queued writes that share a commit. */
export const COMMIT_INPUT_BYTES = 2 * 1024 * 1024;
/** JSON input of one slice of re-indexing. */
export const REINDEX_INPUT_BYTES = 256 * 1024;
/** Segments above which writes wait for merges. */
export const SEGMENTS_MAX = 64;
/** Segments from which merging goes before re-indexing. */
export const SEGMENTS_MANY = 24;
/** When neighbours are merged while writes come in. */
export const MERGE_BUSY = { runMin: 4, othersMin: 1, shareMax: 0.25 };
/** When neighbours are merged once the index is quiet. */
export const MERGE_IDLE = { runMin: 2, othersMin: 0.5, shareMax: 0.5 };
/**
 * An index is quiet when it was neither read nor written for this long. A large one is so later, when all threads have collected their
 * garbage and given back what they held for writes (discards.ts), because its merges and renewals take much memory for a while.
 */
export const IDLE_MS = 2000;
export const LARGE_IDLE_MS = 6000;
/** An index with reads that do not end is quiet when it was not written for this long. */
export const QUIET_WAIT_MS = 30_000;
/** Memory that an engine may waste, in bytes and as a share of what it uses, before it is renewed. */
export const WASTED_BYTES_MAX = 8 * 1024 * 1024;
export const WASTED_SHARE_MAX = 1;
/** From so many bytes on, an index is large, and a merge or renewal is large work, at which shards take turns. */
export const LARGE_WORK_BYTES = 8 * 1024 * 1024;
/** The same two limits for an index that is neither read nor written. Copying such an index disturbs nobody. */
export const WASTED_IDLE_BYTES_MAX = 4 * 1024 * 1024;
export const WASTED_IDLE_SHARE_MAX = 0.05;
/** Least time from a renewal to one of an index in use. Each renewal copies the index once, and writes wait meanwhile. */
export const RENEW_PAUSE_MS = 2000;
/** Disk that replaced segments may take when no writes come, in bytes and as a share of the segments. */
export const GARBAGE_BYTES_MAX = 4 * 1024 * 1024;
export const GARBAGE_SHARE_MAX = 0.1;
/** Bytes of documents, as updates leave them, that one request may rewrite. A small update may rewrite a large document. */
export const WRITE_RESULT_BYTES_MAX = 256 * 1024 * 1024;
/** Largest segment whose pieces go into the manifest's own batch. */
export const BATCH_SEGMENT_BYTES = 4 * 1024 * 1024;

/**
 * What a reader in another thread has for its intermediate results, and for each document more. A query that needs more is answered by
 * the shard. Room that no query needs takes no memory of the machine's.
 */
export const READER_SCRATCH_BYTES = 256 * 1024;
export const READER_SCRATCH_DOCUMENT_BYTES = 128;
