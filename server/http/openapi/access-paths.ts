// OpenAPI paths for the endpoints that manage keys, tenants and usage. Plain data.

import { ref } from "./components.js";
import { data, jsonBody, listOf, operation, type PathItem, pathParameter } from "./operations.js";

const NUMBER = pathParameter("id", "Number of the record.", "integer");

export const accessPaths: Readonly<Record<string, PathItem>> = {
  "/v1/keys": {
    get: operation("keys", "listKeys", "All keys, without their values.", {
      replies: { 200: data("By id.", listOf("Key")) },
    }),
    post: operation("keys", "createKey", "Make a key; its value is shown once.", {
      body: jsonBody("KeyInput"),
      replies: { 201: data("Made.", ref("NewKey")) },
    }),
  },
  "/v1/keys/{id}": {
    get: operation("keys", "getKey", "One key, without its value.", {
      parameters: [NUMBER],
      replies: { 200: data("The key.", ref("Key")) },
    }),
    patch: operation("keys", "updateKey", "Change what a key may do.", {
      parameters: [NUMBER],
      body: jsonBody("KeyChange"),
      replies: { 200: data("The changed key.", ref("Key")) },
    }),
    delete: operation("keys", "deleteKey", "Delete a key; it stops working at once.", {
      parameters: [NUMBER],
      replies: { 200: data("Deleted.", ref("Deleted")) },
    }),
  },
  "/v1/keys/{id}/rotate": {
    post: operation("keys", "rotateKey", "Give a key a new value, shown once; the old one may overlap.", {
      parameters: [NUMBER],
      body: jsonBody("KeyRotation", false),
      replies: { 200: data("The key with its new value.", ref("NewKey")) },
    }),
  },
  "/v1/tenants": {
    get: operation("tenants", "listTenants", "All tenants. Bootstrap admin key only.", {
      replies: { 200: data("By id.", listOf("Tenant")) },
    }),
    post: operation("tenants", "createTenant", "Make a tenant and its first key. Bootstrap admin key only.", {
      body: jsonBody("TenantInput"),
      replies: { 201: data("Made.", ref("NewTenant")) },
      also: [409],
    }),
  },
  "/v1/tenants/{id}": {
    patch: operation(
      "tenants",
      "updateTenant",
      "Rename a tenant or give it another plan. Bootstrap admin key only.",
      {
        parameters: [NUMBER],
        body: jsonBody("TenantChange"),
        replies: { 200: data("The changed tenant.", ref("Tenant")) },
        also: [409],
      },
    ),
    delete: operation(
      "tenants",
      "deleteTenant",
      "Delete a tenant without indexes. Bootstrap admin key only.",
      {
        parameters: [NUMBER],
        replies: { 200: data("Deleted.", ref("Deleted")) },
        also: [409],
      },
    ),
  },
  "/v1/usage": {
    get: operation(
      "tenants",
      "usage",
      "What tenants have used of their plans this month: the key's own, or all for the bootstrap admin key.",
      {
        replies: { 200: data("By id.", ref("Usage")) },
      },
    ),
  },
};
