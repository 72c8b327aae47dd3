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
import { FIXED_LIMITS, type Limits } from "../../ground/limits.js";
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

/** An index's rules, found by the words that fire them. */
export class FiringRules {
  /** In the order in which they are applied. */
  readonly compiled: readonly CompiledRule[];
  /** Numbers of the rules with a condition, by the first term of their first entry. */
  readonly #byFirstTerm = new Map<string, number[]>();
  /** Numbers of the rules without a condition, and their effects alone. */
  readonly #always: readonly number[];
  readonly #effectsOfAlways: FiredRules;
  #hiding: FiringRules | null = null;

  constructor(compiled: readonly CompiledRule[]) {
    this.compiled = compiled;
    const always: number[] = [];
    for (const [number, { entries }] of compiled.entries()) {
      const first = entries[0]?.[0];
      // An entry without terms, such as one of symbols only, never occurs in a query.
      if (entries.some(({ length }) => length === 0)) continue;
      if (first === undefined) always.push(number);
      else if (this.#byFirstTerm.has(first)) this.#byFirstTerm.get(first)!.push(number);
      else this.#byFirstTerm.set(first, [number]);
    }
    this.#always = always;
    this.#effectsOfAlways = effectsOf(always.map((number) => compiled[number]!));
  }

  /**
   * Returns the effects of the rules that fire. `terms` are the terms of the query as typed. They are empty
   * for a query that browses, so that only rules without a condition fire.
   */
  firedBy(terms: readonly string[]): FiredRules {
    let candidates: Set<number> | null = null;
    for (const term of terms) {
      const numbers = this.#byFirstTerm.get(term);
      // If the term is repeated, its rules have been added before.
      if (numbers === undefined || candidates?.has(numbers[0]!)) continue;
      candidates ??= new Set(this.#always);
      for (const number of numbers) candidates.add(number);
    }
    if (candidates === null) return this.#effectsOfAlways;
    const stretches = new Stretches(terms);
    return effectsOf(
      [...candidates]
        .sort((a, b) => a - b)
        .map((number) => this.compiled[number]!)
        .filter(({ entries }) => entries.every((entry) => stretches.has(entry))),
    );
  }

  /**
   * Rules that hide the same documents and do nothing else. A rule that pins or buries documents is kept
   * without its effect, because it still protects them from later rules that hide.
   */
  get hiding(): FiringRules {
    this.#hiding ??= new FiringRules(hidingOnly(this.compiled));
    return this.#hiding;
  }
}

/** Returns the effects of rules that have fired, in their order. */
function effectsOf(fired: readonly CompiledRule[]): FiredRules {
  if (fired.length === 0) return NONE_FIRED;
  const applied = fired.slice(0, RULES_MAX);
  return {
    rules: applied.map(searchRule),
    pins: [...new Set(applied.flatMap(({ pins }) => pins))].slice(0, FIXED_LIMITS.queryPinsMax),
  };
}

function hidingOnly(compiled: readonly CompiledRule[]): readonly CompiledRule[] {
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
