// Ranking rules: reads a create or a PATCH body and checks the whole result, makes what clients see. What a
// filter or a word is, the caller knows; what a rule does to a query, the coordinator knows.
import { ID_BYTES_MAX } from "../../engine-wasm/assembly/layout.js";
import { SkeinError } from "../errors.js";
import { describe, Members } from "../input.js";
import type { Limits } from "../limits.js";
import {
  type RankingRule,
  RULE_TYPES,
  type RuleConditions,
  type RuleEffect,
  type RuleType,
} from "./types.js";

const CODE = "SK-RR-400";
const MEMBERS = ["name", "type", "conditions", "effect", "priority", "enabled"];
const CONDITION_MEMBERS = ["query_contains"];
const EFFECT_MEMBERS = ["filter_by", "weight", "documents"];
const WEIGHT_MAX = 1_000_000;
const PRIORITY_MAX = 1_000_000;

/** The members of a rule that a client decides. */
export type RuleDraft = Pick<RankingRule, "name" | "type" | "conditions" | "effect" | "priority" | "enabled">;

/** How the queries of the rule's index understand its texts. */
export interface RuleTexts {
  /** Throws SK-SE-400 with the position when the filter does not fit the schema. */
  checkFilter(filterBy: string): void;
  /** Whether the analyser finds a word in the text. */
  hasWord(text: string): boolean;
}

/**
 * A create body, or with `current` a PATCH body, whose conditions and effect are merged member by member; null
 * restores a default. A filter and conditions that were there before are not checked anew: the schema may have
 * changed since, and such a rule must still be switched off. Throws SK-RR-400.
 */
export function readRule(
  body: unknown,
  current: RuleDraft | null,
  limits: Limits,
  texts: RuleTexts,
): RuleDraft {
  const given = new Members(body, "", CODE);
  given.allowOnly(MEMBERS);
  const whole = new Members(
    {
      ...current,
      ...given.others([]),
      conditions: mergedMember(current?.conditions, given, "conditions", CONDITION_MEMBERS),
      effect: mergedMember(current?.effect, given, "effect", EFFECT_MEMBERS),
    },
    "",
    CODE,
  );
  const type =
    whole.optionalOneOf("type", RULE_TYPES) ??
    whole.refuse("type", `is missing; expected one of ${RULE_TYPES.join(", ")}`);
  const draft: RuleDraft = {
    name: whole.optionalString("name", limits.ruleNameBytesMax) ?? "",
    type,
    conditions: readConditions(whole.object("conditions"), current, limits, texts),
    effect: readEffect(whole.object("effect"), type, limits),
    priority: whole.optionalInteger("priority", -PRIORITY_MAX, PRIORITY_MAX) ?? 0,
    enabled: whole.optionalBoolean("enabled") ?? true,
  };
  checkEffect(draft.effect, type, whole);
  const { filter_by } = draft.effect;
  if (filter_by !== undefined && filter_by !== current?.effect.filter_by) checkRuleFilter(filter_by, texts);
  return draft;
}

/** Throws SK-RR-400 with the position; `where` names the rule in the sentence. */
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

/** The old members under the new ones; null forgets the old ones. */
function mergedMember(
  before: object | undefined,
  given: Members,
  name: string,
  known: readonly string[],
): Record<string, unknown> {
  if (!given.has(name)) return { ...before };
  if (given.value(name) === null) return {};
  const members = given.object(name);
  members.allowOnly(known);
  return { ...before, ...members.others([]) };
}

function readConditions(
  members: Members,
  current: RuleDraft | null,
  limits: Limits,
  texts: RuleTexts,
): RuleConditions {
  const { ruleConditionsMax, ruleConditionBytesMax } = limits;
  const entries = members.optionalStrings("query_contains", ruleConditionsMax, ruleConditionBytesMax) ?? [];
  entries.forEach((entry, i) => {
    if (current?.conditions.query_contains.includes(entry) || texts.hasWord(entry)) return;
    members.refuse(`query_contains[${i}]`, `must have a word in it; ${describe(entry)} has none`);
  });
  return { query_contains: [...new Set(entries)] };
}

/** The members that are there; an empty filter or list selects nothing and counts as absent. */
function readEffect(members: Members, type: RuleType, limits: Limits): RuleEffect {
  const weight = members.optionalInteger("weight", 1, WEIGHT_MAX);
  const filterBy = members.optionalString("filter_by", limits.ruleFilterBytesMax, "a filter expression");
  const documentsMax = type === "pin" ? limits.rulePinsMax : limits.ruleDocumentsMax;
  const documents = members.optionalStrings("documents", documentsMax, ID_BYTES_MAX) ?? [];
  documents.forEach((id, i) => {
    if (id === "") members.refuse(`documents[${i}]`, "must be the id of a document, not an empty string");
  });
  return {
    ...(filterBy === undefined || filterBy.trim() === "" ? {} : { filter_by: filterBy }),
    ...(weight === undefined ? {} : { weight }),
    ...(documents.length === 0 ? {} : { documents: [...new Set(documents)] }),
  };
}

/** A type has what it needs, and nothing that would look as if it selected documents but does not. */
function checkEffect(effect: RuleEffect, type: RuleType, rule: Members): void {
  if (type === "pin") {
    if (effect.documents === undefined) rule.refuse("effect.documents", "must name what a pin rule pins");
    if (effect.filter_by !== undefined) {
      rule.refuse("effect.filter_by", "must be absent: a pin rule pins the documents that it names");
    }
    return;
  }
  if (effect.filter_by === undefined && effect.documents === undefined) {
    rule.refuse("effect", `must have filter_by, documents or both: what a ${type} rule applies to`);
  }
  if (type === "boost" && effect.weight === undefined) {
    rule.refuse("effect.weight", `is missing; a boost rule needs an integer from 1 to ${WEIGHT_MAX}`);
  }
}
