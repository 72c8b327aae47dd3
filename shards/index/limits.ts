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
/** Merging while writes come in, and once the index is quiet: neither read nor written for IDLE_MS, */
export const MERGE_BUSY = { runMin: 4, othersMin: 1 };
export const MERGE_IDLE = { runMin: 2, othersMin: 0.5 };
export const IDLE_MS = 2000;
/** or not written for this long, with reads that do not end. */
export const QUIET_WAIT_MS = 30_000;
/** Memory that an engine may waste, in bytes and as a share of what it uses, before it is renewed. */
export const WASTED_BYTES_MAX = 8 * 1024 * 1024;
export const WASTED_SHARE_MAX = 0.5;
/** The same of an index that is neither read nor written: then copying it disturbs nobody. */
export const WASTED_IDLE_BYTES_MAX = 4 * 1024 * 1024;
export const WASTED_IDLE_SHARE_MAX = 0.05;
/** Between two renewals: each copies the index once, while writes wait. */
export const RENEW_PAUSE_MS = 2000;
/** Disk that replaced segments may take when no writes come, in bytes and as a share of the segments. */
export const GARBAGE_BYTES_MAX = 4 * 1024 * 1024;
export const GARBAGE_SHARE_MAX = 0.1;
/** Documents, as updates leave them, that one request may rewrite: its own bytes say little about theirs. */
export const WRITE_RESULT_BYTES_MAX = 256 * 1024 * 1024;
/** Largest segment whose pieces go into the manifest's own batch. */
export const BATCH_SEGMENT_BYTES = 4 * 1024 * 1024;
