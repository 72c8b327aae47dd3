// Job and report of the process that reads one shard's database for the commands that work on a stopped
// server's data directory. Node sends them between processes by structured clone.
import type { ShardSchema } from "./control.js";

export interface OfflineIndex {
  uid: number;
  schema: ShardSchema;
  /**
   * Number of shards in which the index lies, and this shard's number among them, which determines its
   * documents.
   */
  shards: number;
  part: number;
}

export interface OfflineJob {
  task: "check" | "repair";
  dataDir: string;
  shard: number;
  /** All indexes of the catalog that lie in the shard. */
  indexes: OfflineIndex[];
  /** The indexes to work on; null for all. */
  only: number[] | null;
  /**
   * Indexes that are being dropped, were never created, or were being spread to this shard: they do not
   * count.
   */
  dropping: number[];
  /** Repair: only report what would be done. */
  dryRun: boolean;
}

/** A document that repair cannot keep, identified by its key. */
export interface LostDocument {
  seq: number;
  /** As in the damaged record, so it may be wrong; "" if there is no record. */
  id: string;
}

export interface IndexRepair {
  documents: number;
  segments: number;
  lost: LostDocument[];
  /** Possible differences from what was acknowledged. */
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
  /** The database's files had to be repaired first. */
  filesRepaired: boolean;
  indexes: IndexReport[];
}
