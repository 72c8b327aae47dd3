// OpenAPI schemas for the coach.
import { ADVICE_TYPES, CONFIDENCES, RECOMMENDATION_STATUSES } from "../../catalog/records/recommendation.js";
import { ANALYSIS } from "../../coach/coach.js";
import type { JsonSchema } from "../../ground/input/readers.js";

const ID = { type: "integer", minimum: 1 };
const COUNT = { type: "integer", minimum: 0 };
const TIME = { type: "string", format: "date-time" };
const TEXT = { type: "string" };

function complete(properties: object): JsonSchema {
  return { type: "object", properties, required: Object.keys(properties) };
}

const recommendation = complete({
  id: ID,
  index: { ...TEXT, description: "Name of the index." },
  type: { enum: ADVICE_TYPES },
  title: TEXT,
  description: TEXT,
  confidence: { enum: CONFIDENCES },
  search_count: { ...COUNT, description: "Searches behind it." },
  evidence: { type: "object", description: "Numbers and examples that speak for it." },
  payload: {
    type: "object",
    description:
      "missing_synonym: user_term, your_term, kind. catalog_gap: query, search_count, nearest_terms. " +
      "ranking_opportunity: query, rule, evidence. top_performer: query, ctr, document_ids.",
  },
  status: { enum: RECOMMENDATION_STATUSES },
  created_at: TIME,
  updated_at: TIME,
});

const created = complete({ kind: { enum: ["synonym", "ranking_rule"] }, id: ID });

export const COACH_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Recommendation: recommendation,
  DecidedRecommendation: complete({
    recommendation,
    created: { anyOf: [created, { type: "null" }], description: "What applying it has made." },
  }),
  AnalysisInput: ANALYSIS.schema,
  Analysis: complete({
    period_start: TIME,
    period_end: TIME,
    events_analyzed: { ...COUNT, description: "Searches and events." },
    recommendations_saved: { ...COUNT, description: "New ones and renewed ones." },
    recommendations: { type: "array", items: recommendation },
  }),
};
