// Document routes, for batches, imports, exports, single documents, and deletion by filter.
import { planOfTenant } from "../../access/tenants/plans.js";
import { deleteDocument, deleteWhere, getDocument, patchDocument } from "../../documents/ingest/documents.js";
import { exportDocuments } from "../../documents/ingest/export-stream.js";
import { importDocuments } from "../../documents/ingest/import-stream.js";
import { writeBatch } from "../../documents/ingest/write.js";
import { SkeinError } from "../../ground/errors.js";
import { documentBody, documentStream, reserved, STREAM_BYTES } from "../body.js";
import { dataReply, NDJSON_TYPE, rawDataReply } from "../respond.js";
import type { IndexRequest, Route } from "../route.js";
import { errorLine, heldReply, startedReply } from "../streams.js";
import type { HttpReply } from "../transport/port.js";

/**
 * Maximum bytes of an import's reply (one line per failure) that are held back until the client has sent
 * everything, because many clients read nothing before that.
 */
const IMPORT_REPLY_HELD_BYTES_MAX = 8 * 1024 * 1024;

const BASE = "/v1/indexes/{name}/documents";
const INDEX = { access: "index", scope: "documents", missing: "SK-IX-404", opens: true } as const;

export const documentRoutes: readonly Route[] = [
  {
    method: "POST",
    path: `${BASE}/batch`,
    operation: "batchDocuments",
    ...INDEX,
    body: documentBody("batchBodyBytesMax"),
    handle: batch,
  },
  {
    method: "POST",
    path: `${BASE}/import`,
    operation: "importDocuments",
    ...INDEX,
    body: documentStream,
    handle: importAll,
  },
  { method: "GET", path: `${BASE}/export`, operation: "exportDocuments", ...INDEX, handle: exportAll },
  { method: "DELETE", path: BASE, operation: "deleteDocuments", ...INDEX, handle: removeWhere },
  { method: "GET", path: `${BASE}/{id}`, operation: "getDocument", ...INDEX, handle: get },
  {
    method: "PATCH",
    path: `${BASE}/{id}`,
    operation: "updateDocument",
    ...INDEX,
    body: documentBody("documentBytesMax"),
    handle: patch,
  },
  { method: "DELETE", path: `${BASE}/{id}`, operation: "deleteDocument", ...INDEX, handle: remove },
];

async function batch(context: IndexRequest<Uint8Array>): Promise<HttpReply> {
  const { services, body, principal, record } = context;
  return dataReply(await writeBatch(services, record, body, services.documentQuotas.of(principal.tenant)));
}

async function importAll(context: IndexRequest<AsyncIterable<Uint8Array>>): Promise<HttpReply> {
  const { services, state, body, id, query, principal, record } = context;
  const log = services.log.child({ id });
  const action = query.get("action") ?? "upsert";
  const exists = (): boolean => services.catalog.state.indexes.has(record.uid);
  const target = { exists, quota: services.documentQuotas.of(principal.tenant) };
  const plan = planOfTenant(services.settings.now.plans, state, principal.tenant);
  const end = services.imports.begin(principal.tenant, plan.concurrent_imports);
  try {
    const lines = importDocuments({ ...services, log }, record, action, body, target);
    return {
      ...(await heldReply(lines, NDJSON_TYPE, IMPORT_REPLY_HELD_BYTES_MAX, (error) => errorLine(error, log))),
      onFinished: end,
    };
  } catch (error) {
    end();
    throw error;
  }
}

async function exportAll(context: IndexRequest): Promise<HttpReply> {
  const { services, request, query, record } = context;
  await reserved(context, STREAM_BYTES);
  const lines = exportDocuments(services, record, query.get("filter_by"), request.life);
  return startedReply(lines, NDJSON_TYPE);
}

async function removeWhere({ services, query, record }: IndexRequest): Promise<HttpReply> {
  const filter = query.get("filter_by");
  if (filter === null) {
    throw new SkeinError("SK-DOC-400", "filter_by is missing; to delete all documents, delete the index");
  }
  return dataReply({ deleted: await deleteWhere(services, record, filter) });
}

async function get({ services, params, record }: IndexRequest): Promise<HttpReply> {
  const document = await getDocument(services, record, params.id!);
  if (document === null) throw noDocument();
  return rawDataReply(document);
}

async function patch({ services, body, params, record }: IndexRequest<Uint8Array>): Promise<HttpReply> {
  return rawDataReply(await patchDocument(services, record, params.id!, body));
}

async function remove({ services, params, record }: IndexRequest): Promise<HttpReply> {
  const id = params.id!;
  if (!(await deleteDocument(services, record, id))) throw noDocument();
  return dataReply({ id, deleted: true });
}

function noDocument(): SkeinError {
  return new SkeinError("SK-DOC-404", "the document does not exist");
}
