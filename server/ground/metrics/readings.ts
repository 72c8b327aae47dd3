// What is measured when somebody asks, in contrast to what the recorder counts: the state of shards, indexes
// and disk at a scrape. Plain data.
import type { IndexStats } from "../../../shards/protocol/control.js";

export interface ShardReading {
  readonly shard: number;
  /** It answered within the scrape's time limit. */
  readonly up: boolean;
  /** How long a small question waited for its answer; null when it was not answered in time. */
  readonly answerMs: number | null;
  /** Messages sent since the start. */
  readonly sent: number;
  /** Seconds in which the thread's event loop was not waiting, since the thread's start; null while there is none. */
  readonly activeSeconds: number | null;
  /** Messages sent to the thread or waiting for its restart, not answered yet. */
  readonly inside: number;
  /** Of those: waiting for the restart. */
  readonly waiting: number;
  /** Requests refused because too many were inside, since the start. */
  readonly refused: number;
  /** Unexpected ends of the thread since the start. */
  readonly restarts: number;
}

export interface IndexReading {
  readonly name: string;
  readonly tenant: number;
  readonly documents: number;
  readonly generation: number;
  /** Writes that have a generation which reads do not see yet. */
  readonly pendingWrites: number;
  /** Summed over the shards; null unless every shard answered. */
  readonly stats: IndexStats | null;
}

export interface Readings {
  readonly shards: readonly ShardReading[];
  /** Above this many messages inside a shard refuses more. */
  readonly shardRequestsMax: number;
  /** The largest indexes. */
  readonly indexes: readonly IndexReading[];
  /** Documents of all indexes that are not listed; null when all are. */
  readonly otherDocuments: number | null;
  /** Indexes that are loaded, and how often one was loaded and unloaded since the start. */
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
  /** Of the file system of the data directory; null when it cannot be told. */
  readonly disk: { readonly freeBytes: number; readonly sizeBytes: number } | null;
}
