// Tenants, for the bootstrap admin key only. A new tenant comes with its first key, shown once.

import type { CatalogState } from "../../catalog/state.js";
import { type KeyRecord, SCOPES, type TenantRecord } from "../../catalog/types.js";
import { SkeinError } from "../../errors.js";
import { hashKey, keyView, newKeyValue, shownPrefix } from "../../tenants/keys.js";
import { DEFAULT_TENANT } from "../../tenants/principal.js";
import { readTenant, tenantView } from "../../tenants/tenants.js";
import { readJson } from "../body.js";
import type { HttpReply } from "../port.js";
import { dataReply } from "../respond.js";
import type { Route, TenantContext } from "../router.js";

const BOOTSTRAP = { access: "tenant", scope: "bootstrap" } as const;

export const tenantRoutes: readonly Route[] = [
  { method: "POST", path: "/v1/tenants", operation: "createTenant", ...BOOTSTRAP, handle: create },
  { method: "GET", path: "/v1/tenants", operation: "listTenants", ...BOOTSTRAP, handle: list },
  { method: "PATCH", path: "/v1/tenants/{id}", operation: "updateTenant", ...BOOTSTRAP, handle: patch },
  { method: "DELETE", path: "/v1/tenants/{id}", operation: "deleteTenant", ...BOOTSTRAP, handle: remove },
];

async function create({ services, request }: TenantContext): Promise<HttpReply> {
  const { limits } = services.config;
  const { plans } = services.settings.now;
  const draft = readTenant(await readJson(request, limits, "SK-SYS-400"), null, plans, limits);
  const createdAt = new Date().toISOString();
  let tenant: TenantRecord | undefined;
  await services.catalog.change((state) => {
    checkNameFree(state, draft.name, null);
    if (state.tenants.size >= limits.tenantsMax) {
      throw new SkeinError(
        "SK-SYS-400",
        `there are ${limits.tenantsMax} tenants already; more are not allowed`,
      );
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
      createdAt,
    };
    return { type: "key.put", key };
  });
  return dataReply({ ...tenantView(tenant!), admin_key: { ...keyView(key!), key: value } }, 201);
}

function list({ state }: TenantContext): HttpReply {
  return dataReply([...state.tenants.values()].sort((a, b) => a.id - b.id).map(tenantView));
}

async function patch(context: TenantContext): Promise<HttpReply> {
  const { services, request } = context;
  const { limits } = services.config;
  const body = await readJson(request, limits, "SK-SYS-400");
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

/** Refuses to delete a tenant that has indexes, so that no data is lost by accident. */
async function remove(context: TenantContext): Promise<HttpReply> {
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

function checkNameFree(state: CatalogState, name: string, own: number | null): void {
  if ([...state.tenants.values()].some((tenant) => tenant.name === name && tenant.id !== own)) {
    throw new SkeinError("SK-SYS-409", `a tenant named "${name}" exists already`);
  }
}

function find({ params }: TenantContext, state: CatalogState): TenantRecord {
  const id = params.id!;
  const tenant = /^[1-9]\d{0,14}$/.test(id) ? state.tenants.get(Number(id)) : undefined;
  if (tenant !== undefined) return tenant;
  throw new SkeinError("SK-SYS-404", "there is no such tenant");
}
