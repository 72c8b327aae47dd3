// OpenAPI schemas for keys, tenants and usage. Plain data.
import { KEY, ROTATION } from "../../access/tenants/keys.js";
import { TENANT } from "../../access/tenants/tenants.js";
import { RATE_LIMIT_COUNTS, SCOPES } from "../../catalog/records/key.js";
import type { JsonSchema } from "../../ground/input/readers.js";

const COUNT = { type: "integer", minimum: 0 };
const TIME = { type: "string", format: "date-time" };
const TEXT = { type: "string" };

function complete(properties: object): JsonSchema {
  return { type: "object", properties, required: Object.keys(properties) };
}

function nullable(type: string, rest: JsonSchema = {}): JsonSchema {
  return { type: [type, "null"], ...rest };
}

const key = {
  id: COUNT,
  name: TEXT,
  prefix: TEXT,
  scopes: { type: "array", items: { enum: SCOPES } },
  indexes: { type: "array", items: { type: "string", description: "Index name, * for any characters." } },
  expires_at: nullable("string", { format: "date-time" }),
  rate_limit: nullable("integer", { minimum: 1, description: "Requests per second." }),
  rate_limit_counts: {
    enum: RATE_LIMIT_COUNTS,
    description: "slots: each search of a multi-search counts; requests: the multi-search counts once.",
  },
  created_at: TIME,
  previous_expires_at: nullable("string", {
    format: "date-time",
    description: "Until when the value before the last rotation is good.",
  }),
  last_used_on: nullable("string", {
    format: "date",
    description: "The last day (UTC) on which it was used.",
  }),
};

const newKey = complete({ ...key, key: { type: "string", description: "The value, shown this once." } });
const tenant = { id: COUNT, name: TEXT, plan: TEXT, created_at: TIME };
const limit = nullable("integer", { description: "null: no limit." });
const used = complete({ used: COUNT, limit });
const bytesUsed = complete({
  used: nullable("integer", { minimum: 0, description: "null: a shard cannot tell now." }),
  limit,
});

export const ACCESS_SCHEMAS = {
  Key: complete(key),
  NewKey: newKey,
  KeyInput: KEY.schema,
  KeyChange: KEY.changeSchema,
  KeyRotation: ROTATION.schema,
  Tenant: complete(tenant),
  NewTenant: complete({ ...tenant, admin_key: newKey }),
  TenantInput: TENANT.schema,
  TenantChange: TENANT.changeSchema,
  Usage: complete({
    month: { type: "string", description: "UTC, for instance 2031-01." },
    resets_at: TIME,
    tenants: {
      type: "array",
      items: complete({
        id: COUNT,
        name: TEXT,
        plan: TEXT,
        searches: used,
        coach: used,
        documents: used,
        indexes: used,
        disk_bytes: {
          ...bytesUsed,
          description: "About what the indexes take of the disk, with deleted values that still lie there.",
        },
        memory_bytes: { ...bytesUsed, description: "What the loaded indexes take of memory." },
      }),
    },
  }),
};
