// Values that are measured when metrics are scraped, such as the state of shards, indexes and disk. The
// recorder, in contrast, counts continuously. Plain data.
import type { IndexStats } from "../../../shards/protocol/control.js";

export interface ShardReading {
  readonly shard: number;
  /** True if the shard answered within the scrape's time limit. */
  readonly up: boolean;
  /** Round-trip time (ms) of a small message; null if no reply arrived in time. */
  readonly answerMs: number | null;
  /** Messages sent since startup. */
  readonly sent: number;
  /**
   * How long the thread's event loop has been active since the thread started, in seconds; null without a
   * thread.
   */
  readonly activeSeconds: number | null;
  /** Number of unanswered messages, both those sent to the thread and those waiting for it to restart. */
  readonly inside: number;
  /** Number of unanswered messages waiting for the thread to restart. */
  readonly waiting: number;
  /** Number of requests refused since startup because too many were unanswered. */
  readonly refused: number;
  /** How often the thread has ended unexpectedly since startup. */
  readonly restarts: number;
}

export interface IndexReading {
  readonly name: string;
  readonly tenant: number;
  readonly documents: number;
  readonly generation: number;
  /** Number of writes that searches do not see yet. */
  readonly pendingWrites: number;
  /** Total over the shards; null if any shard has not answered. */
  readonly stats: IndexStats | null;
}

export interface Readings {
  readonly shards: readonly ShardReading[];
  /** Maximum number of unanswered messages per shard. */
  readonly shardRequestsMax: number;
  /** The indexes with the most documents. */
  readonly indexes: readonly IndexReading[];
  /** Number of documents in all indexes not listed; null if all are listed. */
  readonly otherDocuments: number | null;
  /** How many indexes are loaded, and how many have been loaded and unloaded since startup. */
  readonly residency: { readonly loaded: number; readonly openings: number; readonly unloads: number };
  /** Number of indexes by status. */
  readonly statuses: ReadonlyMap<string, number>;
  /** Data sources that have not completed a run for too long; see Sources.overdue. */
  readonly overdueSources: readonly {
    readonly index: string;
    readonly tenant: number;
    readonly source: number;
  }[];
  /** Bytes of complete replies that clients have not received yet. */
  readonly unsentBytes: number;
  /** The data directory's file system; null if unknown. */
  readonly disk: { readonly freeBytes: number; readonly sizeBytes: number } | null;
}
