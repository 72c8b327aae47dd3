// Counts what plans limit by the month. Counted in memory, stored in the catalog every second and at the end, so a crash loses
// at most the counts of the last second and never adds any. The month rolls over on the 1st, 00:00 UTC.
import type { Catalog } from "../catalog/catalog.js";
import type { UsageRecord } from "../catalog/types.js";
import { type ErrorCode, SkeinError } from "../errors.js";
import type { Jobs } from "../jobs/jobs.js";
import type { Metered, MonthlyCounter, MonthUsage } from "./limiter.js";
import type { Plan } from "./plans.js";

const STORE_EVERY_MS = 1_000;
/** No month is shorter. */
const MONTH_MS_MIN = 28 * 86_400_000;

interface Quota {
  readonly limitOf: (plan: Plan) => number | null;
  readonly code: ErrorCode;
  /** In sentences. */
  readonly what: string;
}
const QUOTAS: Readonly<Record<Metered, Quota>> = {
  searches: { limitOf: (plan) => plan.searches_per_month, code: "SK-SYS-429", what: "searches" },
  coach: { limitOf: (plan) => plan.coach_per_month, code: "SK-AI-429", what: "analyses" },
};

class Counted implements MonthUsage {
  searches = 0;
  coach = 0;
  readonly underWay: Record<Metered, number> = { searches: 0, coach: 0 };

  constructor(
    readonly tenant: number,
    readonly month: string,
    stored?: UsageRecord,
  ) {
    if (stored?.month !== month) return;
    this.searches = stored.searches;
    this.coach = stored.coach ?? 0;
  }

  get record(): UsageRecord {
    const { tenant, month, searches, coach } = this;
    return { tenant, month, searches, ...(coach === 0 ? {} : { coach }) };
  }
}

export class Usage implements MonthlyCounter {
  readonly #catalog: Catalog;
  readonly #counted = new Map<number, Counted>();
  readonly #changed = new Set<number>();
  #month = "";
  #monthEndsMs = 0;

  constructor(catalog: Catalog, jobs: Jobs) {
    this.#catalog = catalog;
    jobs.every(STORE_EVERY_MS, { name: "store the counts of the month", subject: "usage" }, () =>
      this.store(),
    );
  }

  begin(metered: Metered, tenant: number, plan: Plan, now: Date): MonthUsage {
    const counted = this.#of(tenant, now);
    const { limitOf, code, what } = QUOTAS[metered];
    const limit = limitOf(plan);
    if (limit !== null && counted[metered] + counted.underWay[metered] >= limit) {
      throw new SkeinError(code, `the plan's ${limit} ${what} of this month are used up`, {
        retryAfter: secondsToNextMonth(now),
        details: { limit, month: counted.month },
      });
    }
    counted.underWay[metered]++;
    return counted;
  }

  end(metered: Metered, usage: MonthUsage, counts: boolean): void {
    const counted = usage as Counted;
    counted.underWay[metered]--;
    if (!counts) return;
    counted[metered]++;
    if (this.#counted.get(counted.tenant) === counted) this.#changed.add(counted.tenant);
  }

  used(tenant: number, now: Date): MonthUsage {
    return this.#of(tenant, now);
  }

  #of(tenant: number, now: Date): Counted {
    const month = this.#monthOf(now);
    const known = this.#counted.get(tenant);
    if (known?.month === month) return known;
    const counted = new Counted(tenant, month, this.#catalog.state.usage.get(tenant));
    this.#counted.set(tenant, counted);
    return counted;
  }

  /** The month as text is kept, because printing it costs more than the rest of a count. */
  #monthOf(now: Date): string {
    const month = this.#month;
    const begun = now.getTime() >= this.#monthEndsMs - MONTH_MS_MIN;
    if (month !== "" && begun && now.getTime() < this.#monthEndsMs) return month;
    this.#month = now.toISOString().slice(0, 7);
    this.#monthEndsMs = monthEnd(now);
    return this.#month;
  }

  /** Stores the counts that have changed since the last time. Those of a store that fails wait for the next one. */
  async store(): Promise<void> {
    this.#forgetDeleted();
    const tenants = [...this.#changed];
    if (tenants.length === 0) return;
    this.#changed.clear();
    try {
      await this.#catalog.change((state) => ({
        type: "usage.put",
        usage: tenants.flatMap((id) => (state.tenants.has(id) ? (this.#counted.get(id)?.record ?? []) : [])),
      }));
    } catch (error) {
      for (const tenant of tenants) this.#changed.add(tenant);
      throw error;
    }
  }

  #forgetDeleted(): void {
    const { tenants } = this.#catalog.state;
    if (this.#counted.size <= tenants.size) return;
    for (const tenant of this.#counted.keys()) if (!tenants.has(tenant)) this.#counted.delete(tenant);
  }
}

/** When the month of `now` is over, in milliseconds since 1970. */
export function monthEnd(now: Date): number {
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
}

export function secondsToNextMonth(now: Date): number {
  return Math.ceil((monthEnd(now) - now.getTime()) / 1000);
}
