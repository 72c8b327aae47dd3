// Routes for a tenant's API keys. With a key that has the scope `keys`, a caller can create or change only
// keys whose rights do not exceed those of its own key.

import {
  checkBounds,
  checkGrant,
  hashKey,
  keyView,
  newKeyValue,
  ROTATION,
  readKey,
  rotatedKey,
  shownPrefix,
} from "../../access/tenants/keys.js";
import { grantorOf } from "../../access/tenants/principal.js";
import type { KeyRecord } from "../../catalog/records/key.js";
import type { CatalogState } from "../../catalog/state.js";
import { SkeinError } from "../../ground/errors.js";
import { jsonValue, jsonValueIfAny } from "../body.js";
import { dataReply } from "../respond.js";
import type { Route, TenantRequest } from "../route.js";
import type { HttpReply } from "../transport/port.js";

const KEYS = { access: "tenant", scope: "keys" } as const;

export const keyRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/keys",
    operation: "createKey",
    ...KEYS,
    body: jsonValue("SK-SYS-400"),
    handle: create,
  },
  { method: "GET", path: "/v1/keys", operation: "listKeys", ...KEYS, handle: list },
  { method: "GET", path: "/v1/keys/{id}", operation: "getKey", ...KEYS, handle: get },
  {
    method: "PATCH",
    path: "/v1/keys/{id}",
    operation: "updateKey",
    ...KEYS,
    body: jsonValue("SK-SYS-400"),
    handle: patch,
  },
  { method: "DELETE", path: "/v1/keys/{id}", operation: "deleteKey", ...KEYS, handle: remove },
  {
    method: "POST",
    path: "/v1/keys/{id}/rotate",
    operation: "rotateKey",
    ...KEYS,
    body: jsonValueIfAny("SK-SYS-400"),
    handle: rotate,
  },
];

async function create({ services, body, principal }: TenantRequest<unknown>): Promise<HttpReply> {
  const { limits } = services.config;
  const value = newKeyValue();
  const { tenant } = principal;
  let made: KeyRecord | undefined;
  await services.catalog.change((state) => {
    const draft = readKey(body, null, grantorOf(principal, state, Date.now()), limits, new Date());
    const count = [...state.keys.values()].filter((key) => key.tenant === tenant).length;
    if (count >= limits.keysPerTenantMax) {
      throw new SkeinError(
        "SK-SYS-400",
        `there are ${count} keys; at most ${limits.keysPerTenantMax} are allowed`,
      );
    }
    const createdAt = new Date().toISOString();
    made = {
      ...draft,
      id: state.nextKeyId,
      tenant,
      hash: hashKey(value),
      prefix: shownPrefix(value),
      createdAt,
    };
    return { type: "key.put", key: made };
  });
  return dataReply({ ...keyView(made!), key: value }, 201);
}

function list({ state, principal }: TenantRequest): HttpReply {
  const keys = [...state.keys.values()].filter((key) => key.tenant === principal.tenant);
  return dataReply(keys.sort((a, b) => a.id - b.id).map(keyView));
}

function get(context: TenantRequest): HttpReply {
  return dataReply(keyView(find(context, context.state)));
}

async function patch(context: TenantRequest<unknown>): Promise<HttpReply> {
  const { services, body, principal } = context;
  const { limits } = services.config;
  const state = await services.catalog.change((current) => {
    const key = find(context, current);
    const grantor = grantorOf(principal, current, Date.now());
    checkGrant(key, grantor);
    return { type: "key.put", key: { ...key, ...readKey(body, key, grantor, limits, new Date()) } };
  });
  return dataReply(keyView(find(context, state)));
}

async function remove(context: TenantRequest): Promise<HttpReply> {
  const { id } = find(context, context.state);
  await context.services.catalog.change((state) => {
    checkGrant(find(context, state), grantorOf(context.principal, state, Date.now()));
    return { type: "key.delete", id };
  });
  return dataReply({ id, deleted: true });
}

/**
 * Replaces the key's value. The reply contains the new value, so the key must not have more rights than the
 * caller.
 */
async function rotate(context: TenantRequest<unknown>): Promise<HttpReply> {
  const { services, body, principal } = context;
  const { limits } = services.config;
  const { grace_s: graceS } = ROTATION.read(body, "", { limits, code: "SK-SYS-400" });
  const value = newKeyValue();
  const state = await services.catalog.change((current) => {
    const key = find(context, current);
    const grantor = grantorOf(principal, current, Date.now());
    checkGrant(key, grantor);
    checkBounds(key, grantor);
    return { type: "key.put", key: rotatedKey(key, value, graceS, new Date()) };
  });
  return dataReply({ ...keyView(find(context, state)), key: value });
}

/** Finds the key named in the path. Another tenant's key counts as missing. */
function find({ params, principal }: TenantRequest<unknown>, state: CatalogState): KeyRecord {
  const id = params.id!;
  const key = /^[1-9]\d{0,14}$/.test(id) ? state.keys.get(Number(id)) : undefined;
  if (key !== undefined && key.tenant === principal.tenant) return key;
  throw new SkeinError("SK-SYS-404", "there is no such key");
}
