// Plans: what a tenant may use. They come from the configuration; a tenant names one. Counts nothing itself.
import type { CatalogState } from "../../catalog/state.js";
import { defaultsTo, object, required } from "../../ground/input/object-reader.js";
import { flag, type InputRules, integer, text } from "../../ground/input/readers.js";
import { FIXED_LIMITS } from "../../ground/limits.js";
import type { ByteLimits } from "./byte-quota.js";

export interface Plan {
  readonly name: string;
  /** null: unlimited, here and below. */
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

/** The plan of this name; a plan that the configuration no longer has counts as the default one. */
export function planNamed(plans: readonly Plan[], name: string): Plan {
  return (
    plans.find((plan) => plan.name === name) ?? plans.find((plan) => plan.name === "default") ?? DEFAULT_PLAN
  );
}

/** The plan of a tenant. */
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

/** One entry of "plans" in the configuration file. Throws a SkeinError that names the member. */
export function readPlan(value: unknown, path: string, rules: InputRules): Plan {
  return PLAN.read(value, path, rules);
}
