// Keeps what plans limit by the month over restarts: the counts of all threads are stored in the catalog every second and at the
// end, by the one thread that owns the catalog. A crash loses at most the counts of the last second and never adds any. The month
// rolls over on the 1st, 00:00 UTC.
import type { Catalog } from "../../catalog/catalog.js";
import type { Jobs } from "../../ground/jobs/jobs.js";
import type { MonthCounts } from "./month-counts.js";

const STORE_EVERY_MS = 1_000;

export class Usage {
  readonly #catalog: Catalog;
  readonly #counts: MonthCounts;

  /** Goes on from the counts in the catalog. */
  constructor(catalog: Catalog, jobs: Jobs, counts: MonthCounts) {
    this.#catalog = catalog;
    this.#counts = counts;
    for (const record of catalog.state.usage.values()) counts.restore(record);
    jobs.every(STORE_EVERY_MS, { name: "store the counts of the month", subject: "usage" }, () =>
      this.store(),
    );
  }

  /**
   * Stores the counts of this month that have changed since the last time. Those of a store that fails wait for the next one. Of a
   * month that is over nothing more is stored.
   */
  async store(): Promise<void> {
    const tenants = this.#counts.takeChanged();
    if (tenants.length === 0) return;
    const now = new Date();
    try {
      await this.#catalog.change((state) => ({
        type: "usage.put",
        usage: tenants
          .filter((id) => state.tenants.has(id))
          .map((id) => this.#counts.used(id, now))
          .map(({ coach, ...used }) => (coach === 0 ? used : { ...used, coach })),
      }));
    } catch (error) {
      for (const tenant of tenants) this.#counts.markChanged(tenant);
      throw error;
    }
  }
}
