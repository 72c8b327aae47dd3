// A query by vectors, or by vectors and words: which documents are near it, and the search program that finds them beside
// those with the words. The program runs like any other, so filters, facets, sorting, paging and rules hold for both.
import type { SearchProgram } from "../../../engine-wasm/host/programs/search-program.js";
import type { SearchRow } from "../../../engine-wasm/host/programs/search-result.js";
import { finished } from "../../../engine-wasm/host/runtime/steps.js";
import { EMBEDDER_SOURCES, vectorPolicy } from "../../catalog/definition/embedder-sources.js";
import type { IndexSnapshot } from "../../fleet/reads/index-snapshot.js";
import type { SearchMode } from "../../query-log/rows/journal.js";
import type { QueryRequest } from "../../question/request/query-request.js";
import { type Matched, type PageOf, relaxed, runProgram } from "../matching/match.js";
import { mergingOfRows } from "../matching/merge.js";
import { programOf, type QueryPlan } from "../matching/plan.js";
import type { QueriedIndex } from "../matching/queried-index.js";
import { addedNeighbours, firstNeighbours } from "./fusion.js";
import { modeOf } from "./gate.js";
import type { GivenVectors } from "./given-vectors.js";
import {
  type Compared,
  type DocumentPlaces,
  type NearDocument,
  NO_PLACES,
  NOTHING_COMPARED,
  nearestByCodes,
  nearestDocuments,
  nearestFirst,
  type PlacedDocument,
} from "./nearest.js";
import { FEEDBACK_DOCUMENTS, queryTerms, vectorOfQuery } from "./query-vector.js";

/** What became of a query, whether vectors had a part in it or not. */
export interface SemanticSearch {
  /** The mode used. */
  readonly mode: SearchMode;
  readonly matched: Matched;
  /** What was compared with the query's vector. */
  readonly compared: Compared;
  /** How many documents the words find. What only vectors find is no result to the query log, so that words without one stay known. */
  readonly foundByWords: number;
  /** The endpoint that should have helped did not answer, so the answer may be a better one in a moment. */
  readonly passing: boolean;
  /**
   * The nearest documents, so many at least if there are, also where vectors had no part: near enough for a hit without any of the
   * words. There are none when the query has no vector. Where vectors had no part it is drawn towards `found`, best first.
   */
  findNear(wanted: number, found: readonly PlacedDocument[]): Promise<NearDocument[]>;
}

/** The documents that any of the words finds best, best first. */
interface WordRows {
  /** Those that are candidates. */
  readonly documents: DocumentPlaces;
  /** How many there are. */
  readonly found: number;
  /** Relevance of the best one of them. */
  readonly relevanceMax: number;
  /** Those that the query's vector is drawn towards, however few the candidates are. */
  readonly feedback: readonly PlacedDocument[];
}

/** The part of a text match that is relevance, and what a relevance of 1 is there (docs/FORMATS.md, "Scoring"). */
const RELEVANCE_END = 2 ** 46;
const RELEVANCE_ONE = 2 ** 24;
const NO_ROWS: WordRows = { documents: NO_PLACES, found: 0, relevanceMax: 1, feedback: [] };
const BY_RELEVANCE = [{ by: "relevance", descending: true }] as const;

/** The answer of the words, or the one that vectors have a part in when the query's mode and the index say so. */
export async function searchByVectors(
  request: QueryRequest,
  index: QueriedIndex,
  plan: QueryPlan,
  byWords: Matched,
  snapshot: IndexSnapshot,
  givenVectors: GivenVectors,
  pageOf: PageOf,
): Promise<SemanticSearch> {
  const { semantic } = index.record.settings;
  const vectorFor = async (worded: () => Promise<WordRows>): Promise<QueryVector> =>
    tellsOfOthers(request, index)
      ? NO_VECTOR
      : queryVector(request, index, plan, byWords, snapshot, givenVectors, worded);
  const nearEnough = (near: NearDocument[]): NearDocument[] =>
    near.filter(({ similarity }) => similarity >= semantic.min_similarity);
  const findNear = async (wanted: number, found: readonly PlacedDocument[]): Promise<NearDocument[]> => {
    const feedback = found.slice(0, FEEDBACK_DOCUMENTS);
    const { vector } = await vectorFor(async () => ({ ...NO_ROWS, feedback }));
    if (vector === null) return [];
    return nearEnough(await nearestByCodes(snapshot, withoutWords(plan), vector, wanted));
  };
  const wordsOnly = async (passing: boolean): Promise<SemanticSearch> => {
    const matched = await relaxed(byWords);
    return {
      mode: "keyword",
      matched,
      compared: NOTHING_COMPARED,
      foundByWords: foundOf(matched.results),
      passing,
      findNear,
    };
  };
  const mode = modeOf({
    asked: request.searchMode,
    browse: request.browse,
    text: plan.text,
    sorted: request.sort !== null && request.sort[0]?.field !== null,
    hasVector: request.vector !== null,
    fullMatches: byWords.fullMatches,
    fullMatchesMax: semantic.auto_max_full_matches,
  });
  if (mode === "keyword") return wordsOnly(false);
  const { candidates: count } = semantic;
  const { vector, worded, failed } = await vectorFor(() => wordRows(plan, byWords, snapshot, count));
  if (vector === null) return wordsOnly(failed);
  const compared = await nearestDocuments(snapshot, withoutWords(plan), vector, count, worded.documents);
  const { relevanceMax } = worded;
  const candidates = { compared, relevanceMax, similarityMin: semantic.min_similarity };
  const neighbours = mode === "hybrid" ? addedNeighbours(candidates) : firstNeighbours(candidates);
  // No neighbour comes before a document with all words, however many words there are.
  const matching = byWords.relax === null ? "all" : "any";
  const program: SearchProgram = { ...byWords.program, mode: matching, neighbours, rules: plan.relaxedRules };
  const found = await runProgram(program, byWords.words, snapshot, pageOf);
  const matched = { ...byWords, ...found };
  const foundByWords =
    byWords.relax !== null && wordRowsTell(plan) ? worded.found : foundOf((await relaxed(byWords)).results);
  return {
    mode,
    matched,
    compared,
    foundByWords,
    passing: false,
    findNear: async () => nearEnough(nearestFirst(compared)),
  };
}

/** Whether as many documents have any of the words as the relaxed query finds: no pins, nothing buried before a rule hides it. */
function wordRowsTell({ program, relaxedRules }: QueryPlan): boolean {
  return program.pins.length === 0 && !relaxedRules.some(({ effect }) => effect === "bury");
}

function foundOf(results: Matched["results"]): number {
  return results.reduce((sum, { found }) => sum + found, 0);
}

const NO_VECTOR: QueryVector = { vector: null, worded: NO_ROWS, failed: false };

/** A model that learned from all documents would tell who may see some of them what words mean in the others. */
function tellsOfOthers({ within }: QueryRequest, { record }: QueriedIndex): boolean {
  const { source } = record.settings.embedder;
  return within !== null && EMBEDDER_SOURCES[source].vectors === "learned";
}

interface QueryVector {
  /** Null when the query has none. */
  readonly vector: Float32Array | null;
  readonly worded: WordRows;
  /** An endpoint should have made one. */
  readonly failed: boolean;
}

/** The query as a vector, drawn towards what its words find. Nobody is asked when the index has no vectors. */
async function queryVector(
  request: QueryRequest,
  { record }: QueriedIndex,
  plan: QueryPlan,
  byWords: Matched,
  snapshot: IndexSnapshot,
  givenVectors: GivenVectors,
  wordedRows: () => Promise<WordRows>,
): Promise<QueryVector> {
  const { source } = vectorPolicy(record, plan.scale.documents);
  if (source === "none") return NO_VECTOR;
  snapshot.trace?.enter("semantic");
  const [given, worded] = await Promise.all([givenVectors.of(record, request), wordedRows()]);
  snapshot.trace?.enter("semantic");
  const terms = source === "documents" ? queryTerms(plan, byWords.words) : [];
  const vector = await vectorOfQuery(snapshot, terms, given.vector, worded.feedback);
  return { vector, worded, failed: given.failed };
}

/** Whatever the query's sort; documents that a rule hides are not among them. */
async function wordRows(
  plan: QueryPlan,
  { words }: Matched,
  snapshot: IndexSnapshot,
  count: number,
): Promise<WordRows> {
  if (words === null || words.words.every(({ alternatives }) => alternatives.length === 0)) return NO_ROWS;
  const k = Math.max(count, FEEDBACK_DOCUMENTS);
  const program: SearchProgram = {
    ...programOf(plan, "any", words.words, words.lengths),
    rules: onlyHides(plan),
    pins: [],
    k,
    sort: BY_RELEVANCE,
    facets: [],
  };
  const results = await snapshot.search(program);
  const shards = new Uint16Array(k);
  const seqs = new Float64Array(k);
  let taken = 0;
  let relevanceMax = 0;
  const take = (shard: number, { seq, textMatch }: SearchRow): void => {
    if (taken < count) relevanceMax = Math.max(relevanceMax, (textMatch % RELEVANCE_END) / RELEVANCE_ONE);
    shards[taken] = shard;
    seqs[taken++] = seq;
  };
  finished(mergingOfRows(results, program.sort, { offset: 0, count: k }, take));
  if (taken === 0) return NO_ROWS;
  const candidates = Math.min(taken, count);
  return {
    documents: { shards: shards.subarray(0, candidates), seqs: seqs.subarray(0, candidates) },
    found: foundOf(results),
    relevanceMax,
    feedback: Array.from(seqs.subarray(0, Math.min(taken, FEEDBACK_DOCUMENTS)), (seq, rank) => ({
      shard: shards[rank]!,
      seq,
    })),
  };
}

/** Which documents may be found at all. */
function withoutWords(plan: QueryPlan): SearchProgram {
  return { ...plan.program, rules: onlyHides(plan), pins: [], k: 0, sort: [], facets: [] };
}

function onlyHides({ program }: QueryPlan): SearchProgram["rules"] {
  return program.rules.filter(({ effect }) => effect === "hide" || effect === "keep");
}
