// Values measured on demand, as opposed to those counted by the recorder: the state of shards, indexes and
// disk at a scrape. Plain data.
import type { IndexStats } from "../../../shards/protocol/control.js";

export interface ShardReading {
  readonly shard: number;
  /** It answered within the scrape's time limit. */
  readonly up: boolean;
  /** Round trip of a small message; null if it was not answered in time. */
  readonly answerMs: number | null;
  /** Messages sent since the start. */
  readonly sent: number;
  /** Active seconds of the thread's event loop since the thread's start; null while there is no thread. */
  readonly activeSeconds: number | null;
  /** Unanswered messages, both sent to the thread and waiting for its restart. */
  readonly inside: number;
  /** Those of them waiting for the restart. */
  readonly waiting: number;
  /** Requests refused because of too many unanswered ones, since the start. */
  readonly refused: number;
  /** Unexpected ends of the thread since the start. */
  readonly restarts: number;
}

export interface IndexReading {
  readonly name: string;
  readonly tenant: number;
  readonly documents: number;
  readonly generation: number;
  /** Writes whose generation is not visible yet. */
  readonly pendingWrites: number;
  /** Summed over the shards; null unless every shard answered. */
  readonly stats: IndexStats | null;
}

export interface Readings {
  readonly shards: readonly ShardReading[];
  /** Maximum number of unanswered messages of a shard. */
  readonly shardRequestsMax: number;
  /** The largest indexes. */
  readonly indexes: readonly IndexReading[];
  /** Documents of all unlisted indexes; null if all are listed. */
  readonly otherDocuments: number | null;
  /** Loaded indexes, and numbers of loads and unloads since the start. */
  readonly residency: { readonly loaded: number; readonly openings: number; readonly unloads: number };
  /** Number of indexes by status. */
  readonly statuses: ReadonlyMap<string, number>;
  /** Data sources that have not followed their feed for long. */
  readonly overdueSources: readonly {
    readonly index: string;
    readonly tenant: number;
    readonly source: number;
  }[];
  /** Bytes of finished replies that clients have not taken yet. */
  readonly unsentBytes: number;
  /** Of the file system of the data directory; null if unknown. */
  readonly disk: { readonly freeBytes: number; readonly sizeBytes: number } | null;
}
