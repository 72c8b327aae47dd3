// Reads plans, which define how much a tenant may use, from the configuration. Each tenant's record names
// one. Usage is counted elsewhere.
import type { CatalogState } from "../../catalog/state.js";
import { defaultsTo, object, required } from "../../ground/input/object-reader.js";
import { flag, type InputRules, integer, text } from "../../ground/input/readers.js";
import { FIXED_LIMITS } from "../../ground/limits.js";
import type { ByteLimits } from "./byte-quota.js";

export interface Plan {
  readonly name: string;
  /** A null limit means unlimited, here and below. */
  readonly searches_per_month: number | null;
  readonly documents: number | null;
  readonly indexes: number | null;
  readonly disk_bytes: number | null;
  readonly memory_bytes: number | null;
  readonly concurrent_imports: number | null;
  readonly coach_per_month: number | null;
  readonly ai_query_understanding: boolean;
  readonly requests_per_second_per_ip: number | null;
}

export const DEFAULT_PLAN: Plan = {
  name: "default",
  searches_per_month: null,
  documents: null,
  indexes: null,
  disk_bytes: null,
  memory_bytes: null,
  concurrent_imports: null,
  coach_per_month: null,
  ai_query_understanding: true,
  requests_per_second_per_ip: null,
};

const COUNT = defaultsTo(null, integer(0, Number.MAX_SAFE_INTEGER));

const PLAN = object(
  {
    name: required(text(FIXED_LIMITS.planNameBytesMax)),
    searches_per_month: COUNT,
    documents: COUNT,
    indexes: COUNT,
    disk_bytes: COUNT,
    memory_bytes: COUNT,
    concurrent_imports: COUNT,
    coach_per_month: COUNT,
    ai_query_understanding: defaultsTo(true, flag()),
    requests_per_second_per_ip: defaultsTo(null, integer(1, FIXED_LIMITS.requestsPerSecondMax)),
  },
  { unknown: "refused" },
);

/** Returns the plan with this name, or the default plan if the configuration no longer has it. */
export function planNamed(plans: readonly Plan[], name: string): Plan {
  let known = DEFAULT_PLAN;
  for (const plan of plans) {
    if (plan.name === name) return plan;
    if (plan.name === DEFAULT_PLAN.name) known = plan;
  }
  return known;
}

/**
 * Returns the plan named in the tenant's record, or the default plan if the tenant or that plan does not
 * exist.
 */
export function planOfTenant(
  plans: readonly Plan[],
  { tenants }: Pick<CatalogState, "tenants">,
  tenant: number,
): Plan {
  return planNamed(plans, tenants.get(tenant)?.plan ?? "");
}

export function byteLimits({ disk_bytes, memory_bytes }: Plan): ByteLimits {
  return { diskBytes: disk_bytes, memoryBytes: memory_bytes };
}

/** Reads an entry of "plans" in the configuration file. Throws a SkeinError that names the invalid member. */
export function readPlan(value: unknown, path: string, rules: InputRules): Plan {
  return PLAN.read(value, path, rules);
}
