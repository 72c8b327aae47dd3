// Makes a plan of a checked request: everything about the query that does not depend on what the dictionaries hold. These
// are the words and their variants, the compiled filter, fired rules, sort keys, facets, and the rows wanted. Makes the
// engine's program of a plan and the chosen words.
import type {
  QueriedField,
  SearchProgram,
  SearchWord,
  SortKey,
} from "../../../engine-wasm/host/programs/search-program.js";
import { finished } from "../../../engine-wasm/host/runtime/steps.js";
import type { IndexScale } from "../../fleet/reads/index-handle.js";
import { FIXED_LIMITS } from "../../ground/limits.js";
import type { Popularity } from "../../query-log/popularity/popularity.js";
import { avoidingRules } from "../../question/curate/avoided-words.js";
import { bonusesOf } from "../../question/curate/bonuses.js";
import { firedRulesOf } from "../../question/curate/fired-rules.js";
import { compilingOfFilter } from "../../question/filter/filter-compile.js";
import type { QueryRequest } from "../../question/request/query-request.js";
import { type QueryText, readQueryText } from "../../question/words/query-text.js";
import { type Variant, variantsOf } from "../../question/words/variants.js";
import type { AverageLengths } from "./average-lengths.js";
import { facetRequests } from "./facets.js";
import type { QueriedIndex } from "./queried-index.js";

/** A query with this many results gets no related ones. At least this many rows are asked for, so that fewer results are all known. */
export const FEW_RESULTS = 3;

/** BM25: saturation of term frequency, and how much the lengths of a field and of a document count. */
const K1 = 1.2;
const B = 0.4;
const PROXIMITY_WEIGHT = 0.15;

/** A relaxed query of at most so many words shows documents with all of them first. With more words it is chance who has all. */
const FULL_FIRST_WORDS = 2;

export interface QueryPlan {
  readonly text: QueryText;
  /** Without those that cut a word. */
  readonly variants: readonly Variant[];
  /** Slots of the queried fields. */
  readonly slots: readonly number[];
  /** The slots of those queried fields in which words are also found inside of longer ones. */
  readonly infixSlots: readonly number[];
  /** Numbers of the stemmers of the queried fields. */
  readonly languages: readonly number[];
  /** The program without words, to which `programOf` adds them. */
  readonly program: SearchProgram;
  /** The first so many of its rules are the shop's; one behind them is about documents with avoided words. */
  readonly shopRules: number;
  /** The rules where not every document has all words: one that has them comes before one that has not, avoided words or not. */
  readonly relaxedRules: SearchProgram["rules"];
  /** First row of the page in the global order. */
  readonly offset: number;
  readonly typoPolicy: "auto" | "always" | "missing";
  /** The query is relaxed when fewer documents than this match all its words. */
  readonly dropThreshold: number;
  readonly relaxedMode: "any" | "byScore";
  readonly typosPerWordMax: number;
  readonly scale: IndexScale;
  readonly popularity: Popularity;
}

/** Throws SkeinError SK-SE-400 for a filter that does not fit the schema. */
export function planQuery(request: QueryRequest, index: QueriedIndex, scale: IndexScale): QueryPlan {
  return finished(planningOfQuery(request, index, scale));
}

/** `planQuery` in small steps, for a filter may be long. */
export function* planningOfQuery(
  request: QueryRequest,
  index: QueriedIndex,
  scale: IndexScale,
): Generator<void, QueryPlan> {
  const { view, analyser } = index;
  const { settings } = index.record;
  const text = readQueryText(request.q, analyser, {
    prefix: request.prefix,
    typos: {
      numTypos: request.numTypos,
      minLength1: settings.min_len_1typo,
      minLength2: settings.min_len_2typo,
      onNumbers: settings.typo_on_numbers,
    },
    stopWords: index.stopWords,
    wordsMax: FIXED_LIMITS.queryTokensMax,
  });
  const slots = request.fields.map(({ field }) => field.slot);
  const languages = languagesOf(request);
  const hasSkuField = slots.some((slot) => view.skuSlots.includes(slot));
  const typed = request.typed === request.q ? text.terms : analyser.terms(request.typed);
  const curation = firedRulesOf(index.rules, typed, FIXED_LIMITS.queryPinsMax);
  const avoiding = avoidingRules(request.avoided, slots, languages, analyser, curation.rules.length);
  const rules = avoiding === null ? curation.rules : [...curation.rules, avoiding.bury];
  const byRelevance = request.sort === null || request.sort[0]?.field === null;
  const offset = Math.min((request.page - 1) * request.perPage, scale.documentsMax);
  return {
    text,
    variants: variantsOf(text, languages, index.synonyms, hasSkuField),
    slots,
    infixSlots: request.fields.filter(({ field }) => field.infix).map(({ field }) => field.slot),
    languages,
    program: {
      mode: "all",
      k: rowsWanted(offset, request.perPage, curation.pins.length, scale.documentsMax),
      k1: K1,
      b: B,
      proximityWeight: PROXIMITY_WEIGHT,
      averageLength: 0,
      slots: weightedSlots(request),
      words: [],
      phrases: text.phrases,
      excludes: text.excludes,
      filter: yield* compilingOfFilter(request.filter, view, analyser),
      bonuses: bonusesOf(text, view),
      rules,
      pins: curation.pins,
      neighbours: null,
      sort: sortKeys(request, index, moves(rules, curation.pins)),
      facets: facetRequests(request.facets, request.maxFacetValues),
    },
    shopRules: curation.rules.length,
    relaxedRules: avoiding !== null && byRelevance ? [...curation.rules, avoiding.lift] : rules,
    offset,
    typoPolicy: settings.typo_policy,
    dropThreshold: settings.drop_tokens_threshold,
    relaxedMode: text.words.length > FULL_FIRST_WORDS ? "byScore" : "any",
    typosPerWordMax: FIXED_LIMITS.expansionsPerWordMax,
    scale,
    popularity: index.popularity,
  };
}

/** The program of one attempt. `lengths` have the order of the plan's slots. */
export function programOf(
  plan: QueryPlan,
  mode: SearchProgram["mode"],
  words: readonly SearchWord[],
  lengths: AverageLengths,
): SearchProgram {
  const slots = plan.program.slots.map((slot, i) => ({ ...slot, averageLength: lengths.present[i] ?? 0 }));
  const averageLength = slots.reduce((sum, { weight }, i) => sum + weight * (lengths.all[i] ?? 0), 0);
  const rules = mode !== "all" ? plan.relaxedRules : plan.program.rules;
  return { ...plan.program, mode, words, slots, averageLength, rules };
}

/** The rows up to the end of the page, but at least so many that all results of a query with related ones are known. */
function rowsWanted(offset: number, perPage: number, pins: number, documentsMax: number): number {
  if (perPage === 0) return 0;
  const pageEnd = offset >= documentsMax ? 0 : offset + perPage;
  return Math.min(Math.max(pageEnd, pins + FEW_RESULTS), documentsMax);
}

/** Numbers of the stemmers of the queried fields. */
function languagesOf({ fields }: QueryRequest): number[] {
  return [...new Set(fields.map(({ field }) => field.language))].filter((number) => number > 0);
}

/** Weights are scaled to a mean of 1, so that their number and size do not change how soon a word saturates. */
function weightedSlots({ fields }: QueryRequest): QueriedField[] {
  const mean = fields.reduce((sum, { weight }) => sum + weight, 0) / fields.length;
  return fields.map(({ field: { slot, infix }, weight }) => ({
    slot,
    weight: weight / mean,
    averageLength: 0,
    infix,
  }));
}

/** Whether rules put some documents first or last, whatever the sort. */
function moves(rules: SearchProgram["rules"], pins: SearchProgram["pins"]): boolean {
  return pins.length > 0 || rules.some((rule) => rule.effect === "bury");
}

/** The keys of the request come first. Ties are broken by final score, then the default sorting field descending, then the newest document. */
function sortKeys(request: QueryRequest, { view }: QueriedIndex, moved: boolean): SortKey[] {
  const keys: SortKey[] = (request.sort ?? []).map(({ field, descending }) =>
    field === null
      ? { by: "relevance", descending }
      : { by: "field", descending, slot: field.slot, type: field.code },
  );
  if (moved) keys.unshift({ by: "class", descending: true });
  if (!keys.some((key) => key.by === "relevance")) keys.push({ by: "relevance", descending: true });
  const fallback = view.defaultSort;
  if (fallback !== null && !keys.some((key) => key.by === "field" && key.slot === fallback.slot)) {
    keys.push({ by: "field", descending: true, slot: fallback.slot, type: fallback.code });
  }
  return keys;
}
