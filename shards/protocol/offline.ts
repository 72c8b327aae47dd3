// The job for the process that checks or repairs one shard's database, and the report from it. Used by
// commands that work on a stopped server's data directory. Node sends both between processes by structured
// clone.
import type { ShardSchema } from "./control.js";

export interface OfflineIndex {
  uid: number;
  schema: ShardSchema;
  /**
   * Number of shards that the index is spread over, and this shard's position among them. Together they
   * determine which documents belong to this shard.
   */
  shards: number;
  part: number;
}

export interface OfflineJob {
  task: "check" | "repair";
  dataDir: string;
  shard: number;
  /** All indexes in the catalog that are stored in this shard. */
  indexes: OfflineIndex[];
  /** The indexes to work on; null means all. */
  only: number[] | null;
  /**
   * Indexes to ignore, because they are being dropped, were never created, or were still being spread to this
   * shard.
   */
  dropping: number[];
  /** Only for repairs: reports what would be done, without doing it. */
  dryRun: boolean;
}

/** A document that a repair cannot keep, identified by its key. */
export interface LostDocument {
  seq: number;
  /** The id in the damaged record, which may be wrong; "" if there is no record. */
  id: string;
}

export interface IndexRepair {
  documents: number;
  segments: number;
  lost: LostDocument[];
  /** Ways in which the repaired index may differ from the acknowledged writes. */
  warnings: string[];
}

export interface IndexReport {
  uid: number;
  problems: string[];
  documents: number;
  segments: number;
  /** Number of documents without checksums, which early builds wrote. */
  unchecked: number;
  /** Sequence numbers of the live documents. */
  seqs: Float64Array;
  repair: IndexRepair | null;
}

export interface ShardReport {
  shard: number;
  location: string;
  /** Problems that affect the whole database and make its indexes unreadable. */
  problems: string[];
  /** True if the database's files had to be repaired first. */
  filesRepaired: boolean;
  indexes: IndexReport[];
}
