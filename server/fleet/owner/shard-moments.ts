// What backups read: one moment of the databases of all shards, kept under an id while it is written to
// files.

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

  /** Every shard keeps its database as it is now under this id, until it is written or dropped. */
  async take(id: string): Promise<void> {
    await this.#calls.everywhere(() => encodeBackupTake(id), decodeEmptyReply);
  }

  /** Writes what a shard has kept under the id to a file of its own. */
  write(shard: number, id: string, path: string): Promise<WrittenBackup> {
    return this.#calls.call(shard, encodeBackupWrite(id, path), decodeBackupWriteReply);
  }

  /** Also ends a running `write`. A shard that does not answer has lost it already. */
  async drop(id: string): Promise<void> {
    try {
      await this.#calls.everywhere(() => encodeBackupDrop(id), decodeEmptyReply);
    } catch (error) {
      this.#log.debug({ err: error, backup: id }, "a shard has no moment of the backup to drop");
    }
  }
}
