// OpenAPI schemas for events and reports.
import type { JsonSchema } from "../../ground/input/readers.js";
import { EVENT } from "../../query-log/analytics/event-request.js";

const COUNT = { type: "integer", minimum: 0 };
const SHARE = { type: "number", minimum: 0, maximum: 1 };
const NUMBER = { type: "number", minimum: 0 };
const TEXT = { type: "string" };
const TIME = { type: "string", format: "date-time" };

function complete(properties: object): JsonSchema {
  return { type: "object", properties, required: Object.keys(properties) };
}

export const ANALYTICS_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Event: EVENT.schema,
  EventsResult: complete({
    accepted: COUNT,
    rejected: {
      type: "array",
      items: complete({ index: { ...COUNT, description: "Place in the request, from 0." }, error: TEXT }),
    },
  }),
  ForgottenPerson: complete({ forgotten: { ...COUNT, description: "Searches and events." } }),
  TopQuery: complete({
    query: { ...TEXT, description: "The normalised text." },
    count: COUNT,
    avg_results: NUMBER,
    ctr: { ...SHARE, description: "The part of the searches that led to a click." },
  }),
  NoResultsQuery: complete({ query: TEXT, count: COUNT }),
  TopDocument: complete({
    document_id: TEXT,
    clicks: COUNT,
    conversions: COUNT,
    conversion_value: NUMBER,
  }),
  AnalyticsSummary: complete({
    searches: COUNT,
    no_results: COUNT,
    no_result_rate: SHARE,
    clicks: COUNT,
    ctr: SHARE,
    conversions: COUNT,
    conversion_rate: SHARE,
    conversion_value: NUMBER,
    users: { ...COUNT, description: "Different users; of searches without a user, different sessions." },
    p50_ms: NUMBER,
    p95_ms: NUMBER,
    series: {
      type: "array",
      items: complete({ from: TIME, searches: COUNT, no_results: COUNT, clicks: COUNT }),
    },
  }),
};
