// OpenAPI paths for data sources, their runs and incidents. Plain data.

import { ref } from "./components.js";
import {
  data,
  jsonBody,
  listOf,
  operation,
  type PathItem,
  pathParameter,
  queryParameter,
} from "./operations.js";

const INDEX = pathParameter("name", "Name of the index.");
const SOURCE = pathParameter("id", "Number of the data source.", "integer");
const RUN = pathParameter("run_id", "Number of the run.", "integer");
const ALL = "/v1/indexes/{name}/data-sources";
const TAG = "sources";

export const sourcePaths: Readonly<Record<string, PathItem>> = {
  [ALL]: {
    get: operation(TAG, "listDataSources", "All data sources of an index.", {
      parameters: [INDEX],
      replies: { 200: data("By id.", listOf("DataSource")) },
    }),
    post: operation(TAG, "createDataSource", "Connect a feed. It is read by its schedule, or by sync-now.", {
      parameters: [INDEX],
      body: jsonBody("DataSourceInput"),
      replies: { 201: data("Made.", ref("DataSource")) },
    }),
  },
  [`${ALL}/preview`]: {
    post: operation(TAG, "previewFeed", "Look at the first items of a feed. Nothing is stored.", {
      parameters: [INDEX],
      body: jsonBody("DataSourceInput"),
      replies: {
        200: data("The items, what they become, and a field map and a schema for them.", ref("FeedPreview")),
      },
    }),
  },
  [`${ALL}/{id}`]: {
    get: operation(TAG, "getDataSource", "One data source.", {
      parameters: [INDEX, SOURCE],
      replies: { 200: data("The data source, without its password.", ref("DataSource")) },
    }),
    patch: operation(TAG, "updateDataSource", "Change a data source; null restores a default.", {
      parameters: [INDEX, SOURCE],
      body: jsonBody("DataSourceChange"),
      replies: { 200: data("The changed data source.", ref("DataSource")) },
    }),
    delete: operation(TAG, "deleteDataSource", "Delete a data source with its runs. Its documents stay.", {
      parameters: [INDEX, SOURCE],
      replies: { 200: data("Deleted.", ref("Deleted")) },
    }),
  },
  [`${ALL}/{id}/sync-now`]: {
    post: operation(TAG, "syncNow", "Queue a run.", {
      parameters: [INDEX, SOURCE],
      replies: {
        200: data("A run is queued or running already.", ref("QueuedRun")),
        202: data("Queued.", ref("QueuedRun")),
      },
    }),
  },
  [`${ALL}/{id}/runs`]: {
    get: operation(TAG, "listRuns", "The last runs of a data source; 100 are kept.", {
      parameters: [
        INDEX,
        SOURCE,
        queryParameter("limit", "Maximum number of runs.", { type: "integer", minimum: 1, default: 50 }),
      ],
      replies: { 200: data("Newest first.", listOf("SyncRun")) },
    }),
  },
  [`${ALL}/{id}/runs/{run_id}`]: {
    get: operation(TAG, "getRun", "One run; its counts grow while it runs.", {
      parameters: [INDEX, SOURCE, RUN],
      replies: { 200: data("The run.", ref("SyncRun")) },
    }),
  },
  [`${ALL}/{id}/runs/{run_id}/cancel`]: {
    post: operation(TAG, "cancelRun", "End a run. What it has written stays.", {
      parameters: [INDEX, SOURCE, RUN],
      replies: { 200: data("The cancelled run.", ref("SyncRun")) },
      also: [409],
    }),
  },
  "/v1/incidents": {
    get: operation(
      TAG,
      "listIncidents",
      "What a person has to look at, of the indexes that the key covers.",
      {
        parameters: [
          queryParameter("index", "Only of this index.", { type: "string" }),
          queryParameter("status", "Only these.", { enum: ["open", "resolved"] }),
        ],
        replies: { 200: data("Newest first.", listOf("Incident")) },
      },
    ),
  },
};
