// Routes for indexes, their settings and their statistics.
import type { IndexStats } from "../../../shards/protocol/control.js";
import { checkRights } from "../../access/tenants/principal.js";
import { anyPatternMatches } from "../../access/tenants/scopes.js";
import { vectorPolicy } from "../../catalog/definition/embedder-sources.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import { indexView } from "../../catalog/view.js";
import { jsonValue } from "../body.js";
import { dataReply } from "../respond.js";
import type { IndexRequest, Route, TenantRequest } from "../route.js";
import type { Services } from "../services.js";
import type { HttpReply } from "../transport/port.js";

const ONE = { access: "index", scope: "indexes", missing: "SK-IX-404" } as const;
const ALL = { access: "tenant", scope: "indexes" } as const;

export const indexRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/indexes",
    operation: "createIndex",
    ...ALL,
    body: jsonValue("SK-IX-400"),
    handle: create,
  },
  { method: "GET", path: "/v1/indexes", operation: "listIndexes", ...ALL, handle: list },
  { method: "GET", path: "/v1/indexes/{name}", operation: "getIndex", ...ONE, handle: get },
  {
    method: "PATCH",
    path: "/v1/indexes/{name}",
    operation: "updateIndex",
    ...ONE,
    body: jsonValue("SK-IX-400"),
    handle: patch,
  },
  { method: "DELETE", path: "/v1/indexes/{name}", operation: "deleteIndex", ...ONE, handle: remove },
  {
    method: "GET",
    path: "/v1/indexes/{name}/settings",
    operation: "getSettings",
    ...ONE,
    handle: getSettings,
  },
  {
    method: "PATCH",
    path: "/v1/indexes/{name}/settings",
    operation: "updateSettings",
    ...ONE,
    body: jsonValue("SK-IX-400"),
    handle: patchSettings,
  },
  {
    method: "GET",
    path: "/v1/indexes/{name}/stats",
    operation: "getStats",
    ...ONE,
    opens: true,
    handle: stats,
  },
];

function view({ lifecycle }: Services, record: IndexRecord): Record<string, unknown> {
  return indexView(record, lifecycle.records(record), lifecycle.status(record));
}

async function create({ services, body, principal }: TenantRequest<unknown>): Promise<HttpReply> {
  const checkName = (name: string): void => checkRights(principal, "indexes", name);
  return dataReply(view(services, await services.lifecycle.create(principal.tenant, body, checkName)), 201);
}

/** Lists only the indexes that the key covers. */
function list({ services, principal }: TenantRequest): HttpReply {
  const records = services.lifecycle.list(principal.tenant);
  const covered = records.filter((record) => anyPatternMatches(principal.indexes, record.name));
  return dataReply(covered.map((record) => view(services, record)));
}

function get({ services, record }: IndexRequest): HttpReply {
  return dataReply(view(services, record));
}

async function patch({ services, body, record }: IndexRequest<unknown>): Promise<HttpReply> {
  return dataReply(view(services, await services.lifecycle.changeSchema(record, body)));
}

async function remove({ services, record }: IndexRequest): Promise<HttpReply> {
  await services.lifecycle.remove(record);
  return dataReply({ id: record.id, name: record.name, deleted: true });
}

function getSettings({ record }: IndexRequest): HttpReply {
  return dataReply(record.settings);
}

async function patchSettings({ services, body, record }: IndexRequest<unknown>): Promise<HttpReply> {
  return dataReply((await services.lifecycle.changeSettings(record, body)).settings);
}

async function stats({ services, record }: IndexRequest): Promise<HttpReply> {
  const measured = await services.indexes.stats(record.uid);
  return dataReply({
    name: record.name,
    status: services.lifecycle.status(record),
    records_count: services.lifecycle.records(record),
    shards: services.reads.shards(record.uid),
    deleted_rows: measured.deletedRows,
    segments: measured.segments,
    stale_segments: measured.staleSegments,
    segment_bytes: measured.segmentBytes,
    memory_bytes: measured.memoryBytes,
    queued_bytes: measured.queuedBytes,
    terms: measured.terms,
    merging: measured.merging,
    maintenance_due: measured.maintenanceDue,
    embedder: embedderStats(services, record, measured),
  });
}

function embedderStats(
  { lifecycle, embedders }: Services,
  record: IndexRecord,
  measured: IndexStats,
): Record<string, unknown> {
  const records = lifecycle.records(record);
  const { vectors, pending, codesBytes, modelNumber, modelBytes, modelTrainedAt } = measured;
  const { source } = vectorPolicy(record, records);
  return {
    source,
    state: source === "none" ? "none" : embedders.stateOf(record.uid, measured),
    documents: Math.min(vectors, records),
    pending,
    coverage: records === 0 ? 0 : Math.min(1, vectors / records),
    memory_bytes: codesBytes,
    model:
      modelNumber === 0
        ? null
        : {
            number: modelNumber,
            bytes: modelBytes,
            trained_at: new Date(modelTrainedAt * 1000).toISOString(),
            training_ms: measured.modelTookMs,
            documents: measured.modelDocuments,
          },
  };
}
