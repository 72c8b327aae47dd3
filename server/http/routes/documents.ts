// Documents of an index: batch, import, export, single documents, deletion by filter.
import { SkeinError } from "../../errors.js";
import { deleteDocument, deleteWhere, getDocument, patchDocument } from "../../ingest/documents.js";
import { exportDocuments } from "../../ingest/export-stream.js";
import { importDocuments } from "../../ingest/import-stream.js";
import { writeBatch } from "../../ingest/write.js";
import { planNamed } from "../../tenants/plans.js";
import { secondsToNextMonth } from "../../tenants/usage.js";
import { documentStream, readDocumentBytes } from "../body.js";
import type { HttpReply } from "../port.js";
import { dataReply, NDJSON_TYPE, rawDataReply } from "../respond.js";
import type { IndexContext, Route } from "../router.js";
import { heldReply, startedReply } from "../streams.js";

const BASE = "/v1/indexes/{name}/documents";
const INDEX = { access: "index", scope: "documents", missing: "SK-IX-404" } as const;

export const documentRoutes: readonly Route[] = [
  { method: "POST", path: `${BASE}/batch`, operation: "batchDocuments", ...INDEX, handle: batch },
  { method: "POST", path: `${BASE}/import`, operation: "importDocuments", ...INDEX, handle: importAll },
  { method: "GET", path: `${BASE}/export`, operation: "exportDocuments", ...INDEX, handle: exportAll },
  { method: "DELETE", path: BASE, operation: "deleteDocuments", ...INDEX, handle: removeWhere },
  { method: "GET", path: `${BASE}/{id}`, operation: "getDocument", ...INDEX, handle: get },
  { method: "PATCH", path: `${BASE}/{id}`, operation: "updateDocument", ...INDEX, handle: patch },
  { method: "DELETE", path: `${BASE}/{id}`, operation: "deleteDocument", ...INDEX, handle: remove },
];

async function batch(context: IndexContext): Promise<HttpReply> {
  const { services, request, record } = context;
  const body = await readDocumentBytes(request, services.config.limits.batchBodyBytesMax);
  services.lifecycle.checkOpen(record);
  checkQuota(context, () => mayAdd(actionOf(body)));
  return dataReply(await writeBatch(services.cluster, record, body));
}

async function importAll(context: IndexContext): Promise<HttpReply> {
  const { services, request, query, record } = context;
  services.lifecycle.checkOpen(record);
  const action = query().get("action") ?? "upsert";
  checkQuota(context, () => mayAdd(action));
  const exists = (): boolean => services.catalog.state.indexes.has(record.uid);
  const lines = importDocuments(services.cluster, record, action, documentStream(request), exists);
  return heldReply(lines, NDJSON_TYPE, services.config.limits.importReplyHeldBytesMax, services.log);
}

function exportAll({ services, query, record }: IndexContext): Promise<HttpReply> {
  services.lifecycle.checkOpen(record);
  return startedReply(exportDocuments(services.cluster, record, query().get("filter_by")), NDJSON_TYPE);
}

async function removeWhere({ services, query, record }: IndexContext): Promise<HttpReply> {
  services.lifecycle.checkOpen(record);
  const filter = query().get("filter_by");
  if (filter === null) {
    throw new SkeinError("SK-DOC-400", "filter_by is missing; to delete all documents, delete the index");
  }
  return dataReply({ deleted: await deleteWhere(services.cluster, record, filter) });
}

async function get({ services, params, record }: IndexContext): Promise<HttpReply> {
  services.lifecycle.checkOpen(record);
  const document = await getDocument(services.cluster, record, params.id!);
  if (document === null) throw noDocument();
  return rawDataReply(document);
}

async function patch({ services, request, params, record }: IndexContext): Promise<HttpReply> {
  const body = await readDocumentBytes(request, services.config.limits.documentBytesMax);
  services.lifecycle.checkOpen(record);
  return rawDataReply(await patchDocument(services.cluster, record, params.id!, body));
}

async function remove({ services, params, record }: IndexContext): Promise<HttpReply> {
  services.lifecycle.checkOpen(record);
  const id = params.id!;
  if (!(await deleteDocument(services.cluster, record, id))) throw noDocument();
  return dataReply({ id, deleted: true });
}

function noDocument(): SkeinError {
  return new SkeinError("SK-DOC-404", "the document does not exist");
}

/** Refuses more documents once the plan's number is reached; `grows` is asked only then. */
function checkQuota({ services, principal, state }: IndexContext, grows: () => boolean): void {
  const plan = planNamed(services.config.plans, state.tenants.get(principal.tenant)?.plan ?? "");
  if (plan.documents === null || services.lifecycle.recordsOf(principal.tenant) < plan.documents || !grows())
    return;
  throw new SkeinError("SK-SYS-429", `the plan's ${plan.documents} documents are used up`, {
    retryAfter: secondsToNextMonth(new Date()),
    details: { limit: plan.documents },
  });
}

/** Whether the number of documents may go up with this action; null adds nothing. */
function mayAdd(action: unknown): boolean {
  return action !== null && action !== "delete" && action !== "update";
}

/** The action of a batch; null for a body that is not valid, which the write itself refuses. */
function actionOf(body: Uint8Array): unknown {
  try {
    const parsed: unknown = JSON.parse(
      Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8"),
    );
    return typeof parsed === "object" && parsed !== null && "action" in parsed ? parsed.action : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
