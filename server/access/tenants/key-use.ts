// Records the last day on which each key was used. The first use of a key on a day is stored in the catalog
// within about a second; later uses on that day are not stored.
import type { Catalog } from "../../catalog/catalog.js";
import type { Jobs } from "../../ground/jobs/jobs.js";

const STORE_EVERY_MS = 1_000;
const DAY_MS = 86_400_000;

export class KeyUse {
  readonly #catalog: Catalog;
  /** The day of the latest use, in days since 1970 and as "2026-01-31". */
  #day = 0;
  #dayText = "";
  /** Keys used on that day, and those among them whose use is not stored yet. */
  readonly #seen = new Set<number>();
  #waiting = new Set<number>();

  constructor(catalog: Catalog, jobs: Jobs) {
    this.#catalog = catalog;
    jobs.every(STORE_EVERY_MS, { name: "store the use of keys", subject: "use of keys" }, () => this.store());
  }

  /** Notes that a key was used at `nowMs` (Unix time in milliseconds). */
  used(keyId: number, nowMs: number): void {
    const day = Math.floor(nowMs / DAY_MS);
    if (day !== this.#day) {
      this.#day = day;
      this.#dayText = new Date(nowMs).toISOString().slice(0, 10);
      this.#seen.clear();
    }
    if (this.#seen.has(keyId)) return;
    this.#seen.add(keyId);
    if (this.#catalog.state.keys.get(keyId)?.lastUsedOn !== this.#dayText) this.#waiting.add(keyId);
  }

  async store(): Promise<void> {
    const ids = this.#waiting;
    if (ids.size === 0) return;
    this.#waiting = new Set();
    try {
      await this.#catalog.change(() => ({ type: "keys.used", ids: [...ids], day: this.#dayText }));
    } catch (error) {
      for (const id of ids) this.#waiting.add(id);
      throw error;
    }
  }
}
