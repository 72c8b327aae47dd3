// Job and report of the process that reads one shard's database, for the commands that work on the data
// directory of a stopped server. Node sends them between processes by structured clone.
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
  /** The indexes to work on; null for all. */
  only: number[] | null;
  /**
   * Indexes that are being dropped, were never created, or were being spread to this shard. They are ignored.
   */
  dropping: number[];
  /** Repair: only report what would be done. */
  dryRun: boolean;
}

/** A document that repair cannot keep, identified by its key. */
export interface LostDocument {
  seq: number;
  /** The id in the damaged record, so it may be wrong; "" if there is no record. */
  id: string;
}

export interface IndexRepair {
  documents: number;
  segments: number;
  lost: LostDocument[];
  /** Possible differences between the repaired index and the acknowledged writes. */
  warnings: string[];
}

export interface IndexReport {
  uid: number;
  problems: string[];
  documents: number;
  segments: number;
  /** Documents written by early builds, without checksums. */
  unchecked: number;
  /** Sequence numbers of the live documents. */
  seqs: Float64Array;
  repair: IndexRepair | null;
}

export interface ShardReport {
  shard: number;
  location: string;
  /** Problems of the database as a whole, which make its indexes unreadable. */
  problems: string[];
  /** True if the database's files had to be repaired first. */
  filesRepaired: boolean;
  indexes: IndexReport[];
}
