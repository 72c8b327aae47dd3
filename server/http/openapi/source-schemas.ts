// OpenAPI schemas for data sources, runs, previews and incidents. Request schemas are generated from the
// table that the server uses to read requests.
import { RUN_STATUSES, RUN_TRIGGERS } from "../../catalog/records/sync-run.js";
import { DATA_SOURCE } from "../../documents/sources/data-source.js";
import { FEED_ERRORS } from "../../ground/errors.js";
import type { JsonSchema } from "../../ground/input/readers.js";

const ID = { type: "integer", minimum: 1 };
const COUNT = { type: "integer", minimum: 0 };
const TIME = { type: "string", format: "date-time" };
const TIME_OR_NULL = { type: ["string", "null"], format: "date-time" };
const TEXT_OR_NULL = { type: ["string", "null"] };
const TEXTS = { type: "array", items: { type: "string" } };

function complete(properties: object): JsonSchema {
  return { type: "object", properties, required: Object.keys(properties) };
}

const itemError = complete({
  item: { ...ID, description: "Position in the feed, from 1." },
  id: TEXT_OR_NULL,
  error: { type: "string" },
});

const run = complete({
  id: ID,
  status: { enum: RUN_STATUSES },
  trigger: { enum: RUN_TRIGGERS, description: "start: missed or interrupted while the server was down." },
  created_at: TIME,
  started_at: { ...TIME_OR_NULL, description: "null: it is queued." },
  finished_at: TIME_OR_NULL,
  documents_imported: { ...COUNT, description: "Written: new ones and changed ones." },
  documents_failed: COUNT,
  documents_deleted: COUNT,
  documents_unchanged: { ...COUNT, description: "Equal to the stored ones, so nothing was written." },
  bytes: { ...COUNT, description: "Of the feed as it was sent." },
  not_modified: { type: "boolean", description: "The feed's server answered 304." },
  error: TEXT_OR_NULL,
  error_code: { enum: [...Object.keys(FEED_ERRORS), null] },
  errors: { type: "array", items: itemError, description: "The first 100." },
});

const { properties: members } = DATA_SOURCE.completeSchema as { properties: object };

const source = complete({
  id: ID,
  ...members,
  basic_auth: {
    anyOf: [complete({ username: { type: "string" }, password: { type: "null" } }), { type: "null" }],
  },
  suspended: { type: "boolean", description: "The schedule rests until the credentials change." },
  created_at: TIME,
  updated_at: TIME,
  last_run: { anyOf: [run, { type: "null" }] },
  next_run_at: TIME_OR_NULL,
});

export const SOURCE_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  DataSource: source,
  DataSourceInput: DATA_SOURCE.schema,
  DataSourceChange: DATA_SOURCE.changeSchema,
  QueuedRun: complete({ run_id: ID, id: ID, status: { enum: RUN_STATUSES } }),
  SyncRun: run,
  FeedPreview: complete({
    items: {
      type: "array",
      items: complete({ source: {}, document: { type: ["object", "null"] }, errors: TEXTS }),
    },
    fields_seen: { type: "array", items: { type: "object" } },
    suggested_field_map: { type: "object", additionalProperties: { type: "string" } },
    suggested_schema: { type: "object" },
  }),
  Incident: complete({
    id: ID,
    code: { enum: Object.keys(FEED_ERRORS) },
    message: { type: "string" },
    index: { type: "string" },
    data_source_id: ID,
    run_id: ID,
    status: { enum: ["open", "resolved"] },
    created_at: TIME,
    resolved_at: TIME_OR_NULL,
  }),
};
