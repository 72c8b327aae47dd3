// Holds a backup's data: a snapshot of each shard's database, all taken at the same moment. The snapshots are
// kept under the backup's id until they have been written to files.

import {
  decodeBackupWriteReply,
  encodeBackupDrop,
  encodeBackupTake,
  encodeBackupWrite,
  type WrittenBackup,
} from "../../../shards/protocol/backup.js";
import { decodeEmptyReply } from "../../../shards/protocol/reply.js";
import type { Logger } from "../../ground/log.js";
import type { ShardCalls } from "../threads/shard-calls.js";

export class ShardMoments {
  readonly #calls: ShardCalls;
  readonly #log: Logger;

  constructor(calls: ShardCalls, log: Logger) {
    this.#calls = calls;
    this.#log = log;
  }

  get shards(): number {
    return this.#calls.shards;
  }

  /** Takes a snapshot of each shard's database and keeps it under this id until it is written or dropped. */
  async take(id: string): Promise<void> {
    await this.#calls.everywhere(() => encodeBackupTake(id), decodeEmptyReply);
  }

  /** Writes a shard's snapshot to a file. */
  write(shard: number, id: string, path: string): Promise<WrittenBackup> {
    return this.#calls.call(shard, encodeBackupWrite(id, path), decodeBackupWriteReply);
  }

  /**
   * Drops the snapshots and cancels a running `write`. A shard that does not respond has already lost its
   * snapshot.
   */
  async drop(id: string): Promise<void> {
    try {
      await this.#calls.everywhere(() => encodeBackupDrop(id), decodeEmptyReply);
    } catch (error) {
      this.#log.debug({ err: error, backup: id }, "a shard has no moment of the backup to drop");
    }
  }
}
