// The record of a ranking rule, its storage, and the reader for create and PATCH bodies. The caller checks
// filters and recognises words; server/question/curate applies rules to queries.
import { ID_BYTES_MAX } from "../../../engine-wasm/assembly/layout.js";
import { SkeinError } from "../../ground/errors.js";
import { describe } from "../../ground/input/json-value.js";
import { defaultsTo, object, optional, required } from "../../ground/input/object-reader.js";
import {
  checked,
  flag,
  type InputRules,
  integer,
  list,
  oneOf,
  refuse,
  text,
  texts,
} from "../../ground/input/readers.js";
import { FIXED_LIMITS, type Limits } from "../../ground/limits.js";
import type { StoredKind } from "./kind.js";

export const RULE_TYPES = ["boost", "pin", "hide", "bury"] as const;
export type RuleType = (typeof RULE_TYPES)[number];

interface RuleConditions {
  /** The query must contain all of these as whole words. An empty list matches every query. */
  readonly query_contains: readonly string[];
}

/** What a rule does. The rule's type determines which members it may have; unset members are absent. */
export interface RuleEffect {
  readonly filter_by?: string;
  readonly weight?: number;
  /** Document ids. A pin rule pins them in this order. */
  readonly documents?: readonly string[];
}

export interface RankingRule {
  readonly id: number;
  /** The index's uid. */
  readonly index: number;
  readonly name: string;
  readonly type: RuleType;
  readonly conditions: RuleConditions;
  readonly effect: RuleEffect;
  /** The rule with the higher priority wins. Among equals, the one with the lower id wins. */
  readonly priority: number;
  readonly enabled: boolean;
  /** ISO 8601 UTC. */
  readonly created_at: string;
  readonly updated_at: string;
}

export const RULE_KIND = {
  name: "rule",
  counter: "nextRuleId",
  of: "index",
  vital: false,
  copiedAs: "ranking_rules",
  goesWith: "data",
} as const satisfies StoredKind;

const CODE = "SK-RR-400";
const { ruleWeightMax: WEIGHT_MAX, rulePriorityMax: PRIORITY_MAX } = FIXED_LIMITS;

const CONDITIONS = object(
  {
    query_contains: defaultsTo(
      [],
      texts(FIXED_LIMITS.ruleConditionsMax, FIXED_LIMITS.ruleConditionBytesMax),
      "Words and phrases that the query must all contain; none: the rule always fires.",
    ),
  },
  { unknown: "refused" },
);
const DOCUMENT_ID = checked(
  text(ID_BYTES_MAX),
  (id) => (id === "" ? "must be the id of a document, not an empty string" : null),
  { minLength: 1 },
);
const EFFECT = object(
  {
    filter_by: optional(
      text(FIXED_LIMITS.ruleFilterBytesMax, "a filter expression"),
      "Filter expression, as in a query; not for pin.",
    ),
    weight: optional(integer(1, WEIGHT_MAX), "Required for boost."),
    documents: optional(
      list(DOCUMENT_ID, FIXED_LIMITS.ruleDocumentsMax, "an array of strings"),
      "Document ids; for pin in the order of their places.",
    ),
  },
  { unknown: "refused" },
);
export const RULE = object(
  {
    name: defaultsTo("", text(FIXED_LIMITS.ruleNameBytesMax)),
    type: required(oneOf(RULE_TYPES)),
    conditions: defaultsTo(CONDITIONS.defaults, CONDITIONS),
    effect: defaultsTo(EFFECT.defaults, EFFECT),
    priority: defaultsTo(0, integer(-PRIORITY_MAX, PRIORITY_MAX)),
    enabled: defaultsTo(true, flag()),
  },
  { unknown: "refused" },
);

/** The rule's members that clients may set. */
export type RuleDraft = Pick<RankingRule, "name" | "type" | "conditions" | "effect" | "priority" | "enabled">;

/** Checks texts in a rule against the index that the rule belongs to. */
export interface RuleTexts {
  /** Throws SK-SE-400 with the position of the error if the filter does not fit the schema. */
  checkFilter(filterBy: string): void;
  /** True if the analyser finds a word in the text. */
  hasWord(text: string): boolean;
}

/**
 * Reads a create body, or a PATCH body if `current` is given. A PATCH merges conditions and effect member by
 * member, and null restores a default. An unchanged filter and unchanged conditions are not checked again:
 * the schema may have changed since, and it must still be possible to disable the rule. Throws SK-RR-400.
 */
export function readRule(
  body: unknown,
  current: RuleDraft | null,
  limits: Limits,
  texts: RuleTexts,
): RuleDraft {
  const rules = { limits, code: CODE } as const;
  const given = RULE.read(body, "", rules, current ?? undefined);
  const pinsMax = FIXED_LIMITS.rulePinsMax;
  const listed = given.effect.documents?.length ?? 0;
  if (given.type === "pin" && listed > pinsMax)
    refuse("effect.documents", `has ${listed} entries; at most ${pinsMax} are allowed`, rules);
  const draft: RuleDraft = {
    ...given,
    conditions: checkedConditions(given.conditions, current, rules, texts),
    effect: usedEffect(given.effect),
  };
  checkEffect(draft.effect, draft.type, rules);
  const { filter_by } = draft.effect;
  if (filter_by !== undefined && filter_by !== current?.effect.filter_by) checkRuleFilter(filter_by, texts);
  return draft;
}

/**
 * Checks a rule's filter. Throws SK-RR-400 with the position of the error; `where` is put before the message
 * to name the rule.
 */
export function checkRuleFilter(filterBy: string, texts: RuleTexts, where = ""): void {
  try {
    texts.checkFilter(filterBy);
  } catch (error) {
    if (!(error instanceof SkeinError) || error.code !== "SK-SE-400") throw error;
    const { details, message } = error;
    const fault = message.startsWith("filter_by") ? `effect.${message}` : `effect.filter_by: ${message}`;
    throw new SkeinError(CODE, where + fault, {
      cause: error,
      ...(details === undefined ? {} : { details }),
    });
  }
}

function checkedConditions(
  { query_contains: entries }: RuleConditions,
  current: RuleDraft | null,
  rules: InputRules,
  texts: RuleTexts,
): RuleConditions {
  entries.forEach((entry, i) => {
    if (current?.conditions.query_contains.includes(entry) || texts.hasWord(entry)) return;
    const why = `must contain a word; ${describe(entry)} has none`;
    refuse(`conditions.query_contains[${i}]`, why, rules);
  });
  return { query_contains: [...new Set(entries)] };
}

/** Returns the members that have a value. An empty filter or list selects nothing, so it counts as absent. */
function usedEffect({ filter_by, weight, documents = [] }: RuleEffect): RuleEffect {
  return {
    ...(filter_by === undefined || filter_by.trim() === "" ? {} : { filter_by }),
    ...(weight === undefined ? {} : { weight }),
    ...(documents.length === 0 ? {} : { documents: [...new Set(documents)] }),
  };
}

/**
 * Checks that the effect has the members that the rule's type needs, and none that looks as if it selected
 * documents but would be ignored.
 */
function checkEffect(effect: RuleEffect, type: RuleType, rules: InputRules): void {
  const { documents, filter_by, weight } = effect;
  if (type === "pin") {
    if (documents === undefined) refuse("effect.documents", "must name the documents to pin", rules);
    if (filter_by !== undefined) {
      const why = "must be absent: a pin rule applies to the documents that it names";
      refuse("effect.filter_by", why, rules);
    }
    return;
  }
  if (filter_by === undefined && documents === undefined) {
    const why = `must have filter_by, documents or both, to say what a ${type} rule applies to`;
    refuse("effect", why, rules);
  }
  if (type === "boost" && weight === undefined) {
    const why = `is missing; a boost rule needs an integer from 1 to ${WEIGHT_MAX}`;
    refuse("effect.weight", why, rules);
  }
}
