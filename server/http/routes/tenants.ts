// Tenant routes. Only the bootstrap admin key may use them, except that any tenant may read its own usage.
// Creating a tenant also creates its first key, which is shown only in that reply.
import { hashKey, keyView, newKeyValue, shownPrefix } from "../../access/tenants/keys.js";
import { monthEnd } from "../../access/tenants/month-counts.js";
import { planNamed } from "../../access/tenants/plans.js";
import { DEFAULT_TENANT } from "../../access/tenants/principal.js";
import { readTenant, tenantView } from "../../access/tenants/tenants.js";
import { isMade } from "../../catalog/records/index-record.js";
import { type KeyRecord, SCOPES } from "../../catalog/records/key.js";
import type { TenantRecord } from "../../catalog/records/tenant.js";
import type { CatalogState } from "../../catalog/state.js";
import { SkeinError } from "../../ground/errors.js";
import { jsonValue } from "../body.js";
import { dataReply } from "../respond.js";
import type { Route, TenantRequest } from "../route.js";
import type { Services } from "../services.js";
import type { HttpReply } from "../transport/port.js";

const BOOTSTRAP = { access: "tenant", scope: "bootstrap" } as const;

export const tenantRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/tenants",
    operation: "createTenant",
    ...BOOTSTRAP,
    body: jsonValue("SK-SYS-400"),
    handle: create,
  },
  { method: "GET", path: "/v1/tenants", operation: "listTenants", ...BOOTSTRAP, handle: list },
  {
    method: "PATCH",
    path: "/v1/tenants/{id}",
    operation: "updateTenant",
    ...BOOTSTRAP,
    body: jsonValue("SK-SYS-400"),
    handle: patch,
  },
  { method: "DELETE", path: "/v1/tenants/{id}", operation: "deleteTenant", ...BOOTSTRAP, handle: remove },
  { method: "GET", path: "/v1/usage", operation: "usage", access: "tenant", scope: "admin", handle: usage },
];

async function create({ services, body }: TenantRequest<unknown>): Promise<HttpReply> {
  const { limits } = services.config;
  const { plans } = services.settings.now;
  const draft = readTenant(body, null, plans, limits);
  const createdAt = new Date().toISOString();
  let tenant: TenantRecord | undefined;
  await services.catalog.change((state) => {
    checkNameFree(state, draft.name, null);
    if (state.tenants.size >= limits.tenantsMax) {
      throw new SkeinError("SK-SYS-400", `there are ${limits.tenantsMax} tenants, which is the maximum`);
    }
    tenant = { ...draft, id: state.nextTenantId, createdAt };
    return { type: "tenant.put", tenant };
  });
  const value = newKeyValue();
  let key: KeyRecord | undefined;
  await services.catalog.change((state) => {
    key = {
      id: state.nextKeyId,
      tenant: tenant!.id,
      name: "admin",
      hash: hashKey(value),
      prefix: shownPrefix(value),
      scopes: SCOPES.filter((scope) => scope === "admin"),
      indexes: ["*"],
      expiresAt: null,
      rateLimit: null,
      rateLimitCounts: "slots",
      createdAt,
    };
    return { type: "key.put", key };
  });
  return dataReply({ ...tenantView(tenant!), admin_key: { ...keyView(key!), key: value } }, 201);
}

function list({ state }: TenantRequest): HttpReply {
  return dataReply([...state.tenants.values()].sort((a, b) => a.id - b.id).map(tenantView));
}

async function patch(context: TenantRequest<unknown>): Promise<HttpReply> {
  const { services, body } = context;
  const { limits } = services.config;
  const state = await services.catalog.change((current) => {
    const tenant = find(context, current);
    const draft = readTenant(body, tenant, services.settings.now.plans, limits);
    if (tenant.name === DEFAULT_TENANT && draft.name !== DEFAULT_TENANT) {
      throw new SkeinError("SK-SYS-409", "the default tenant keeps its name");
    }
    checkNameFree(current, draft.name, tenant.id);
    return { type: "tenant.put", tenant: { ...tenant, ...draft } };
  });
  return dataReply(tenantView(find(context, state)));
}

/** Refuses to delete a tenant that still has indexes, so that no data is deleted by accident. */
async function remove(context: TenantRequest): Promise<HttpReply> {
  const { id } = find(context, context.state);
  await context.services.catalog.change((state) => {
    const tenant = find(context, state);
    if (tenant.name === DEFAULT_TENANT)
      throw new SkeinError("SK-SYS-409", "the default tenant cannot be deleted");
    if ([...state.indexes.values()].some((record) => record.tenant === id)) {
      throw new SkeinError("SK-SYS-409", "the tenant still has indexes; delete them first");
    }
    return { type: "tenant.delete", id };
  });
  return dataReply({ id, deleted: true });
}

/**
 * Returns the usage of the caller's tenant. With the bootstrap key, returns the usage of the tenant named in
 * the header, or of all tenants if none is named.
 */
async function usage({ services, request, state, principal }: TenantRequest): Promise<HttpReply> {
  const { settings } = services;
  const { indexesPerTenantMax } = services.config.limits;
  const now = new Date();
  const all = principal.keyId === null && request.header("x-skein-tenant") === "";
  const shown = all ? [...state.tenants.values()] : [state.tenants.get(principal.tenant)!];
  const takenBy = await takenByTenants(services, state, new Set(shown.map(({ id }) => id)));
  const usageOf = ({ id, name, plan: planName }: TenantRecord) => {
    const plan = planNamed(settings.now.plans, planName);
    const { searches, coach } = services.usage.used(id, now);
    const taken = takenBy.get(id)!;
    return {
      id,
      name,
      plan: planName,
      searches: { used: searches, limit: plan.searches_per_month },
      coach: { used: coach, limit: plan.coach_per_month },
      documents: { used: taken.documents, limit: plan.documents },
      indexes: { used: taken.indexes, limit: Math.min(indexesPerTenantMax, plan.indexes ?? Infinity) },
      disk_bytes: { used: taken.diskBytes, limit: plan.disk_bytes },
      memory_bytes: { used: taken.memoryBytes, limit: plan.memory_bytes },
    };
  };
  return dataReply({
    month: now.toISOString().slice(0, 7),
    resets_at: new Date(monthEnd(now)).toISOString(),
    tenants: shown.sort((a, b) => a.id - b.id).map(usageOf),
  });
}

interface Taken {
  documents: number;
  indexes: number;
  /** Null if some shard cannot report its sizes now. */
  diskBytes: number | null;
  memoryBytes: number | null;
}

/** Returns how many documents, indexes and bytes each tenant currently uses. */
async function takenByTenants(
  { lifecycle, indexes }: Services,
  state: CatalogState,
  tenants: ReadonlySet<number>,
): Promise<ReadonlyMap<number, Taken>> {
  const records = [...state.indexes.values()].filter(
    (record) => tenants.has(record.tenant) && isMade(record),
  );
  const sizes = await indexes.sizes(records).catch((error: unknown) => {
    if (error instanceof SkeinError) return null;
    throw error;
  });
  const noBytes = sizes === null ? null : 0;
  const none = { documents: 0, indexes: 0, diskBytes: noBytes, memoryBytes: noBytes };
  const taken = new Map(Array.from(tenants, (id): [number, Taken] => [id, { ...none }]));
  for (const [i, record] of records.entries()) {
    const of = taken.get(record.tenant)!;
    of.documents += lifecycle.records(record);
    of.indexes++;
    if (sizes === null) continue;
    of.diskBytes! += sizes[i]!.diskBytes;
    of.memoryBytes! += sizes[i]!.memoryBytes;
  }
  return taken;
}

function checkNameFree(state: CatalogState, name: string, own: number | null): void {
  if ([...state.tenants.values()].some((tenant) => tenant.name === name && tenant.id !== own)) {
    throw new SkeinError("SK-SYS-409", `a tenant named "${name}" already exists`);
  }
}

function find({ params }: TenantRequest<unknown>, state: CatalogState): TenantRecord {
  const id = params.id!;
  const tenant = /^[1-9]\d{0,14}$/.test(id) ? state.tenants.get(Number(id)) : undefined;
  if (tenant !== undefined) return tenant;
  throw new SkeinError("SK-SYS-404", "there is no such tenant");
}
