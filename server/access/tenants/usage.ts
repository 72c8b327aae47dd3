// Keeps tenants' monthly usage across restarts. Every second and at shutdown, the thread that owns the
// catalog stores all threads' counts in it. A crash may lose the last second's counts but never adds any.
// Months begin on the 1st at 00:00 UTC.
import type { Catalog } from "../../catalog/catalog.js";
import type { Jobs } from "../../ground/jobs/jobs.js";
import type { MonthCounts } from "./month-counts.js";

const STORE_EVERY_MS = 1_000;

export class Usage {
  readonly #catalog: Catalog;
  readonly #counts: MonthCounts;

  /** Resumes from the counts in the catalog. */
  constructor(catalog: Catalog, jobs: Jobs, counts: MonthCounts) {
    this.#catalog = catalog;
    this.#counts = counts;
    for (const record of catalog.state.usage.values()) counts.restore(record);
    jobs.every(STORE_EVERY_MS, { name: "store the counts of the month", subject: "usage" }, () =>
      this.store(),
    );
  }

  /**
   * Stores this month's counts that have changed since the last call. If a call fails, the next one stores
   * the same tenants' counts. Counts for past months are not stored.
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
