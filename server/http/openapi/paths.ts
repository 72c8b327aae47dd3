// The OpenAPI paths for all routes. A test compares them with the route table.

import { accessPaths } from "./access-paths.js";
import { analyticsPaths } from "./analytics-paths.js";
import { auditPaths } from "./audit-paths.js";
import { coachPaths } from "./coach-paths.js";
import { ref } from "./components.js";
import { curationPaths } from "./curation-paths.js";
import {
  data,
  errors,
  json,
  jsonBody,
  listOf,
  NDJSON,
  openOperation,
  operation,
  type PathItem,
  pathParameter,
  queryParameter,
} from "./operations.js";
import { sourcePaths } from "./source-paths.js";

const INDEX = pathParameter("name", "Name of the index.");
const DOCUMENT = pathParameter(
  "id",
  "Id of the document, percent-encoded; GET reads the document `export` as `%65xport`.",
);
const FILTER = "Filter expression, as in a query.";
const ACTION = { enum: ["upsert", "create", "update", "emplace", "delete"], default: "upsert" };
const TEXT = { "text/plain": { schema: { type: "string" } } };

const indexPaths: Readonly<Record<string, PathItem>> = {
  "/v1/indexes": {
    get: operation("indexes", "listIndexes", "The indexes that the key covers.", {
      replies: { 200: data("By name.", listOf("Index")) },
    }),
    post: operation("indexes", "createIndex", "Create an index.", {
      body: jsonBody("IndexInput"),
      replies: { 201: data("Created.", ref("Index")) },
      also: [409],
    }),
  },
  "/v1/indexes/{name}": {
    get: operation("indexes", "getIndex", "One index.", {
      parameters: [INDEX],
      replies: { 200: data("The index.", ref("Index")) },
    }),
    patch: operation("indexes", "updateIndex", "Add, change or drop fields; set the default sorting field.", {
      parameters: [INDEX],
      body: jsonBody("IndexChange"),
      replies: { 200: data("The changed index; it stays searchable while it is rebuilt.", ref("Index")) },
    }),
    delete: operation("indexes", "deleteIndex", "Delete an index with its documents.", {
      parameters: [INDEX],
      replies: { 200: data("Deleted.", ref("DeletedIndex")) },
      also: [409],
    }),
  },
  "/v1/indexes/{name}/settings": {
    get: operation("indexes", "getSettings", "The search settings.", {
      parameters: [INDEX],
      replies: { 200: data("The settings.", ref("Settings")) },
    }),
    patch: operation("indexes", "updateSettings", "Change settings; null restores a default.", {
      parameters: [INDEX],
      body: jsonBody("SettingsInput"),
      replies: { 200: data("The changed settings.", ref("Settings")) },
    }),
  },
  "/v1/indexes/{name}/stats": {
    get: operation("indexes", "getStats", "Size and state of an index.", {
      parameters: [INDEX],
      replies: { 200: data("Summed over the shards.", ref("IndexStats")) },
    }),
  },
};

const documentPaths: Readonly<Record<string, PathItem>> = {
  "/v1/indexes/{name}/documents/batch": {
    post: operation("documents", "batchDocuments", "Write up to 10,000 documents; may be gzip.", {
      parameters: [INDEX],
      body: jsonBody("Batch"),
      replies: {
        200: data("Durable and searchable; failures of single documents are listed.", ref("BatchResult")),
      },
    }),
  },
  "/v1/indexes/{name}/documents/import": {
    post: operation(
      "documents",
      "importDocuments",
      "Write documents from an NDJSON stream of any length; may be gzip.",
      {
        parameters: [INDEX, queryParameter("action", "What to do with each document.", ACTION)],
        body: { required: true, content: NDJSON },
        replies: {
          200: { description: "A line per failed document, then a summary line.", content: NDJSON },
        },
      },
    ),
  },
  "/v1/indexes/{name}/documents/export": {
    get: operation(
      "documents",
      "exportDocuments",
      "All documents, or those that match a filter, as NDJSON.",
      {
        parameters: [INDEX, queryParameter("filter_by", FILTER, { type: "string" })],
        replies: { 200: { description: "A document per line.", content: NDJSON } },
      },
    ),
  },
  "/v1/indexes/{name}/documents": {
    delete: operation("documents", "deleteDocuments", "Delete all documents that match a filter.", {
      parameters: [INDEX, queryParameter("filter_by", FILTER, { type: "string" }, true)],
      replies: {
        200: data("How many were deleted.", {
          type: "object",
          properties: { deleted: { type: "integer", minimum: 0 } },
          required: ["deleted"],
        }),
      },
    }),
  },
  "/v1/indexes/{name}/documents/{id}": {
    get: operation("documents", "getDocument", "One document.", {
      parameters: [INDEX, DOCUMENT],
      replies: { 200: data("The document.", ref("Document")) },
    }),
    patch: operation("documents", "updateDocument", "Change some members of a document.", {
      parameters: [INDEX, DOCUMENT],
      body: jsonBody("DocumentChange"),
      replies: { 200: data("The stored document.", ref("Document")) },
    }),
    delete: operation("documents", "deleteDocument", "Delete one document.", {
      parameters: [INDEX, DOCUMENT],
      replies: { 200: data("Deleted.", ref("Deleted")) },
    }),
  },
};

const searchPaths: Readonly<Record<string, PathItem>> = {
  "/v1/indexes/{name}/query": {
    post: operation("search", "query", "Search an index.", {
      parameters: [INDEX],
      body: jsonBody("Query"),
      replies: { 200: { description: "The hits.", content: json(ref("QueryResult")) } },
    }),
  },
  "/v1/indexes/{name}/documents/{id}/similar": {
    post: operation("search", "similarDocuments", "Documents that are similar to one of the index.", {
      parameters: [INDEX, DOCUMENT],
      body: jsonBody("SimilarInput", false),
      replies: { 200: data("Most similar first.", ref("SimilarDocuments")) },
    }),
  },
  "/v1/indexes/{name}/suggest": {
    post: operation("search", "suggest", "Suggest values for a partly typed input.", {
      parameters: [INDEX],
      body: jsonBody("SuggestInput"),
      replies: { 200: data("Best first.", ref("Suggestions")) },
    }),
  },
  "/v1/multi-search": {
    post: operation("search", "multiSearch", "Up to 50 searches, each with its own index.", {
      body: jsonBody("MultiSearch"),
      replies: { 200: data("An answer or an error per search, in their order.", ref("MultiSearchResult")) },
    }),
  },
};

const SNAPSHOT = pathParameter("id", "Id of the snapshot.");
const snapshotPaths: Readonly<Record<string, PathItem>> = {
  "/v1/snapshots": {
    get: operation("snapshots", "listSnapshots", "All snapshots. Bootstrap admin key only.", {
      replies: { 200: data("Oldest first.", listOf("Snapshot")) },
    }),
    post: operation(
      "snapshots",
      "createSnapshot",
      "Take a snapshot of everything; it is written in the background. Bootstrap admin key only.",
      { replies: { 202: data("The moment is taken.", ref("Snapshot")) }, also: [409] },
    ),
  },
  "/v1/snapshots/{id}": {
    get: operation("snapshots", "getSnapshot", "One snapshot. Bootstrap admin key only.", {
      parameters: [SNAPSHOT],
      replies: { 200: data("The snapshot.", ref("Snapshot")) },
    }),
    delete: operation("snapshots", "deleteSnapshot", "Remove a snapshot. Bootstrap admin key only.", {
      parameters: [SNAPSHOT],
      replies: { 200: data("Removed.", ref("Deleted")) },
      also: [409],
    }),
  },
};

const serverPaths: Readonly<Record<string, PathItem>> = {
  "/health/live": {
    get: openOperation("live", "The process answers.", {
      200: data("Alive.", ref("Health")),
      ...errors([500]),
    }),
  },
  "/health/ready": {
    get: openOperation("ready", "The start is over and every shard answers.", {
      200: data("Ready.", ref("Health")),
      ...errors([500, 503]),
    }),
  },
  "/metrics": {
    get: {
      ...openOperation("metrics", "Measurements of the server in Prometheus text form.", {
        200: { description: "Prometheus text, version 0.0.4.", content: TEXT },
        ...errors([401, 404, 500]),
      }),
      security: [{}, { metrics: [] }],
    },
  },
  "/openapi.json": {
    get: openOperation("openapi", "This document.", {
      200: { description: "OpenAPI 3.1.", content: json({ type: "object" }) },
      ...errors([404, 500]),
    }),
  },
};

export const PATHS: Readonly<Record<string, PathItem>> = {
  ...indexPaths,
  ...documentPaths,
  ...searchPaths,
  ...curationPaths,
  ...sourcePaths,
  ...analyticsPaths,
  ...coachPaths,
  ...accessPaths,
  ...snapshotPaths,
  ...auditPaths,
  ...serverPaths,
};
