// Ranking rules of an index.
import { rulesOf } from "../../catalog/index-contents.js";
import { findRule, shownRule } from "../../indexes/curation.js";
import { readJson } from "../body.js";
import { dataReply } from "../respond.js";
import type { IndexContext, Route } from "../router.js";
import type { HttpReply } from "../transport/port.js";

const ALL = "/v1/indexes/{name}/ranking-rules";
const ONE = `${ALL}/{id}`;
const RULES = { access: "index", scope: "rules", missing: "SK-IX-404" } as const;

export const ruleRoutes: readonly Route[] = [
  { method: "GET", path: ALL, operation: "listRankingRules", ...RULES, handle: list },
  { method: "POST", path: ALL, operation: "createRankingRule", ...RULES, handle: create },
  { method: "GET", path: ONE, operation: "getRankingRule", ...RULES, handle: get },
  { method: "PATCH", path: ONE, operation: "updateRankingRule", ...RULES, handle: patch },
  { method: "DELETE", path: ONE, operation: "deleteRankingRule", ...RULES, handle: remove },
];

function list({ services, state, record }: IndexContext): HttpReply {
  return dataReply(rulesOf(state, record.uid).map((rule) => shownRule(services, record, rule)));
}

async function create({ services, request, record }: IndexContext): Promise<HttpReply> {
  const body = await readJson(request, services.config.limits, "SK-RR-400");
  const rule = await services.curation.createRule(record, body);
  return dataReply(shownRule(services, record, rule), 201);
}

function get({ services, state, record, params }: IndexContext): HttpReply {
  return dataReply(shownRule(services, record, findRule(state, record, params.id!)));
}

async function patch({ services, request, record, params }: IndexContext): Promise<HttpReply> {
  const body = await readJson(request, services.config.limits, "SK-RR-400");
  const rule = await services.curation.changeRule(record, params.id!, body);
  return dataReply(shownRule(services, record, rule));
}

async function remove({ services, record, params }: IndexContext): Promise<HttpReply> {
  return dataReply({ id: await services.curation.removeRule(record, params.id!), deleted: true });
}
