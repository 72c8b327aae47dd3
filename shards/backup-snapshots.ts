// Keeps, by backup id, the database views from which a shard's backups are written. Each backup is written in
// slices between requests.
import type { Slices } from "./index/slices.js";
import type { WrittenBackup } from "./protocol/backup.js";
import { SHARD_UNAVAILABLE, ShardError } from "./protocol/errors.js";
import { writeBackupFile } from "./storage/backup-file.js";
import type { Store, StoreSnapshot } from "./storage/store.js";

export class BackupSnapshots {
  readonly #store: Store;
  readonly #slices: Slices;
  readonly #views = new Map<string, StoreSnapshot>();

  constructor(store: Store, slices: Slices) {
    this.#store = store;
    this.#slices = slices;
  }

  /** Keeps a view of the database in its current state. */
  take(id: string): void {
    if (!this.#views.has(id)) this.#views.set(id, this.#store.view());
  }

  /** Writes the view to a new file and releases it. */
  async write(id: string, path: string): Promise<WrittenBackup> {
    const view = this.#views.get(id);
    if (view === undefined) throw gone(id);
    try {
      return await writeBackupFile(path, view, async () => {
        if (this.#views.get(id) !== view) throw gone(id);
        await this.#slices.next();
      });
    } finally {
      await this.drop(id);
    }
  }

  /** Cancels a running write at its next block. */
  async drop(id: string): Promise<void> {
    const view = this.#views.get(id);
    this.#views.delete(id);
    await view?.close();
  }

  async dropAll(): Promise<void> {
    for (const id of [...this.#views.keys()]) await this.drop(id);
  }
}

function gone(id: string): ShardError {
  return new ShardError(SHARD_UNAVAILABLE, `the view of backup ${id} is gone`);
}
