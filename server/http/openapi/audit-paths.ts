// OpenAPI path for the audit log endpoint. Plain data.
import { AUDIT_ACTIONS } from "../../access/audit/operations.js";
import { FIXED_LIMITS } from "../../ground/limits.js";
import { ref } from "./components.js";
import { data, operation, type PathItem, queryParameter } from "./operations.js";

const LIMIT = { type: "integer", minimum: 1, maximum: FIXED_LIMITS.auditRowsMax, default: 100 };
const BEFORE = { oneOf: [{ type: "integer" }, { type: "string", format: "date-time" }] };
const KEY_ID = { oneOf: [{ type: "integer" }, { const: "bootstrap" }] };

export const auditPaths: Readonly<Record<string, PathItem>> = {
  "/v1/audit": {
    get: operation("audit", "listAudit", "Who has changed what. Bootstrap admin key only.", {
      parameters: [
        queryParameter("limit", "Maximum number of entries; clamped.", LIMIT),
        queryParameter("before", "Only before this time, or before the entry of this number.", BEFORE),
        queryParameter("tenant", "Only those of the tenant that had this name.", { type: "string" }),
        queryParameter("action", "Only this action.", { enum: [...AUDIT_ACTIONS] }),
        queryParameter("key_id", "Only those of this key.", KEY_ID),
      ],
      replies: { 200: data("Newest first.", ref("AuditPage")) },
    }),
  },
};
