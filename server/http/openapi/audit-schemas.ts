// OpenAPI components for the audit log. Plain data.
import { AUDIT_ACTIONS } from "../../access/audit/operations.js";
import type { JsonSchema } from "../../ground/input/readers.js";

const COUNT: JsonSchema = { type: "integer", minimum: 0 };
const TEXT: JsonSchema = { type: "string" };
const TEXT_OR_NULL: JsonSchema = { type: ["string", "null"] };

const entry: Readonly<Record<string, JsonSchema>> = {
  seq: { ...COUNT, description: "One more than that of the entry before." },
  time: { type: "string", format: "date-time" },
  request_id: TEXT,
  tenant: { ...TEXT_OR_NULL, description: "Its name at that time." },
  tenant_id: COUNT,
  key_id: { type: ["integer", "null"], description: "Null for the bootstrap admin key." },
  address: TEXT,
  action: { enum: [...AUDIT_ACTIONS] },
  index: TEXT_OR_NULL,
  target: { ...TEXT_OR_NULL, description: "The id or the name of what was changed." },
  status: COUNT,
};

export const AUDIT_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  AuditPage: {
    type: "object",
    properties: {
      entries: { type: "array", items: { type: "object", properties: entry, required: Object.keys(entry) } },
      next: { ...COUNT, description: "As `before` it gives the next page. Absent on the last one." },
    },
    required: ["entries"],
  },
};
