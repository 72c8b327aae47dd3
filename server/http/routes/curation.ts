// Routes for the records that curate an index, such as rules and synonyms. Every kind of record has the same
// five routes.
import { ownedBy } from "../../catalog/owned-records.js";
import { CURATED, CURATED_KINDS, type Curated, type CuratedKind } from "../../indexes/curated-kinds.js";
import { findCurated } from "../../indexes/curation.js";
import { jsonValue } from "../body.js";
import { dataReply } from "../respond.js";
import type { IndexRequest, Route } from "../route.js";
import type { HttpReply } from "../transport/port.js";

const RULES = { access: "index", scope: "rules", missing: "SK-IX-404" } as const;

export const curationRoutes: readonly Route[] = CURATED_KINDS.flatMap(routesOf);

function routesOf<K extends CuratedKind>(kind: K): Route[] {
  const { path, one, all, invalid, shown } = CURATED[kind];
  const records = `/v1/indexes/{name}/${path}`;
  const record = `${records}/{id}`;
  const show = ({ services, record: index }: IndexRequest<unknown>, curated: Curated<K>): object =>
    shown(curated, index, services);
  const list = (context: IndexRequest): HttpReply =>
    dataReply(ownedBy(context.state, kind, context.record.uid).map((curated) => show(context, curated)));
  const create = async (context: IndexRequest<unknown>): Promise<HttpReply> => {
    const { services, body, record: index } = context;
    return dataReply(show(context, await services.curation.create(kind, index, body)), 201);
  };
  const get = (context: IndexRequest): HttpReply => {
    const { state, record: index, params } = context;
    return dataReply(show(context, findCurated(kind, state, index, params.id!)));
  };
  const patch = async (context: IndexRequest<unknown>): Promise<HttpReply> => {
    const { services, body, record: index, params } = context;
    return dataReply(show(context, await services.curation.change(kind, index, params.id!, body)));
  };
  const remove = async ({ services, record: index, params }: IndexRequest): Promise<HttpReply> =>
    dataReply({ id: await services.curation.remove(kind, index, params.id!), deleted: true });
  const body = jsonValue(invalid);
  return [
    { method: "GET", path: records, operation: `list${all}`, ...RULES, handle: list },
    { method: "POST", path: records, operation: `create${one}`, ...RULES, body, handle: create },
    { method: "GET", path: record, operation: `get${one}`, ...RULES, handle: get },
    { method: "PATCH", path: record, operation: `update${one}`, ...RULES, body, handle: patch },
    { method: "DELETE", path: record, operation: `delete${one}`, ...RULES, handle: remove },
  ];
}
