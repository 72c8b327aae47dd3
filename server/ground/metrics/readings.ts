// Values measured when metrics are scraped, as opposed to those that the recorder counts: the state of
// shards, indexes and disk. Plain data.
import type { IndexStats } from "../../../shards/protocol/control.js";

export interface ShardReading {
  readonly shard: number;
  /** True if the shard answered within the scrape's time limit. */
  readonly up: boolean;
  /** Round trip of a small message; null if it was not answered in time. */
  readonly answerMs: number | null;
  /** Messages sent since the start. */
  readonly sent: number;
  /**
   * Seconds during which the thread's event loop was active since the thread started. Null while there is no
   * thread.
   */
  readonly activeSeconds: number | null;
  /** Unanswered messages, both sent to the thread and waiting for its restart. */
  readonly inside: number;
  /** Number of unanswered messages waiting for the thread to restart. */
  readonly waiting: number;
  /** Requests refused since startup because too many were unanswered. */
  readonly refused: number;
  /** Unexpected ends of the thread since the start. */
  readonly restarts: number;
}

export interface IndexReading {
  readonly name: string;
  readonly tenant: number;
  readonly documents: number;
  readonly generation: number;
  /** Writes that are not visible to searches yet. */
  readonly pendingWrites: number;
  /** Total over the shards. Null unless every shard answered. */
  readonly stats: IndexStats | null;
}

export interface Readings {
  readonly shards: readonly ShardReading[];
  /** Maximum number of unanswered messages per shard. */
  readonly shardRequestsMax: number;
  /** The largest indexes. */
  readonly indexes: readonly IndexReading[];
  /** Documents of all unlisted indexes; null if all are listed. */
  readonly otherDocuments: number | null;
  /** Number of loaded indexes, and numbers of loads and unloads since startup. */
  readonly residency: { readonly loaded: number; readonly openings: number; readonly unloads: number };
  /** Number of indexes by status. */
  readonly statuses: ReadonlyMap<string, number>;
  /** Data sources whose last successful run is overdue. */
  readonly overdueSources: readonly {
    readonly index: string;
    readonly tenant: number;
    readonly source: number;
  }[];
  /** Bytes of finished replies that clients have not taken yet. */
  readonly unsentBytes: number;
  /** The file system of the data directory. Null if unknown. */
  readonly disk: { readonly freeBytes: number; readonly sizeBytes: number } | null;
}
