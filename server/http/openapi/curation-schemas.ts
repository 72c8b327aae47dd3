// The OpenAPI shapes of ranking rules, synonym groups, copying and swapping. Plain data.
import { RULE_TYPES, SYNONYM_TYPES } from "../../catalog/types.js";

type Shape = Readonly<Record<string, unknown>>;

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
  weight: { type: "integer", minimum: 1, maximum: 1_000_000, description: "Required for boost." },
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

const ruleInput = {
  name: { type: ["string", "null"], default: "" },
  type: { enum: RULE_TYPES },
  conditions: {
    type: ["object", "null"],
    properties: { query_contains: { ...ruleConditions.properties.query_contains, type: ["array", "null"] } },
    additionalProperties: false,
  },
  effect: {
    type: ["object", "null"],
    properties: {
      filter_by: { ...effectMembers.filter_by, type: ["string", "null"] },
      weight: { ...effectMembers.weight, type: ["integer", "null"] },
      documents: { ...effectMembers.documents, type: ["array", "null"] },
    },
    additionalProperties: false,
  },
  priority: { type: ["integer", "null"], default: 0 },
  enabled: { type: ["boolean", "null"], default: true },
};

const synonyms = {
  id: { type: "integer", minimum: 1 },
  type: { enum: SYNONYM_TYPES },
  synonyms: { ...TEXTS, minItems: 2 },
  root: { type: ["string", "null"], description: "Of a one_way group: the entry that finds the others." },
  enabled: { type: "boolean" },
  created_at: TIME,
  updated_at: TIME,
};

const synonymsInput = {
  type: { enum: [...SYNONYM_TYPES, null], default: "multi_way" },
  synonyms: { ...TEXTS, minItems: 1 },
  root: { type: ["string", "null"], description: "Only for one_way; default: the first entry." },
  enabled: { type: ["boolean", "null"], default: true },
};

const PARTS = { enum: ["synonyms", "ranking_rules", "settings"] };

function closed(properties: object, required: readonly string[]): Shape {
  return { type: "object", properties, required, additionalProperties: false };
}

function complete(properties: object): Shape {
  return { type: "object", properties, required: Object.keys(properties) };
}

export const CURATION_SCHEMAS: Readonly<Record<string, Shape>> = {
  RankingRule: complete(rule),
  RankingRuleInput: closed(ruleInput, ["type", "effect"]),
  RankingRuleChange: closed(ruleInput, []),
  SynonymGroup: complete(synonyms),
  SynonymGroupInput: closed(synonymsInput, ["synonyms"]),
  SynonymGroupChange: closed(synonymsInput, []),
  CopySettings: closed(
    {
      source_index: { type: "string" },
      copy: { type: ["array", "null"], items: PARTS, minItems: 1, description: "Default: all three." },
    },
    ["source_index"],
  ),
  CopiedSettings: complete({
    source_index: { type: "string" },
    index: { type: "string" },
    copied: complete({
      synonyms: { type: "integer", minimum: 0 },
      ranking_rules: { type: "integer", minimum: 0 },
      settings: { type: "boolean" },
    }),
  }),
  Swap: closed(
    { target_index: { type: "string" }, drop_source_after: { type: ["boolean", "null"], default: false } },
    ["target_index"],
  ),
  Swapped: complete({
    index: { type: "string" },
    target: { type: "string" },
    dropped: { type: "boolean" },
  }),
};
