// Plans a validated request: determines everything about the query that does not depend on the dictionaries,
// which is its words and variants, the rules that fire, sort keys, facets, and the number of rows. Also
// builds the engine's program from a plan and the words to search for.
import type {
  QueriedField,
  SearchProgram,
  SearchWord,
  SortKey,
} from "../../../engine-wasm/host/programs/search-program.js";
import type { IndexScale } from "../../fleet/reads/index-handle.js";
import { FIXED_LIMITS } from "../../ground/limits.js";
import type { Popularity } from "../../query-log/popularity/popularity.js";
import { avoidingRules } from "../../question/curate/avoided-words.js";
import { bonusesOf } from "../../question/curate/bonuses.js";
import type { QueryRequest, QueryShape } from "../../question/request/query-request.js";
import { type QueryText, readQueryText } from "../../question/words/query-text.js";
import { type Variant, variantsOf } from "../../question/words/variants.js";
import type { AverageLengths } from "./average-lengths.js";
import { facetRequests } from "./facets.js";
import type { QueriedIndex } from "./queried-index.js";

/**
 * A query with at least this many results gets no related hits. At least this many rows are always requested:
 * if the query has fewer results, all of them are then known and can be excluded from the related hits.
 */
export const FEW_RESULTS = 3;

/**
 * Scoring parameters. K1 and B are those of BM25: how quickly term frequency saturates, and how much the
 * lengths of fields and documents count. PROXIMITY_WEIGHT is the weight of closeness between words.
 */
const K1 = 1.2;
const B = 0.4;
const PROXIMITY_WEIGHT = 0.15;

/**
 * A relaxed query with at most this many words ranks documents with all words first. With more words, a
 * document that happens to contain all of them is not always the best.
 */
const FULL_FIRST_WORDS = 2;

export interface QueryPlan {
  readonly text: QueryText;
  /** All variants except splits of words. */
  readonly variants: readonly Variant[];
  /** Slots of the queried fields. */
  readonly slots: readonly number[];
  /** Slots of those queried fields that also match words inside longer words. */
  readonly infixSlots: readonly number[];
  /** Stemmer numbers for the languages of the queried fields. */
  readonly languages: readonly number[];
  /** The program without its words. `programOf` adds them. */
  readonly program: SearchProgram;
  /**
   * The program's rules begin with this many rules of the shop. One more may follow, which buries documents
   * with avoided words.
   */
  readonly shopRules: number;
  /**
   * Rules for programs that also find documents without some of the words. With these rules, documents that
   * contain all words rank first, even those with an avoided word.
   */
  readonly relaxedRules: SearchProgram["rules"];
  /** Number of rows before the page. */
  readonly offset: number;
  readonly typoPolicy: "auto" | "always" | "missing";
  /** The query is relaxed if fewer documents than this match all its words. */
  readonly dropThreshold: number;
  readonly relaxedMode: "any" | "byScore";
  readonly typosPerWordMax: number;
  readonly scale: IndexScale;
  readonly popularity: Popularity;
}

/** Plans the request. Throws SkeinError SK-SE-400 if too many ranking rules fire. */
export function planQuery(request: QueryRequest, index: QueriedIndex, scale: IndexScale): QueryPlan {
  const { schema, analyser } = index;
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
  const slots = request.shape.fields.map(({ field }) => field.slot);
  const languages = languagesOf(request.shape);
  const hasSkuField = slots.some((slot) => schema.skuSlots.includes(slot));
  const typed = request.typed === request.q ? text.terms : analyser.terms(request.typed);
  const curation = index.rules.firedBy(typed);
  const avoiding = avoidingRules(request.avoided, slots, languages, analyser, curation.rules.length);
  const rules = avoiding === null ? curation.rules : [...curation.rules, avoiding.bury];
  const byRelevance = request.shape.sort === null || request.shape.sort[0]?.field === null;
  const offset = Math.min((request.page - 1) * request.perPage, scale.documentsMax);
  return {
    text,
    variants: variantsOf(text, languages, index.synonyms, hasSkuField),
    slots,
    infixSlots: request.shape.fields.filter(({ field }) => field.infix).map(({ field }) => field.slot),
    languages,
    program: {
      mode: "all",
      k: rowsWanted(offset, request.perPage, curation.pins.length, scale.documentsMax),
      k1: K1,
      b: B,
      proximityWeight: PROXIMITY_WEIGHT,
      averageLength: 0,
      slots: weightedSlots(request.shape),
      words: [],
      phrases: text.phrases,
      excludes: text.excludes,
      filter: request.filter,
      bonuses: bonusesOf(text, schema),
      rules,
      pins: curation.pins,
      neighbours: null,
      sort: sortKeys(request.shape, index, moves(rules, curation.pins)),
      facets: facetRequests(request.shape.facets, request.shape.maxFacetValues),
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

/** Returns the program for one attempt. `lengths` is in the order of the plan's slots. */
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

/**
 * Returns the number of rows to request: up to the end of the page, but at least as many as are needed to
 * know all results of a query that gets related hits. Returns 0 for a page without rows.
 */
function rowsWanted(offset: number, perPage: number, pins: number, documentsMax: number): number {
  if (perPage === 0) return 0;
  const pageEnd = offset >= documentsMax ? 0 : offset + perPage;
  return Math.min(Math.max(pageEnd, pins + FEW_RESULTS), documentsMax);
}

/** Returns the stemmer numbers for the languages of the queried fields. */
function languagesOf({ fields }: QueryShape): number[] {
  return [...new Set(fields.map(({ field }) => field.language))].filter((number) => number > 0);
}

/**
 * Scales the weights to a mean of 1. Otherwise a word's score would saturate faster in a query with more or
 * heavier fields.
 */
function weightedSlots({ fields }: QueryShape): QueriedField[] {
  const mean = fields.reduce((sum, { weight }) => sum + weight, 0) / fields.length;
  return fields.map(({ field: { slot, infix }, weight }) => ({
    slot,
    weight: weight / mean,
    averageLength: 0,
    infix,
  }));
}

/** True if rules put documents first or last regardless of the sort. */
function moves(rules: SearchProgram["rules"], pins: SearchProgram["pins"]): boolean {
  return pins.length > 0 || rules.some((rule) => rule.effect === "bury");
}

/**
 * Returns the request's sort keys, preceded by the document's class if rules put documents first or last.
 * Ties are broken by final score, then by the default sorting field in descending order, then by age, newest
 * first.
 */
function sortKeys({ sort }: QueryShape, { schema }: QueriedIndex, moved: boolean): SortKey[] {
  const keys: SortKey[] = (sort ?? []).map(({ field, descending }) =>
    field === null
      ? { by: "relevance", descending }
      : { by: "field", descending, slot: field.slot, type: field.code },
  );
  if (moved) keys.unshift({ by: "class", descending: true });
  if (!keys.some((key) => key.by === "relevance")) keys.push({ by: "relevance", descending: true });
  const fallback = schema.defaultSort;
  if (fallback !== null && !keys.some((key) => key.by === "field" && key.slot === fallback.slot)) {
    keys.push({ by: "field", descending: true, slot: fallback.slot, type: fallback.code });
  }
  return keys;
}
