// Reclaims the disk space of dropped indexes. Their keys are deleted, but remain in the database's tables
// until those are rewritten. Small indexes accumulate until a compaction pays off.
import { indexRange } from "./storage/keyspace.js";
import type { Store } from "./storage/store.js";

const COMPACT_BYTES_MIN = 4 * 1024 * 1024;
/** Only the most recently dropped indexes are remembered. LevelDB's own compaction handles older ones. */
const REMEMBERED_MAX = 64;

export class DroppedIndexes {
  readonly #store: Store;
  readonly #uids: number[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Records an index whose keys have been deleted. Compacts all recorded indexes once they occupy
   * COMPACT_BYTES_MIN on disk.
   */
  async add(uid: number): Promise<void> {
    this.#uids.push(uid);
    if (this.#uids.length > REMEMBERED_MAX) this.#uids.shift();
    const uids = [...this.#uids];
    const sizes = await Promise.all(uids.map((one) => this.#store.diskBytes(indexRange(one))));
    if (sizes.reduce((sum, bytes) => sum + bytes, 0) < COMPACT_BYTES_MIN) return;
    this.#uids.length = 0;
    for (const [i, one] of uids.entries()) if (sizes[i]! > 0) await this.#store.compact(indexRange(one));
  }
}
