// OpenAPI schemas for resources, requests and replies. Request schemas are generated from the tables that the
// server uses to read requests; all other schemas are written by hand. The end-to-end tests validate every
// request and reply against them.

import { FIELD } from "../../catalog/definition/schema.js";
import { SETTINGS } from "../../catalog/definition/settings.js";
import { INDEX_CHANGE, NEW_INDEX } from "../../catalog/indexes.js";
import { ERRORS } from "../../ground/errors.js";
import type { JsonSchema } from "../../ground/input/readers.js";
import { QUERY } from "../../question/request/query-request.js";
import { MULTI_SEARCH, SLOT_SCHEMA } from "../../search/multi-search.js";
import { SIMILAR } from "../../search/similar/similar-request.js";
import { SUGGEST } from "../../search/suggest/suggest-request.js";
import { ACCESS_SCHEMAS } from "./access-schemas.js";
import { ANALYTICS_SCHEMAS } from "./analytics-schemas.js";
import { AUDIT_SCHEMAS } from "./audit-schemas.js";
import { COACH_SCHEMAS } from "./coach-schemas.js";
import { ref, withParts } from "./components.js";
import { CURATION_SCHEMAS } from "./curation-schemas.js";
import { SOURCE_SCHEMAS } from "./source-schemas.js";

/** `required` lists the required members; all others are optional. */
function object(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
  rest: JsonSchema = {},
): JsonSchema {
  return { type: "object", properties, required, ...rest };
}

function array(items: JsonSchema, rest: JsonSchema = {}): JsonSchema {
  return { type: "array", items, ...rest };
}

function nullable(type: string, rest: JsonSchema = {}): JsonSchema {
  return { type: [type, "null"], ...rest };
}

const TEXT: JsonSchema = { type: "string" };
const COUNT: JsonSchema = { type: "integer", minimum: 0 };
const FLAG: JsonSchema = { type: "boolean" };
const NUMBER: JsonSchema = { type: "number" };
const TIME: JsonSchema = { type: "string", format: "date-time" };
const NAME: JsonSchema = { type: "string", pattern: "^[a-z0-9_-]+$", maxLength: 128 };
const TEXTS = array(TEXT);
/** For objects that may have members other than those listed. */
const OPEN: JsonSchema = { additionalProperties: true };

const aiContext = object(
  {
    original_query: TEXT,
    rewritten_query: TEXT,
    intent: { enum: ["sort", "browse", "filter", "avoid", "search"] },
    user_message: { ...TEXT, description: "For display, in the language of the query." },
    alternative_queries: array(TEXT, { maxItems: 3 }),
    confidence: { enum: ["high", "medium", "low"] },
    applied_filters: object({ filter_by: nullable("string"), sort_by: nullable("string"), avoided: TEXTS }, [
      "filter_by",
      "sort_by",
      "avoided",
    ]),
  },
  [
    "original_query",
    "rewritten_query",
    "intent",
    "user_message",
    "alternative_queries",
    "confidence",
    "applied_filters",
  ],
);

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

const explanation = object(
  {
    text: TEXTS,
    full: FLAG,
    words: array(
      object(
        {
          word: TEXT,
          match: { enum: ["exact", "stem", "joined", "split", "synonym", "prefix", "infix", "typo", "none"] },
          typos: COUNT,
          points: NUMBER,
          found: array(object({ field: TEXT, term: TEXT, times: COUNT }, ["field", "term", "times"])),
        },
        ["word", "match", "typos", "points", "found"],
      ),
    ),
    closeness_points: NUMBER,
    similarity: nullable("number", {
      description:
        "Cosine of the document's vector and the query's; null where vectors had no part or the document has none.",
    }),
    similarity_points: NUMBER,
    bonuses: array(object({ reason: TEXT, points: NUMBER }, ["reason", "points"])),
    boost: NUMBER,
    place: { enum: ["pinned", "normal", "buried"] },
  },
  [
    "text",
    "full",
    "words",
    "closeness_points",
    "similarity",
    "similarity_points",
    "bonuses",
    "boost",
    "place",
  ],
);

const hit = object(
  {
    document: ref("Document"),
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

const EMBEDDER_STATS = object(
  {
    source: { enum: ["documents", "endpoint", "pushed", "none"] },
    state: { enum: ["none", "waiting", "training", "embedding", "ready", "failed"] },
    documents: { ...COUNT, description: "Documents with a vector." },
    pending: { ...COUNT, description: "Documents whose vectors are still to be made." },
    coverage: {
      type: "number",
      minimum: 0,
      maximum: 1,
      description: "Share of the documents with a vector.",
    },
    memory_bytes: { ...COUNT, description: "What finding by vectors takes of memory, without the model." },
    model: {
      anyOf: [
        object({ number: COUNT, bytes: COUNT, trained_at: TIME, training_ms: COUNT, documents: COUNT }, [
          "number",
          "bytes",
          "trained_at",
          "training_ms",
          "documents",
        ]),
        { type: "null" },
      ],
      description: "The model that was learned from the documents. documents: how many the index had then.",
    },
  },
  ["source", "state", "documents", "pending", "coverage", "memory_bytes", "model"],
);

const facets: JsonSchema = {
  type: "object",
  additionalProperties: { type: "object", additionalProperties: COUNT },
};

/** Names for nested objects; see withParts. */
const PARTS = {
  "Index.schema": "IndexSchema",
  "IndexInput.schema": "IndexSchemaInput",
  "IndexInput.schema.fields": "FieldInput",
  "IndexChange.schema": "IndexSchemaChange",
  "IndexChange.schema.fields": "FieldChange",
  "Settings.highlight": "HighlightSettings",
  "Settings.embedder": "EmbedderSettings",
  "Settings.semantic": "SemanticSettings",
  "Settings.ai": "AiSettings",
  "SettingsInput.highlight": "HighlightSettingsInput",
  "SettingsInput.embedder": "EmbedderSettingsInput",
  "SettingsInput.semantic": "SemanticSettingsInput",
  "SettingsInput.ai": "AiSettingsInput",
  "IndexStats.embedder": "EmbedderStats",
  "IndexStats.embedder.model": "EmbedderModel",
  "BatchResult.errors": "DocumentFailure",
  "SimilarDocuments.hits": "SimilarHit",
  "Hit.highlight": "Highlight",
  "Hit.explanation": "Explanation",
  "Hit.explanation.words": "ExplainedWord",
  "Hit.explanation.words.found": "FoundTerm",
  "Hit.explanation.bonuses": "Bonus",
  "QueryResult.ai_context": "AiContext",
  "QueryResult.ai_context.applied_filters": "AppliedFilters",
  "QueryResult.suggestions": "SpellingSuggestion",
  "QueryResult.data": "LegacyResult",
  "QueryResult.data.facet_counts": "FacetCounts",
  "QueryResult.data.facet_counts.counts": "FacetCount",
  "RankingRule.conditions": "RuleConditions",
  "RankingRule.effect": "RuleEffect",
  "RankingRuleInput.conditions": "RuleConditionsInput",
  "RankingRuleInput.effect": "RuleEffectInput",
  "RankingRuleChange.conditions": "RuleConditionsChange",
  "RankingRuleChange.effect": "RuleEffectChange",
  "CopiedSettings.copied": "CopiedParts",
  "DataSource.basic_auth": "BasicAuth",
  "DataSourceInput.basic_auth": "BasicAuthInput",
  "DataSourceChange.basic_auth": "BasicAuthChange",
  "SyncRun.errors": "ItemFailure",
  "FeedPreview.items": "PreviewedItem",
  "EventsResult.rejected": "RejectedEvent",
  "AnalyticsSummary.series": "AnalyticsPeriod",
  "DecidedRecommendation.created": "AppliedRecord",
  "Usage.tenants": "TenantUsage",
  "Usage.tenants.searches": "UsedAmount",
  "Usage.tenants.disk_bytes": "UsedBytes",
  "AuditPage.entries": "AuditEntry",
};

const SHAPES: Readonly<Record<string, JsonSchema>> = {
  Error: object({ error: TEXT, code: { enum: Object.keys(ERRORS) }, details: { type: "object" } }, [
    "error",
    "code",
  ]),
  Field: {
    ...FIELD.completeSchema,
    required: ["name", "type", "facet", "optional", "index", "sort", "infix"],
  },
  Index: object(
    {
      id: COUNT,
      name: NAME,
      schema: object({ fields: array(ref("Field")), default_sorting_field: TEXT }, ["fields"], OPEN),
      records_count: COUNT,
      status: { enum: ["active", "rebuilding", "error"] },
      created_at: TIME,
    },
    ["id", "name", "schema", "records_count", "status", "created_at"],
  ),
  IndexInput: NEW_INDEX.schema,
  IndexChange: INDEX_CHANGE.schema,
  Settings: SETTINGS.completeSchema,
  SettingsInput: SETTINGS.schema,
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
      embedder: EMBEDDER_STATS,
    },
    ["name", "status", "records_count", "shards", "segments", "segment_bytes", "memory_bytes", "embedder"],
  ),
  DeletedIndex: object({ id: COUNT, name: NAME, deleted: { const: true } }, ["id", "name", "deleted"]),
  Deleted: object({ id: { type: ["integer", "string"] }, deleted: { const: true } }, ["id", "deleted"]),
  Document: object({ id: TEXT }, ["id"], OPEN),
  DocumentChange: { type: "object" },
  Batch: object(
    {
      documents: array({}, { description: "Documents with a string id; with action delete also plain ids." }),
      action: {
        enum: ["upsert", "create", "update", "emplace", "delete"],
        description: 'Default: "upsert".',
      },
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
  Query: QUERY.schema,
  SimilarInput: SIMILAR.schema,
  SimilarDocuments: object(
    {
      hits: array(
        object(
          {
            document: ref("Document"),
            similarity: { type: ["number", "null"], description: "Cosine; null without vectors." },
          },
          ["document", "similarity"],
        ),
      ),
      took_ms: COUNT,
    },
    ["hits", "took_ms"],
  ),
  SuggestInput: SUGGEST.schema,
  DocumentSuggestion: object({ value: TEXT, field: TEXT, document_id: TEXT }, [
    "value",
    "field",
    "document_id",
  ]),
  ValueSuggestion: object({ value: TEXT, field: TEXT, count: COUNT }, ["value", "field", "count"]),
  Suggestions: object(
    {
      suggestions: array({ oneOf: [ref("DocumentSuggestion"), ref("ValueSuggestion")] }),
      took_ms: COUNT,
    },
    ["suggestions", "took_ms"],
  ),
  MultiSearch: MULTI_SEARCH.schema,
  SearchSlot: SLOT_SCHEMA,
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
      ai_context: { oneOf: [{ type: "null" }, aiContext] },
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
  ...SOURCE_SCHEMAS,
  ...ANALYTICS_SCHEMAS,
  ...COACH_SCHEMAS,
  ...ACCESS_SCHEMAS,
  ...AUDIT_SCHEMAS,
  Snapshot: object(snapshot, Object.keys(snapshot)),
  Health: object({ status: TEXT, failed: COUNT, unseen: COUNT }, ["status"]),
};

export const SCHEMAS = withParts(SHAPES, PARTS);
