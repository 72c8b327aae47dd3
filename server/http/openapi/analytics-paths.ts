// OpenAPI paths for the event and report endpoints. Plain data.

import { ref } from "./components.js";
import {
  data,
  listOf,
  NDJSON,
  operation,
  type PathItem,
  pathParameter,
  queryParameter,
} from "./operations.js";

const INDEX = pathParameter("name", "Name of the index.");
const DAYS = queryParameter("days", "Up to now, or up to `to`.", {
  type: "integer",
  default: 7,
  maximum: 90,
});
const FROM = queryParameter("from", "ISO 8601; overrides days.", { type: "string" });
const TO = queryParameter("to", "ISO 8601; default: now.", { type: "string" });
const LIMIT = queryParameter("limit", "Rows.", { type: "integer", default: 20 });
const RANKING = [INDEX, DAYS, FROM, TO, LIMIT];
const REPORTS = "/v1/indexes/{name}/analytics";
const TAG = "analytics";

const eventSchema = { anyOf: [ref("Event"), { type: "array", items: ref("Event") }] };

export const analyticsPaths: Readonly<Record<string, PathItem>> = {
  "/v1/indexes/{name}/events": {
    post: operation(TAG, "sendEvents", "Clicks and conversions, one or several.", {
      parameters: [
        INDEX,
        queryParameter("api_key", "Instead of the header; only a key with no scope but search and events.", {
          type: "string",
        }),
      ],
      body: {
        required: true,
        content: {
          "application/json": { schema: eventSchema },
          "text/plain": { schema: { type: "string", description: "The same as JSON text." } },
        },
      },
      replies: { 202: data("Each event is accepted or rejected by itself.", ref("EventsResult")) },
    }),
  },
  [`${REPORTS}/queries`]: {
    get: operation(TAG, "topQueries", "What was searched most.", {
      parameters: RANKING,
      replies: { 200: data("By count, then by text.", listOf("TopQuery")) },
    }),
  },
  [`${REPORTS}/no-results`]: {
    get: operation(TAG, "noResults", "What was searched most without a result.", {
      parameters: RANKING,
      replies: { 200: data("By count, then by text.", listOf("NoResultsQuery")) },
    }),
  },
  [`${REPORTS}/summary`]: {
    get: operation(TAG, "summary", "How much was searched and clicked, by how many, and how fast.", {
      parameters: [
        INDEX,
        DAYS,
        FROM,
        TO,
        queryParameter("interval", "Of the series.", { enum: ["hour", "day"], default: "day" }),
      ],
      replies: { 200: data("The numbers, and how they went.", ref("AnalyticsSummary")) },
    }),
  },
  [`${REPORTS}/documents`]: {
    get: operation(TAG, "topDocuments", "What was clicked and bought most.", {
      parameters: RANKING,
      replies: { 200: data("By clicks, then by conversions, then by id.", listOf("TopDocument")) },
    }),
  },
  [`${REPORTS}/export`]: {
    get: operation(TAG, "exportLog", "The searches and events themselves, hour by hour.", {
      parameters: [INDEX, DAYS, FROM, TO],
      replies: { 200: { description: "A search or an event per line.", content: NDJSON } },
    }),
  },
  [`${REPORTS}/people`]: {
    delete: operation(TAG, "forgetPerson", "Takes a user or a session out of the log.", {
      parameters: [
        INDEX,
        queryParameter("user_id", "As queries and events name the user.", { type: "string" }),
        queryParameter("session_id", "Instead of user_id.", { type: "string" }),
      ],
      replies: { 200: data("Their searches and events are nobody's.", ref("ForgottenPerson")) },
    }),
  },
};
