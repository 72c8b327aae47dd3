// Determines which ranking rules fire for a query, and translates their effects for the engine. A rule whose
// filter no longer fits the schema is logged and skipped. It stays in the catalog, so it works again if the
// field comes back.
import { RULES_MAX } from "../../../engine-wasm/assembly/layout.js";
import {
  type FilterProgram,
  FilterWriter,
  NO_FILTER,
} from "../../../engine-wasm/host/programs/filter-program.js";
import type { SearchRule } from "../../../engine-wasm/host/programs/search-program.js";
import type { RankingRule, RuleType } from "../../catalog/records/rule.js";
import type { ResolvedSchema } from "../../catalog/schema/resolved-schema.js";
import type { TextAnalyser } from "../../catalog/schema/text-analyser.js";
import { SkeinError } from "../../ground/errors.js";
import type { Limits } from "../../ground/limits.js";
import type { Logger } from "../../ground/log.js";
import { compileFilter, type FilteredIndex } from "../filter/filter-compile.js";
import { recordTerms } from "../words/record-terms.js";
import { Stretches } from "./stretches.js";

/**
 * The effects of the rules that fired. `rules` are in the order in which they are applied. Later rules do not
 * affect documents that a rule has pinned.
 */
export interface FiredRules {
  readonly rules: readonly SearchRule[];
  /** Id hashes of the pinned documents, best first. */
  readonly pins: readonly bigint[];
}

export interface CompiledRule {
  /**
   * The rule fires if the query contains all of these term sequences; they come from the rule's condition.
   */
  readonly entries: readonly (readonly string[])[];
  readonly effect: SearchRule["effect"];
  readonly weight: number;
  /** The documents that the rule affects: those that pass its filter, and those that it lists by id. */
  readonly filter: FilterProgram;
  /** Id hashes of the documents that the rule pins. */
  readonly pins: readonly bigint[];
}

const NONE_FIRED: FiredRules = { rules: [], pins: [] };

/**
 * Selects the rules that fire. `terms` are the terms of the query as typed. They are empty for a query that
 * browses, so that only rules without a condition fire.
 */
export function firedRulesOf(
  compiled: readonly CompiledRule[],
  terms: readonly string[],
  pinsMax: number,
): FiredRules {
  if (compiled.length === 0) return NONE_FIRED;
  const stretches = new Stretches(terms);
  // An entry without terms, such as one of symbols only, never occurs in a query.
  const fired = compiled
    .filter(({ entries }) => entries.every((entry) => entry.length > 0 && stretches.has(entry)))
    .slice(0, RULES_MAX);
  if (fired.length === 0) return NONE_FIRED;
  return {
    rules: fired.map(searchRule),
    pins: [...new Set(fired.flatMap(({ pins }) => pins))].slice(0, pinsMax),
  };
}

/**
 * Returns rules that hide the same documents as the given rules and do nothing else. A rule that pins or
 * buries documents is kept without its effect, because it still protects them from later rules that hide.
 */
export function hidingOnly(compiled: readonly CompiledRule[]): readonly CompiledRule[] {
  if (!compiled.some(({ effect }) => effect === "hide")) return [];
  return compiled
    .filter(({ effect }) => effect !== "boost")
    .map((one) => (one.effect === "hide" ? one : { ...one, effect: "keep", pins: [] }));
}

function searchRule({ effect, weight, filter }: CompiledRule): SearchRule {
  return { effect, weight, filter };
}

/** Rule types by precedence: if several rules with equal priority affect a document, the first type wins. */
const TYPES: readonly RuleType[] = ["hide", "pin", "bury", "boost"];

export class RuleCompiler {
  readonly #limits: Limits;
  readonly #log: Logger;
  /**
   * Cached per rule, so that editing one rule does not recompile the rest. Entries are valid for the index's
   * latest schema.
   */
  readonly #known = new WeakMap<RankingRule, { schema: ResolvedSchema; compiled: CompiledRule | null }>();

  constructor(limits: Limits, log: Logger) {
    this.#limits = limits;
    this.#log = log;
  }

  /**
   * Returns the enabled rules in the order in which they are applied: highest priority first, then by type,
   * then lowest id first.
   */
  compile(rules: readonly RankingRule[], schema: ResolvedSchema, analyser: TextAnalyser): CompiledRule[] {
    return rules
      .filter((rule) => rule.enabled)
      .sort((a, b) => b.priority - a.priority || TYPES.indexOf(a.type) - TYPES.indexOf(b.type) || a.id - b.id)
      .flatMap((rule) => {
        let known = this.#known.get(rule);
        if (known?.schema !== schema) {
          known = { schema, compiled: compileRule(rule, schema, analyser, this.#limits, this.#log) };
          this.#known.set(rule, known);
        }
        return known.compiled ?? [];
      });
  }
}

/** Returns null if the rule must be skipped because its filter does not fit the schema. */
function compileRule(
  rule: RankingRule,
  schema: ResolvedSchema,
  analyser: TextAnalyser,
  limits: Limits,
  log: Logger,
): CompiledRule | null {
  const filter = ruleFilter(rule.effect, { schema, analyser }, limits);
  if (filter instanceof SkeinError) {
    log.warn(
      { rule: rule.id, problem: filter.message },
      "ranking rule skipped: its filter does not fit the schema",
    );
    return null;
  }
  const entries = recordTerms(rule, rule.conditions.query_contains, analyser);
  const hashes = (rule.effect.documents ?? []).map((id) => analyser.hash(id));
  const pinning = rule.type === "pin";
  return {
    entries,
    effect: pinning ? "keep" : rule.type,
    weight: rule.effect.weight ?? 0,
    filter: withIds(filter, hashes),
    pins: pinning ? hashes : [],
  };
}

/** Returns a filter for the documents that pass the filter, if it has operations, or have one of the ids. */
function withIds(filter: FilterProgram, hashes: readonly bigint[]): FilterProgram {
  if (hashes.length === 0) return filter;
  const out = new FilterWriter();
  out.append(filter);
  out.ids();
  for (const hash of hashes) out.id(hash);
  if (out.operations > 1) out.or();
  return out.finish();
}

/** Returns the rule's compiled filter, or the error if the filter does not fit the schema. */
export function ruleFilter(
  { filter_by: text }: RankingRule["effect"],
  index: FilteredIndex,
  limits: Limits,
): FilterProgram | SkeinError {
  if (text === undefined || text.trim() === "") return NO_FILTER;
  try {
    return compileFilter(text, index, limits);
  } catch (error) {
    if (error instanceof SkeinError) return error;
    throw error;
  }
}
