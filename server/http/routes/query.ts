// POST /v1/indexes/{name}/query.
import { search } from "../../coordinator/search.js";
import { planNamed } from "../../tenants/plans.js";
import { readJson } from "../body.js";
import type { HttpReply } from "../port.js";
import { rawReply } from "../respond.js";
import type { IndexContext, Route } from "../router.js";

export const queryRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/indexes/{name}/query",
    operation: "query",
    access: "index",
    scope: "search",
    missing: "SK-SE-404",
    handle: query,
  },
];

async function query({ services, request, principal, state, record }: IndexContext): Promise<HttpReply> {
  const body = await readJson(request, services.config.limits, "SK-SE-400", true);
  services.lifecycle.checkOpen(record);
  const plan = planNamed(services.config.plans, state.tenants.get(principal.tenant)?.plan ?? "");
  services.usage.countSearch(principal.tenant, plan, new Date());
  return rawReply(await search(services.cluster, record, body));
}
