// Counts what plans limit by the month. Counted in memory, stored in the catalog now and then and at the end,
// so a crash loses at most the last few seconds. The month rolls over on the 1st, 00:00 UTC.
import type { Catalog } from "../catalog/catalog.js";
import type { UsageRecord } from "../catalog/types.js";
import { SkeinError } from "../errors.js";
import type { Jobs } from "../jobs/jobs.js";
import type { Plan } from "./plans.js";

const STORE_EVERY_MS = 10_000;
/** No month is shorter. */
const MONTH_MS_MIN = 28 * 86_400_000;

export class Usage {
  readonly #catalog: Catalog;
  readonly #counts: Map<number, UsageRecord>;
  readonly #changed = new Set<number>();
  #month = "";
  #monthEndsMs = 0;

  constructor(catalog: Catalog, jobs: Jobs) {
    this.#catalog = catalog;
    this.#counts = new Map(catalog.state.usage);
    jobs.every(STORE_EVERY_MS, { name: "store the search counters", subject: "usage" }, () => this.store());
  }

  /** Counts one search. Throws SK-SYS-429 when the plan's month is used up. */
  countSearch(tenant: number, plan: Plan, now: Date): void {
    const month = this.#monthOf(now);
    const used = this.#of(tenant, month);
    const { searches } = used;
    if (plan.searches_per_month !== null && searches >= plan.searches_per_month) {
      throw new SkeinError(
        "SK-SYS-429",
        `the plan's ${plan.searches_per_month} searches of this month are used up`,
        {
          retryAfter: secondsToNextMonth(now),
          details: { limit: plan.searches_per_month, month },
        },
      );
    }
    this.#put({ ...used, searches: searches + 1 });
  }

  /**
   * Counts one analysis of the coach. The answer takes it back, for an analysis that has failed. Throws SK-AI-429 when the
   * plan's month is used up.
   */
  countAnalysis(tenant: number, plan: Plan, now: Date): () => void {
    const month = this.#monthOf(now);
    const used = this.#of(tenant, month);
    const { coach = 0 } = used;
    if (plan.coach_per_month !== null && coach >= plan.coach_per_month) {
      throw new SkeinError(
        "SK-AI-429",
        `the plan's ${plan.coach_per_month} analyses of this month are used up`,
        { retryAfter: secondsToNextMonth(now), details: { limit: plan.coach_per_month, month } },
      );
    }
    this.#put({ ...used, coach: coach + 1 });
    return () => {
      const present = this.#of(tenant, month);
      if (this.#counts.get(tenant)?.month === month)
        this.#put({ ...present, coach: Math.max(0, (present.coach ?? 0) - 1) });
    };
  }

  /** What the tenant has used in a month. */
  #of(tenant: number, month: string): UsageRecord {
    const kept = this.#counts.get(tenant);
    return kept?.month === month ? kept : { tenant, month, searches: 0 };
  }

  #put(usage: UsageRecord): void {
    this.#counts.set(usage.tenant, usage);
    this.#changed.add(usage.tenant);
  }

  /** The month as text is kept, because printing it costs more than the rest of a count. */
  #monthOf(now: Date): string {
    const month = this.#month;
    const begun = now.getTime() >= this.#monthEndsMs - MONTH_MS_MIN;
    if (month !== "" && begun && now.getTime() < this.#monthEndsMs) return month;
    this.#month = now.toISOString().slice(0, 7);
    this.#monthEndsMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
    return this.#month;
  }

  /** Stores the counts that have changed since the last time. Those of a store that fails wait for the next one. */
  async store(): Promise<void> {
    const tenants = [...this.#changed];
    if (tenants.length === 0) return;
    this.#changed.clear();
    try {
      await this.#catalog.change((state) => ({
        type: "usage.put",
        usage: tenants.filter((id) => state.tenants.has(id)).map((id) => this.#counts.get(id)!),
      }));
    } catch (error) {
      for (const tenant of tenants) this.#changed.add(tenant);
      throw error;
    }
  }
}

export function secondsToNextMonth(now: Date): number {
  const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  return Math.ceil((next - now.getTime()) / 1000);
}
