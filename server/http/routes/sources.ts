// Routes for an index's data sources and their runs, and for a tenant's incidents.
import { anyPatternMatches } from "../../access/tenants/scopes.js";
import type { DataSource } from "../../catalog/records/data-source.js";
import type { CatalogState } from "../../catalog/state.js";
import { sourceView } from "../../documents/sources/data-source.js";
import { findRun, findSource, incidentsOf, runsOf, sourcesOf } from "../../documents/sources/records.js";
import { runView } from "../../documents/sources/run-view.js";
import { SkeinError } from "../../ground/errors.js";
import { jsonValue } from "../body.js";
import { dataReply } from "../respond.js";
import type { IndexRequest, Route, TenantRequest } from "../route.js";
import type { Services } from "../services.js";
import type { HttpReply } from "../transport/port.js";

const ALL = "/v1/indexes/{name}/data-sources";
const ONE = `${ALL}/{id}`;
const RUNS = `${ONE}/runs`;
const SOURCES = { access: "index", scope: "sources", missing: "SK-IX-404" } as const;

export const sourceRoutes: readonly Route[] = [
  { method: "GET", path: ALL, operation: "listDataSources", ...SOURCES, handle: list },
  {
    method: "POST",
    path: ALL,
    operation: "createDataSource",
    ...SOURCES,
    body: jsonValue("SK-DS-400"),
    handle: create,
  },
  {
    method: "POST",
    path: `${ALL}/preview`,
    operation: "previewFeed",
    ...SOURCES,
    body: jsonValue("SK-DS-400"),
    handle: preview,
  },
  { method: "GET", path: ONE, operation: "getDataSource", ...SOURCES, handle: get },
  {
    method: "PATCH",
    path: ONE,
    operation: "updateDataSource",
    ...SOURCES,
    body: jsonValue("SK-DS-400"),
    handle: patch,
  },
  { method: "DELETE", path: ONE, operation: "deleteDataSource", ...SOURCES, handle: remove },
  { method: "POST", path: `${ONE}/sync-now`, operation: "syncNow", ...SOURCES, handle: syncNow },
  { method: "GET", path: RUNS, operation: "listRuns", ...SOURCES, handle: runs },
  { method: "GET", path: `${RUNS}/{run_id}`, operation: "getRun", ...SOURCES, handle: run },
  { method: "POST", path: `${RUNS}/{run_id}/cancel`, operation: "cancelRun", ...SOURCES, handle: cancel },
  {
    method: "GET",
    path: "/v1/incidents",
    operation: "listIncidents",
    access: "tenant",
    scope: "sources",
    handle: incidents,
  },
];

const RUNS_LISTED = 50;

function view(services: Services, state: CatalogState, source: DataSource) {
  const [last] = runsOf(state, source);
  return sourceView(source, last === undefined ? null : services.runs.present(last));
}

function list({ services, state, record }: IndexRequest): HttpReply {
  return dataReply(sourcesOf(state, record.uid).map((source) => view(services, state, source)));
}

async function create({ services, body, record }: IndexRequest<unknown>): Promise<HttpReply> {
  const source = await services.sources.create(record, body);
  return dataReply(view(services, services.catalog.state, source), 201);
}

async function preview({ services, body, record }: IndexRequest<unknown>): Promise<HttpReply> {
  return dataReply(await services.previews.preview(record, body));
}

function get({ services, state, record, params }: IndexRequest): HttpReply {
  return dataReply(view(services, state, findSource(state, record, params.id!)));
}

async function patch({ services, body, record, params }: IndexRequest<unknown>): Promise<HttpReply> {
  const source = await services.sources.change(record, params.id!, body);
  return dataReply(view(services, services.catalog.state, source));
}

async function remove({ services, record, params }: IndexRequest): Promise<HttpReply> {
  return dataReply({ id: await services.sources.remove(record, params.id!), deleted: true });
}

/** Replies with 202 for a new run, or with 200 if a run is already queued or running. */
async function syncNow({ services, state, record, params }: IndexRequest): Promise<HttpReply> {
  const source = findSource(state, record, params.id!);
  const { run: queued, fresh } = await services.runs.queue(source.id, "manual");
  return dataReply({ run_id: queued.id, id: queued.id, status: queued.status }, fresh ? 202 : 200);
}

function runs({ services, state, record, params, query }: IndexRequest): HttpReply {
  const source = findSource(state, record, params.id!);
  const listed = runsOf(state, source).slice(0, limitOf(query));
  return dataReply(listed.map((one) => runView(services.runs.present(one))));
}

function run({ services, state, record, params }: IndexRequest): HttpReply {
  const source = findSource(state, record, params.id!);
  return dataReply(runView(services.runs.present(findRun(state, source, params.run_id!))));
}

async function cancel({ services, state, record, params }: IndexRequest): Promise<HttpReply> {
  const source = findSource(state, record, params.id!);
  const cancelled = await services.runs.cancel(source, findRun(state, source, params.run_id!));
  return dataReply(runView(cancelled));
}

/** Lists only the incidents of indexes that the key covers. */
function incidents({ services, principal, query }: TenantRequest): HttpReply {
  const { catalog, lifecycle } = services;
  const index = query.get("index");
  const status = query.get("status");
  if (status !== null && status !== "open" && status !== "resolved")
    throw new SkeinError("SK-DS-400", "status must be open or resolved");
  const indexes = lifecycle
    .list(principal.tenant)
    .filter(({ name }) => (index === null || name === index) && anyPatternMatches(principal.indexes, name));
  const all = incidentsOf(catalog.state, indexes).map(({ incident, index: { name } }) => ({
    id: incident.id,
    code: incident.code,
    message: incident.message,
    index: name,
    data_source_id: incident.source,
    run_id: incident.run,
    status: incident.resolved_at === null ? "open" : "resolved",
    created_at: incident.created_at,
    resolved_at: incident.resolved_at,
  }));
  return dataReply(all.filter((incident) => status === null || incident.status === status));
}

/** Reads the limit. As in every list route, a value outside the range is clamped. */
function limitOf(query: URLSearchParams): number {
  const given = query.get("limit");
  if (given === null) return RUNS_LISTED;
  if (!/^-?\d{1,15}$/.test(given)) throw new SkeinError("SK-DS-400", "limit must be an integer");
  return Math.max(1, Number(given));
}
