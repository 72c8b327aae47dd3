// Synonym groups of an index.

import { synonymsOf } from "../../catalog/index-contents.js";
import { synonymsView } from "../../catalog/records/synonym.js";
import { findSynonyms } from "../../indexes/curation.js";
import { readJson } from "../body.js";
import { dataReply } from "../respond.js";
import type { IndexContext, Route } from "../router.js";
import type { HttpReply } from "../transport/port.js";

const ALL = "/v1/indexes/{name}/synonyms";
const ONE = `${ALL}/{id}`;
const RULES = { access: "index", scope: "rules", missing: "SK-IX-404" } as const;

export const synonymRoutes: readonly Route[] = [
  { method: "GET", path: ALL, operation: "listSynonyms", ...RULES, handle: list },
  { method: "POST", path: ALL, operation: "createSynonyms", ...RULES, handle: create },
  { method: "GET", path: ONE, operation: "getSynonyms", ...RULES, handle: get },
  { method: "PATCH", path: ONE, operation: "updateSynonyms", ...RULES, handle: patch },
  { method: "DELETE", path: ONE, operation: "deleteSynonyms", ...RULES, handle: remove },
];

function list({ state, record }: IndexContext): HttpReply {
  return dataReply(synonymsOf(state, record.uid).map(synonymsView));
}

async function create({ services, request, record }: IndexContext): Promise<HttpReply> {
  const body = await readJson(request, services.config.limits, "SK-SY-400");
  return dataReply(synonymsView(await services.curation.createSynonyms(record, body)), 201);
}

function get({ state, record, params }: IndexContext): HttpReply {
  return dataReply(synonymsView(findSynonyms(state, record, params.id!)));
}

async function patch({ services, request, record, params }: IndexContext): Promise<HttpReply> {
  const body = await readJson(request, services.config.limits, "SK-SY-400");
  return dataReply(synonymsView(await services.curation.changeSynonyms(record, params.id!, body)));
}

async function remove({ services, record, params }: IndexContext): Promise<HttpReply> {
  return dataReply({ id: await services.curation.removeSynonyms(record, params.id!), deleted: true });
}
