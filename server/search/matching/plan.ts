// Plans a validated request: determines everything about the query that does not depend on the dictionaries,
// which is its words and variants, the rules that fire, sort keys, facets, and the number of rows. Also
// builds the engine's program from a plan and the words to search for.
import type { SearchProgram, SearchWord } from "../../../engine-wasm/host/programs/search-program.js";
import type { IndexScale } from "../../fleet/reads/index-handle.js";
import { FIXED_LIMITS } from "../../ground/limits.js";
import type { Popularity } from "../../query-log/popularity/popularity.js";
import { avoidingRules } from "../../question/curate/avoided-words.js";
import { bonusesOf } from "../../question/curate/bonuses.js";
import type { QueryRequest } from "../../question/request/query-request.js";
import type { AverageLengths } from "../../question/words/average-lengths.js";
import { type QueryText, readQueryText } from "../../question/words/query-text.js";
import { type Join, joinsOf, synonymVariants, type Variant } from "../../question/words/variants.js";
import type { SearchedFields } from "../../question/words/word-memory.js";
import { type PlannedShape, plannedShape } from "./planned-shape.js";
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

const NO_WORDS: readonly SearchWord[] = [];

export interface QueryPlan {
  readonly text: QueryText;
  /** Words that documents may write as one. */
  readonly joins: readonly Join[];
  readonly synonyms: readonly Variant[];
  readonly shape: PlannedShape;
  readonly fields: SearchedFields;
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
  const shape = plannedShape(request.shape, schema);
  const { slots, languages } = shape.fields;
  const typed = request.typed === request.q ? text.terms : analyser.terms(request.typed);
  const curation = index.rules.firedBy(typed);
  const avoiding = avoidingRules(request.avoided, slots, languages, analyser, curation.rules.length);
  const rules = avoiding === null ? curation.rules : [...curation.rules, avoiding.bury];
  const offset = Math.min((request.page - 1) * request.perPage, scale.documentsMax);
  return {
    text,
    joins: joinsOf(text, shape.hasSkuField),
    synonyms: synonymVariants(text, index.synonyms, languages),
    shape,
    fields: shape.fields,
    program: {
      mode: "all",
      k: rowsWanted(offset, request.perPage, curation.pins.length, scale.documentsMax),
      k1: K1,
      b: B,
      proximityWeight: PROXIMITY_WEIGHT,
      averageLength: 0,
      slots: shape.slots,
      words: NO_WORDS,
      phrases: text.phrases,
      excludes: text.excludes,
      filter: request.filter,
      bonuses: bonusesOf(text, schema),
      rules,
      pins: curation.pins,
      neighbours: null,
      sort: shape.sort(moves(rules, curation.pins)),
      facets: shape.facets,
    },
    shopRules: curation.rules.length,
    relaxedRules: avoiding !== null && shape.byRelevance ? [...curation.rules, avoiding.lift] : rules,
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
  const { slots, averageLength } = plan.shape.measured(lengths);
  const { program } = plan;
  return {
    mode,
    k: program.k,
    k1: program.k1,
    b: program.b,
    proximityWeight: program.proximityWeight,
    averageLength,
    slots,
    words,
    phrases: program.phrases,
    excludes: program.excludes,
    filter: program.filter,
    bonuses: program.bonuses,
    rules: mode === "all" ? program.rules : plan.relaxedRules,
    pins: program.pins,
    neighbours: program.neighbours,
    sort: program.sort,
    facets: program.facets,
  };
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

/** True if rules put documents first or last regardless of the sort. */
function moves(rules: SearchProgram["rules"], pins: SearchProgram["pins"]): boolean {
  return pins.length > 0 || rules.some((rule) => rule.effect === "bury");
}
