// OpenAPI schemas for ranking rules, synonym groups, copying and swapping. Request schemas are generated from
// the tables that the server uses to read requests.
import { COPY, SWAP } from "../../catalog/copy-swap.js";
import { RULE, RULE_TYPES } from "../../catalog/records/rule.js";
import { SYNONYM_TYPES, SYNONYMS } from "../../catalog/records/synonym.js";
import type { JsonSchema } from "../../ground/input/readers.js";
import { FIXED_LIMITS } from "../../ground/limits.js";

const TIME = { type: "string", format: "date-time" };
const TEXTS = { type: "array", items: { type: "string" } };

const ruleConditions = {
  type: "object",
  properties: {
    query_contains: {
      ...TEXTS,
      description: "Words and phrases that the query must all contain; none: the rule always fires.",
    },
  },
};

const effectMembers = {
  filter_by: { type: "string", description: "Filter expression, as in a query; not for pin." },
  weight: {
    type: "integer",
    minimum: 1,
    maximum: FIXED_LIMITS.ruleWeightMax,
    description: "Required for boost.",
  },
  documents: {
    type: "array",
    items: { type: "string", minLength: 1 },
    description: "Document ids; for pin in the order of their places.",
  },
};

const rule = {
  id: { type: "integer", minimum: 1 },
  name: { type: "string" },
  type: { enum: RULE_TYPES },
  conditions: { ...ruleConditions, required: ["query_contains"] },
  effect: { type: "object", properties: effectMembers, additionalProperties: false },
  priority: { type: "integer" },
  enabled: { type: "boolean" },
  created_at: TIME,
  updated_at: TIME,
  problem: {
    type: ["string", "null"],
    description: "Why the rule is skipped: its filter no longer fits the schema. null: it works.",
  },
};

const synonyms = {
  id: { type: "integer", minimum: 1 },
  type: { enum: SYNONYM_TYPES },
  synonyms: { ...TEXTS, minItems: FIXED_LIMITS.synonymsPerGroupMin },
  root: { type: ["string", "null"], description: "Of a one_way group: the entry that finds the others." },
  enabled: { type: "boolean" },
  created_at: TIME,
  updated_at: TIME,
};

function complete(properties: object): JsonSchema {
  return { type: "object", properties, required: Object.keys(properties) };
}

export const CURATION_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  RankingRule: complete(rule),
  RankingRuleInput: RULE.schema,
  RankingRuleChange: RULE.changeSchema,
  SynonymGroup: complete(synonyms),
  SynonymGroupInput: SYNONYMS.schema,
  SynonymGroupChange: SYNONYMS.changeSchema,
  CopySettings: COPY.schema,
  CopiedSettings: complete({
    source_index: { type: "string" },
    index: { type: "string" },
    copied: complete({
      synonyms: { type: "integer", minimum: 0 },
      ranking_rules: { type: "integer", minimum: 0 },
      settings: { type: "boolean" },
    }),
  }),
  Swap: SWAP.schema,
  Swapped: complete({
    index: { type: "string" },
    target: { type: "string" },
    dropped: { type: "boolean" },
  }),
};
