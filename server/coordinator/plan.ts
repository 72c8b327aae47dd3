// A checked request -> everything about the query that does not depend on what the dictionary holds: words,
// compiled filter, sort keys, facets, rows wanted; and from a plan plus chosen words to the engine's program.
import type {
  FacetRequest,
  SearchProgram,
  SearchWord,
  SortKey,
} from "../../engine-wasm/host/search-program.js";
import type { IndexRecord } from "../catalog/types.js";
import type { Limits } from "../limits.js";
import { compileFilter } from "./filter-compile.js";
import type { IndexView } from "./index-view.js";
import type { QueryRequest } from "./query-request.js";
import { type QueryText, readQueryText } from "./query-text.js";
import type { TextAnalyser } from "./text-analyser.js";

/** BM25F: saturation of term frequency, and how much a field's length counts. */
const K1 = 1.2;
const B = 0.75;
const PROXIMITY_WEIGHT = 0.5;

export interface Plan {
  readonly text: QueryText;
  /** The program without words: the literal query to fill in. */
  readonly program: SearchProgram;
  /** First row of the page in the global order. */
  readonly offset: number;
  readonly typoPolicy: "auto" | "always" | "missing";
  /** Relax the query when fewer documents match all its words. */
  readonly dropThreshold: number;
  readonly typosPerWordMax: number;
}

export interface PlanScale {
  readonly shards: number;
  /** No snapshot of the index holds more documents than this. */
  readonly documentsMax: number;
}

/** Throws SkeinError SK-SE-400 for a filter that does not fit the schema. */
export function planQuery(
  request: QueryRequest,
  record: IndexRecord,
  view: IndexView,
  analyser: TextAnalyser,
  limits: Limits,
  scale: PlanScale,
): Plan {
  const { settings } = record;
  const text = readQueryText(request.q, analyser, {
    prefix: request.prefix,
    typos: {
      numTypos: request.numTypos,
      minLength1: settings.min_len_1typo,
      minLength2: settings.min_len_2typo,
      onNumbers: settings.typo_on_numbers,
    },
    stopWords: stopWordsOf(record, analyser),
    wordsMax: limits.queryTokensMax,
  });
  const offset = (request.page - 1) * request.perPage;
  return {
    text,
    program: {
      mode: "all",
      k: offset >= scale.documentsMax ? 0 : Math.min(offset + request.perPage, scale.documentsMax),
      k1: K1,
      b: B,
      proximityWeight: PROXIMITY_WEIGHT,
      slots: request.fields.map(({ field, weight }) => ({ slot: field.slot, weight, averageLength: 0 })),
      words: [],
      phrases: text.phrases,
      excludes: text.excludes,
      filter: compileFilter(request.filter, view, analyser),
      sort: sortKeys(request, view),
      facets: facetRequests(request, scale.shards),
    },
    offset,
    typoPolicy: settings.typo_policy,
    dropThreshold: settings.drop_tokens_threshold,
    typosPerWordMax: limits.expansionsPerWordMax,
  };
}

/** The program of one attempt. `averageLengths` in the order of the plan's slots. */
export function programOf(
  plan: Plan,
  mode: "all" | "any",
  words: readonly SearchWord[],
  averageLengths: readonly number[],
): SearchProgram {
  const slots = plan.program.slots.map((slot, i) => ({ ...slot, averageLength: averageLengths[i] ?? 0 }));
  return { ...plan.program, mode, words, slots };
}

/** Named keys first; ties by text match, the default sorting field descending, then the newest document. */
function sortKeys(request: QueryRequest, view: IndexView): SortKey[] {
  const keys: SortKey[] = (request.sort ?? []).map(({ field, descending }) =>
    field === null
      ? { by: "relevance", descending }
      : { by: "field", descending, slot: field.slot, type: field.code },
  );
  if (!keys.some((key) => key.by === "relevance")) keys.push({ by: "relevance", descending: true });
  const fallback = view.defaultSort;
  if (fallback !== null && !keys.some((key) => key.by === "field" && key.slot === fallback.slot)) {
    keys.push({ by: "field", descending: true, slot: fallback.slot, type: fallback.code });
  }
  return keys;
}

/** One shard sends the top values; several send all of theirs, so that the sums are exact. */
function facetRequests(request: QueryRequest, shards: number): FacetRequest[] {
  if (request.maxFacetValues === 0) return [];
  const limit = shards === 1 ? request.maxFacetValues : 0;
  return request.facets.map((field) => ({ slot: field.slot, type: field.code, limit }));
}

const stopWords = new WeakMap<IndexRecord, ReadonlySet<string>>();

function stopWordsOf(record: IndexRecord, analyser: TextAnalyser): ReadonlySet<string> {
  let folded = stopWords.get(record);
  if (folded === undefined) {
    folded = new Set(record.settings.stop_words.flatMap((word) => analyser.terms(word)));
    stopWords.set(record, folded);
  }
  return folded;
}
