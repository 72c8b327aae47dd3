// Reads request bodies for tenants and builds the clients' view of a tenant. Only the bootstrap admin key
// manages tenants.
import type { TenantRecord } from "../../catalog/records/tenant.js";
import { describe } from "../../ground/input/json-value.js";
import { object, optional, required } from "../../ground/input/object-reader.js";
import { checked, type InputRules, refuse, text } from "../../ground/input/readers.js";
import { FIXED_LIMITS, type Limits } from "../../ground/limits.js";
import type { Plan } from "./plans.js";

export type TenantDraft = Pick<TenantRecord, "name" | "plan">;

export const TENANT = object(
  {
    name: required(
      checked(
        text(FIXED_LIMITS.tenantNameBytesMax),
        (name) =>
          /^[a-z0-9_-]+$/.test(name) ? null : `must consist of a-z, 0-9, "_" and "-", not ${describe(name)}`,
        { pattern: "^[a-z0-9_-]+$" },
      ),
    ),
    plan: optional(
      text(FIXED_LIMITS.planNameBytesMax),
      "Name of a plan of the configuration; default: default.",
    ),
  },
  { unknown: "refused" },
);

/** Reads the body of a create request, or of a PATCH if `current` is given. Throws SK-SYS-400. */
export function readTenant(
  body: unknown,
  current: TenantDraft | null,
  plans: readonly Plan[],
  limits: Limits,
): TenantDraft {
  const rules: InputRules = { limits, code: "SK-SYS-400" };
  const given = TENANT.read(body, "", rules, current ?? undefined);
  const plan = given.plan ?? current?.plan ?? "default";
  const known = plans.map((candidate) => candidate.name);
  if (given.plan !== undefined && plan !== current?.plan && !known.includes(plan))
    refuse("plan", `must be one of ${known.join(", ")}, not ${describe(plan)}`, rules);
  return { name: given.name, plan };
}

export function tenantView(tenant: TenantRecord): Record<string, unknown> {
  return { id: tenant.id, name: tenant.name, plan: tenant.plan, created_at: tenant.createdAt };
}
