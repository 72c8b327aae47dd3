// Tenants: reading their bodies and what is shown. Only the bootstrap admin key manages them.
import type { TenantRecord } from "../catalog/types.js";
import { describe, Members } from "../input.js";
import type { Plan } from "./plans.js";

export type TenantDraft = Pick<TenantRecord, "name" | "plan">;

/** A create body, or with `current` a PATCH body. Throws SK-SYS-400. */
export function readTenant(body: unknown, current: TenantDraft | null, plans: readonly Plan[]): TenantDraft {
  const members = new Members(body, "", "SK-SYS-400");
  members.allowOnly(["name", "plan"]);
  const name = current === null || members.has("name") ? members.string("name", 128) : current.name;
  if (!/^[a-z0-9_-]+$/.test(name)) {
    members.refuse("name", `must consist of a-z, 0-9, "_" and "-", not ${describe(name)}`);
  }
  const plan =
    members.optionalOneOf(
      "plan",
      plans.map((candidate) => candidate.name),
    ) ??
    current?.plan ??
    "default";
  return { name, plan };
}

export function tenantView(tenant: TenantRecord): Record<string, unknown> {
  return { id: tenant.id, name: tenant.name, plan: tenant.plan, created_at: tenant.createdAt };
}
