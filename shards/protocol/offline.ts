// What the commands that work on a stopped server's data directory ask of the process that reads one shard's
// database, and what it answers. Sent by Node between processes, which clones these objects.
import type { ShardSchema } from "./control.js";

export interface OfflineIndex {
  uid: number;
  schema: ShardSchema;
  /** In how many shards the index lies, and the shard's number among these, by which documents belong to it. */
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
  /** What is being dropped, was never made or was to be spread to this shard: it does not count. */
  dropping: number[];
  /** Repair: only say what would be done. */
  dryRun: boolean;
}

/** A document that repair cannot keep, named by its key. */
export interface LostDocument {
  seq: number;
  /** As the damaged record has it, which may be wrong; "" when there is no record. */
  id: string;
}

export interface IndexRepair {
  documents: number;
  segments: number;
  lost: LostDocument[];
  /** What may be different from what was acknowledged. */
  warnings: string[];
}

export interface IndexReport {
  uid: number;
  problems: string[];
  documents: number;
  segments: number;
  /** Documents of builds that did not write checksums yet. */
  unchecked: number;
  /** Sequence numbers of the live documents. */
  seqs: Float64Array;
  repair: IndexRepair | null;
}

export interface ShardReport {
  shard: number;
  location: string;
  /** What is wrong with the database as a whole; then its indexes could not be read. */
  problems: string[];
  /** The database's files were put in order first. */
  filesRepaired: boolean;
  indexes: IndexReport[];
}
