// The OpenAPI components: the shapes of resources, requests and replies. Plain data, written for readers of
// /openapi.json; the end-to-end tests hold every exchange against it.
import { SCOPES } from "../../catalog/types.js";
import { ERRORS } from "../../errors.js";
import { FIELD_TYPE_NAMES, FIELD_TYPES, typesThat } from "../../field-types.js";
import { CURATION_SCHEMAS } from "./curation-schemas.js";

export type Schema = Readonly<Record<string, unknown>>;

export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** `required` names the members that must be there; others are optional. */
function object(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[],
  rest: Schema = {},
): Schema {
  return { type: "object", properties, required, ...rest };
}

function array(items: Schema, rest: Schema = {}): Schema {
  return { type: "array", items, ...rest };
}

function nullable(type: string, rest: Schema = {}): Schema {
  return { type: [type, "null"], ...rest };
}

const TEXT: Schema = { type: "string" };
const COUNT: Schema = { type: "integer", minimum: 0 };
const FLAG: Schema = { type: "boolean" };
const NUMBER: Schema = { type: "number" };
const TIME: Schema = { type: "string", format: "date-time" };
const NAME: Schema = { type: "string", pattern: "^[a-z0-9_-]+$", maxLength: 128 };
const TEXTS = array(TEXT);

const field = {
  name: {
    type: "string",
    minLength: 1,
    maxLength: 255,
    description: "Not id, embedding or beginning with _.",
  },
  type: {
    enum: FIELD_TYPE_NAMES,
    description: FIELD_TYPE_NAMES.map((name) => `${name}: ${FIELD_TYPES[name].takes}.`).join(" "),
  },
  facet: { ...FLAG, default: false },
  optional: { ...FLAG, default: true },
  index: { ...FLAG, default: true },
  sort: {
    ...FLAG,
    description: `Default true for ${typesThat(({ sortDefault }) => sortDefault === true)}, else false; must be false for ${typesThat(({ sortDefault }) => sortDefault === null)}.`,
  },
  infix: { ...FLAG, default: false },
  language: TEXT,
};

const snapshot = {
  id: TEXT,
  created_at: { ...TIME, description: "The moment that it shows." },
  status: { enum: ["running", "complete", "damaged", "failed"] },
  bytes: { ...COUNT, description: "0 until it is complete." },
  shards: COUNT,
  indexes: COUNT,
  documents: COUNT,
  path: { ...TEXT, description: "The directory on the server's machine." },
  error: nullable("string", { description: "Why it failed or cannot be used." }),
};

const settings = {
  searchable_attributes: { type: ["array", "null"], items: TEXT },
  weights: { type: ["array", "null"], items: { type: "number", exclusiveMinimum: 0 } },
  num_typos: { type: ["integer", "null"], minimum: 0, maximum: 4 },
  prefix: nullable("boolean"),
  min_len_1typo: nullable("integer", { minimum: 1, maximum: 100 }),
  min_len_2typo: nullable("integer", { minimum: 1, maximum: 100 }),
  typo_on_numbers: nullable("boolean"),
  typo_policy: { enum: ["auto", "always", "missing", null] },
  stop_words: { type: ["array", "null"], items: TEXT },
  language: nullable("string"),
  sku_fields: { type: ["array", "null"], items: TEXT },
  brand_field: nullable("string"),
  token_separators: { type: ["array", "null"], items: TEXT },
  symbols_to_index: { type: ["array", "null"], items: TEXT },
  drop_tokens_threshold: nullable("integer", { minimum: 0 }),
  highlight: {
    type: ["object", "null"],
    properties: {
      snippet_tokens: { type: "integer", minimum: 1 },
      start_tag: TEXT,
      end_tag: TEXT,
      escape_html: FLAG,
    },
  },
};

const key = {
  id: COUNT,
  name: TEXT,
  prefix: TEXT,
  scopes: array({ enum: SCOPES }),
  indexes: array({ type: "string", description: "Index name, * for any characters." }),
  expires_at: nullable("string", { format: "date-time" }),
  rate_limit: nullable("integer", { minimum: 1, description: "Requests per second." }),
  created_at: TIME,
};

const keyInput = {
  name: { type: "string", minLength: 1 },
  scopes: array({ enum: SCOPES }, { minItems: 1 }),
  indexes: { type: ["array", "null"], items: TEXT, description: 'Default ["*"].' },
  expires_at: nullable("string"),
  rate_limit: nullable("integer", { minimum: 1 }),
};

const explanation = object(
  {
    text: TEXTS,
    full: FLAG,
    words: array(
      object(
        {
          word: TEXT,
          match: { enum: ["exact", "stem", "joined", "split", "synonym", "prefix", "typo", "none"] },
          typos: COUNT,
          points: NUMBER,
          found: array(object({ field: TEXT, term: TEXT, times: COUNT }, ["field", "term", "times"])),
        },
        ["word", "match", "typos", "points", "found"],
      ),
    ),
    closeness_points: NUMBER,
    bonuses: array(object({ reason: TEXT, points: NUMBER }, ["reason", "points"])),
    boost: NUMBER,
    place: { enum: ["pinned", "normal", "buried"] },
  },
  ["text", "full", "words", "closeness_points", "bonuses", "boost", "place"],
);

const hit = object(
  {
    document: object({ id: TEXT }, ["id"]),
    highlight: {
      type: "object",
      additionalProperties: object({ snippet: TEXT, matched_tokens: TEXTS }, ["snippet", "matched_tokens"]),
    },
    text_match: COUNT,
    relevance_bonus: { type: "integer" },
    match_type: { enum: ["keyword", "semantic", "hybrid", "pinned"] },
    explanation,
  },
  ["document", "highlight", "text_match", "relevance_bonus", "match_type"],
);

const facets: Schema = {
  type: "object",
  additionalProperties: { type: "object", additionalProperties: COUNT },
};

export const SCHEMAS: Readonly<Record<string, Schema>> = {
  Error: object({ error: TEXT, code: { enum: Object.keys(ERRORS) }, details: { type: "object" } }, [
    "error",
    "code",
  ]),
  Field: object(field, ["name", "type", "facet", "optional", "index", "sort", "infix"]),
  FieldInput: object(field, ["name", "type"]),
  FieldChange: object({ ...field, drop: { ...FLAG, description: "true removes the field." } }, ["name"]),
  Index: object(
    {
      id: COUNT,
      name: NAME,
      schema: object({ fields: array(ref("Field")), default_sorting_field: TEXT }, ["fields"]),
      records_count: COUNT,
      status: { enum: ["active", "rebuilding", "error"] },
      created_at: TIME,
    },
    ["id", "name", "schema", "records_count", "status", "created_at"],
  ),
  IndexInput: object(
    {
      name: NAME,
      schema: object({ fields: array(ref("FieldInput")), default_sorting_field: nullable("string") }, [
        "fields",
      ]),
      settings: ref("SettingsInput"),
    },
    ["name", "schema"],
  ),
  IndexChange: object(
    { schema: object({ fields: array(ref("FieldChange")), default_sorting_field: nullable("string") }, []) },
    ["schema"],
  ),
  Settings: object(settings, Object.keys(settings)),
  SettingsInput: object(settings, [], { additionalProperties: false }),
  IndexStats: object(
    {
      name: NAME,
      status: TEXT,
      records_count: COUNT,
      shards: COUNT,
      deleted_rows: COUNT,
      segments: COUNT,
      stale_segments: COUNT,
      segment_bytes: COUNT,
      memory_bytes: COUNT,
      queued_bytes: COUNT,
      terms: COUNT,
      merging: FLAG,
      maintenance_due: FLAG,
    },
    ["name", "status", "records_count", "shards", "segments", "segment_bytes", "memory_bytes"],
  ),
  Deleted: object({ id: { type: ["integer", "string"] }, deleted: { const: true } }, ["id", "deleted"]),
  Document: object({ id: TEXT }, ["id"]),
  DocumentChange: { type: "object" },
  Batch: object(
    {
      documents: array({}, { description: "Documents with a string id; with action delete also plain ids." }),
      action: { enum: ["upsert", "create", "update", "emplace", "delete"], default: "upsert" },
    },
    ["documents"],
  ),
  BatchResult: object(
    {
      received: COUNT,
      succeeded: COUNT,
      failed: COUNT,
      errors: array(
        object({ index: COUNT, id: nullable("string"), code: TEXT, error: TEXT }, [
          "index",
          "id",
          "code",
          "error",
        ]),
      ),
      took_ms: { type: "number", minimum: 0 },
    },
    ["received", "succeeded", "failed", "errors", "took_ms"],
  ),
  Query: object(
    {
      q: TEXT,
      query_by: TEXT,
      query_by_weights: TEXT,
      search_mode: { enum: ["auto", "keyword", "semantic", "hybrid"] },
      filters: { type: "object" },
      filter_by: TEXT,
      facets: TEXTS,
      facet_by: TEXT,
      max_facet_values: { type: "integer", default: 10 },
      sort: TEXT,
      sort_by: TEXT,
      per_page: { type: "integer", default: 10 },
      page: { type: "integer", default: 1 },
      prefix: { ...FLAG, default: true },
      num_typos: { type: "integer" },
      highlight_fields: TEXT,
      fields: TEXTS,
      exclude_fields: TEXTS,
      explain: { ...FLAG, default: false, description: "Tell for every hit why it stands where it does." },
    },
    ["q"],
  ),
  SuggestInput: object(
    {
      q: { ...TEXT, description: "What has been typed so far." },
      suggest_by: { ...TEXT, description: "Text fields, comma-separated." },
      per_page: { type: "integer", default: 5, description: "Clamped to 1..50." },
      group_by_field: { ...TEXT, description: "A field with facet: true; one suggestion per value of it." },
      filter_by: TEXT,
    },
    ["q", "suggest_by"],
  ),
  Suggestions: object(
    {
      suggestions: array({
        oneOf: [
          object({ value: TEXT, field: TEXT, document_id: TEXT }, ["value", "field", "document_id"]),
          object({ value: TEXT, field: TEXT, count: COUNT }, ["value", "field", "count"]),
        ],
      }),
      took_ms: COUNT,
    },
    ["suggestions", "took_ms"],
  ),
  MultiSearch: object(
    {
      searches: array(
        {},
        { maxItems: 50, description: "Each a Query with the name of its index in `index`." },
      ),
    },
    ["searches"],
  ),
  MultiSearchResult: object({ results: array({ oneOf: [ref("QueryResult"), ref("Error")] }) }, ["results"]),
  Hit: hit,
  QueryResult: object(
    {
      hits: array(ref("Hit")),
      found: COUNT,
      page: { type: "integer", minimum: 1 },
      per_page: COUNT,
      total_pages: COUNT,
      facets,
      search_time_ms: COUNT,
      search_mode: { enum: ["keyword", "semantic", "hybrid"] },
      ai_enhanced: FLAG,
      ai_context: { type: ["object", "null"] },
      suggestions: array(object({ value: TEXT, count: COUNT }, ["value"])),
      related_hits: array(ref("Hit")),
      curated_applied: FLAG,
      query_id: TEXT,
      data: object(
        {
          _comment: TEXT,
          hits: array(ref("Hit")),
          found: COUNT,
          out_of: COUNT,
          facets,
          facet_counts: array(
            object(
              {
                field_name: TEXT,
                counts: array(object({ value: TEXT, count: COUNT, highlighted: TEXT }, ["value", "count"])),
              },
              ["field_name", "counts"],
            ),
          ),
        },
        ["_comment", "hits", "found", "out_of", "facets", "facet_counts"],
      ),
    },
    [
      "hits",
      "found",
      "page",
      "per_page",
      "total_pages",
      "facets",
      "search_time_ms",
      "search_mode",
      "ai_enhanced",
      "ai_context",
      "suggestions",
      "related_hits",
      "curated_applied",
      "query_id",
      "data",
    ],
  ),
  ...CURATION_SCHEMAS,
  Key: object(key, Object.keys(key)),
  NewKey: object({ ...key, key: { type: "string", description: "The value, shown this once." } }, [
    ...Object.keys(key),
    "key",
  ]),
  KeyInput: object(keyInput, ["name", "scopes"], { additionalProperties: false }),
  KeyChange: object(keyInput, [], { additionalProperties: false }),
  Tenant: object({ id: COUNT, name: NAME, plan: TEXT, created_at: TIME }, [
    "id",
    "name",
    "plan",
    "created_at",
  ]),
  NewTenant: object({ id: COUNT, name: NAME, plan: TEXT, created_at: TIME, admin_key: ref("NewKey") }, [
    "id",
    "name",
    "plan",
    "created_at",
    "admin_key",
  ]),
  TenantInput: object({ name: NAME, plan: nullable("string") }, ["name"], { additionalProperties: false }),
  TenantChange: object({ name: NAME, plan: nullable("string") }, [], { additionalProperties: false }),
  Snapshot: object(snapshot, Object.keys(snapshot)),
  DeletedSnapshot: object({ id: TEXT, deleted: FLAG }, ["id", "deleted"]),
  Health: object({ status: TEXT, failed: COUNT, unseen: COUNT }, ["status"]),
};
