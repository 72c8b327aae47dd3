// Records the last day on which each key was used. The first use of a key on a day is stored in the catalog
// within about a second; later uses on that day are not stored.
import type { Catalog } from "../../catalog/catalog.js";
import type { Jobs } from "../../ground/jobs/jobs.js";

const STORE_EVERY_MS = 1_000;
const DAY_MS = 86_400_000;

export class KeyUse {
  readonly #catalog: Catalog;
  /** The day of the latest use, in days since 1970 and as "2026-01-31". */
  #day = Number.NaN;
  #dayText = "";
  /** Keys used on that day. */
  readonly #seen = new Set<number>();
  /** Keys whose use is not stored yet, by day. */
  readonly #waiting = new Map<string, Set<number>>();

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
    if (this.#catalog.state.keys.get(keyId)?.lastUsedOn === this.#dayText) return;
    const waiting = this.#waiting.get(this.#dayText);
    if (waiting === undefined) this.#waiting.set(this.#dayText, new Set([keyId]));
    else waiting.add(keyId);
  }

  /** Stores all uses that are not stored yet. If that fails, the next call tries again. */
  async store(): Promise<void> {
    for (const [day, waiting] of [...this.#waiting]) {
      const ids = [...waiting];
      await this.#catalog.change(() => ({ type: "keys.used", ids, day }));
      for (const id of ids) waiting.delete(id);
      if (waiting.size === 0) this.#waiting.delete(day);
    }
  }
}
