// The route GET /v1/audit. Only the bootstrap admin key may use it, because the log covers all tenants.
import { readAuditFilter, readAuditLimit } from "../../access/audit/audit-request.js";
import { dataReply } from "../respond.js";
import type { Route, TenantRequest } from "../route.js";
import type { HttpReply } from "../transport/port.js";

export const auditRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/audit",
    operation: "listAudit",
    access: "tenant",
    scope: "bootstrap",
    handle: list,
  },
];

async function list({ services, request, query: parameters }: TenantRequest): Promise<HttpReply> {
  const { limits } = services.config;
  const filter = readAuditFilter(parameters, limits);
  const limit = readAuditLimit(parameters);
  return dataReply(await services.audit.read(filter, limit, request.signal));
}
