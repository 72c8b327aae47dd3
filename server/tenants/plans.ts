// Plans: what a tenant may use. They come from the configuration; a tenant names one. Counts nothing itself.
import { Members } from "../input.js";

export interface Plan {
  readonly name: string;
  /** null: unlimited, here and below. */
  readonly searches_per_month: number | null;
  readonly documents: number | null;
  readonly coach_per_month: number | null;
  readonly ai_query_understanding: boolean;
  readonly requests_per_second_per_ip: number | null;
}

export const DEFAULT_PLAN: Plan = {
  name: "default",
  searches_per_month: null,
  documents: null,
  coach_per_month: null,
  ai_query_understanding: true,
  requests_per_second_per_ip: null,
};

const COUNT_MAX = Number.MAX_SAFE_INTEGER;
const MEMBERS = Object.keys(DEFAULT_PLAN);

/** The plan of this name; a plan that the configuration no longer has counts as the default one. */
export function planNamed(plans: readonly Plan[], name: string): Plan {
  return (
    plans.find((plan) => plan.name === name) ?? plans.find((plan) => plan.name === "default") ?? DEFAULT_PLAN
  );
}

/** One entry of "plans" in the configuration file. Throws a SkeinError that names the member. */
export function readPlan(value: unknown, path: string): Plan {
  const members = new Members(value, path, "SK-SYS-400");
  members.allowOnly(MEMBERS);
  return {
    name: members.string("name", 100),
    searches_per_month: members.optionalInteger("searches_per_month", 0, COUNT_MAX) ?? null,
    documents: members.optionalInteger("documents", 0, COUNT_MAX) ?? null,
    coach_per_month: members.optionalInteger("coach_per_month", 0, COUNT_MAX) ?? null,
    ai_query_understanding: members.optionalBoolean("ai_query_understanding") ?? true,
    requests_per_second_per_ip: members.optionalInteger("requests_per_second_per_ip", 1, 1_000_000) ?? null,
  };
}
