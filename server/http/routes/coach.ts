// Coach routes, for analyses of an index's query log, the resulting recommendations, and decisions on them.
import { planOfTenant } from "../../access/tenants/plans.js";
import { anyPatternMatches } from "../../access/tenants/scopes.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import { type Decided, readStatus } from "../../coach/coach.js";
import { recommendationsOf, recommendationView } from "../../coach/recommendations.js";
import { jsonValue } from "../body.js";
import { dataReply } from "../respond.js";
import type { IndexRequest, Route, TenantRequest } from "../route.js";
import type { HttpReply } from "../transport/port.js";

const INDEX = "/v1/indexes/{name}/coach";
const ONE = "/v1/coach/recommendations/{id}";
const COACH = { access: "index", scope: "coach", missing: "SK-IX-404" } as const;
const ANY = { access: "tenant", scope: "coach" } as const;

export const coachRoutes: readonly Route[] = [
  {
    method: "POST",
    path: `${INDEX}/analyze`,
    operation: "analyze",
    ...COACH,
    opens: true,
    body: jsonValue("SK-AI-400"),
    handle: analyze,
  },
  {
    method: "GET",
    path: `${INDEX}/recommendations`,
    operation: "listRecommendations",
    ...COACH,
    handle: list,
  },
  { method: "POST", path: `${ONE}/apply`, operation: "applyRecommendation", ...ANY, handle: apply },
  { method: "POST", path: `${ONE}/dismiss`, operation: "dismissRecommendation", ...ANY, handle: dismiss },
];

async function analyze({ services, body, state, record }: IndexRequest<unknown>): Promise<HttpReply> {
  const { settings, coach } = services;
  const plan = planOfTenant(settings.now.plans, state, record.tenant);
  const { recommendations, ...report } = await coach.analyse(record, body, plan, new Date());
  return dataReply({
    ...report,
    recommendations_saved: recommendations.length,
    recommendations: recommendations.map((one) => recommendationView(one, record)),
  });
}

function list({ state, record, query }: IndexRequest): HttpReply {
  const all = recommendationsOf(state, record, readStatus(query));
  return dataReply(all.map((one) => recommendationView(one, record)));
}

async function apply(context: TenantRequest): Promise<HttpReply> {
  const { services, params } = context;
  return decidedReply(await services.coach.apply(coveredIndexes(context), params.id!, new Date()));
}

async function dismiss(context: TenantRequest): Promise<HttpReply> {
  const { services, params } = context;
  return decidedReply(await services.coach.dismiss(coveredIndexes(context), params.id!, new Date()));
}

/** Returns the indexes that the key covers. */
function coveredIndexes({ services, principal }: TenantRequest): IndexRecord[] {
  return services.lifecycle
    .list(principal.tenant)
    .filter(({ name }) => anyPatternMatches(principal.indexes, name));
}

function decidedReply({ recommendation, index }: Decided): HttpReply {
  return dataReply({
    recommendation: recommendationView(recommendation, index),
    created: recommendation.created,
  });
}
