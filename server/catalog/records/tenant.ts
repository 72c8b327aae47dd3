// The record of a tenant, its storage, and its commands.
import { KEY_KIND, type KeyRecords } from "./key.js";
import { type Applied, removed, type StoredKind, stored, without } from "./kind.js";
import { USAGE_KIND, type UsageRecords } from "./usage.js";

export interface TenantRecord {
  readonly id: number;
  readonly name: string;
  /** Name of the tenant's plan in the configuration. */
  readonly plan: string;
  readonly createdAt: string;
}

export const TENANT_KIND = {
  name: "tenant",
  counter: "nextTenantId",
  of: null,
  vital: true,
  copiedAs: null,
} as const satisfies StoredKind;

export interface TenantRecords {
  readonly tenants: ReadonlyMap<number, TenantRecord>;
  readonly nextTenantId: number;
}

export type TenantCommand =
  | { readonly type: "tenant.put"; readonly tenant: TenantRecord }
  | { readonly type: "tenant.delete"; readonly id: number };

export function putTenant(state: TenantRecords, tenant: TenantRecord): Applied<TenantRecords> {
  return {
    tenants: new Map(state.tenants).set(tenant.id, tenant),
    nextTenantId: Math.max(state.nextTenantId, tenant.id + 1),
    changes: [stored(TENANT_KIND, tenant.id, tenant)],
  };
}

/** Deletes the tenant with its keys and usage. The tenant must have no indexes. */
export function deleteTenant(
  state: TenantRecords & KeyRecords & UsageRecords,
  id: number,
): Applied<TenantRecords & KeyRecords & UsageRecords> {
  const keys = [...state.keys.values()].filter((key) => key.tenant === id);
  return {
    tenants: without(state.tenants, id),
    keys: new Map([...state.keys].filter(([, key]) => key.tenant !== id)),
    usage: without(state.usage, id),
    changes: [
      removed(TENANT_KIND, id),
      removed(USAGE_KIND, id),
      ...keys.map((key) => removed(KEY_KIND, key.id)),
    ],
  };
}
