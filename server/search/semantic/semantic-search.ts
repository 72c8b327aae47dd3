// Answers a query by vectors, or by vectors and words. Finds the documents near the query's vector, and
// builds a search program that finds both these documents and those that contain the words. The program runs
// like any other, so filters, facets, sorting, paging and rules apply to both kinds of documents.
import type { SearchProgram } from "../../../engine-wasm/host/programs/search-program.js";
import { finished } from "../../../engine-wasm/host/runtime/steps.js";
import { EMBEDDER_SOURCES, vectorPolicy } from "../../catalog/definition/embedder-sources.js";
import type { IndexSnapshot } from "../../fleet/reads/index-snapshot.js";
import type { PageOf } from "../../fleet/reads/likely-rows.js";
import { run, settled, together, type Work } from "../../ground/jobs/work.js";
import type { SearchMode } from "../../query-log/rows/journal.js";
import type { QueryRequest } from "../../question/request/query-request.js";
import { type Matched, relaxed, runProgram } from "../matching/match.js";
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

/** A query's result, whether or not vectors were used. */
export interface SemanticSearch {
  /** How the query was answered: by words, vectors or both. */
  readonly mode: SearchMode;
  readonly matched: Matched;
  /** The documents whose vectors were compared with the query's vector. */
  readonly compared: Compared;
  /**
   * Number of documents that would have been found without vectors. The query log uses this number, so that
   * it still shows which words find nothing.
   */
  readonly foundByWords: number;
  /**
   * True if the embedding endpoint failed. The answer must not be cached, because the same query may soon get
   * a better one.
   */
  readonly passing: boolean;
  readonly question: VectorQuestion;
}

/** A query that vectors may answer, and the documents that its words found. */
export interface VectorQuestion {
  readonly request: QueryRequest;
  readonly index: QueriedIndex;
  readonly plan: QueryPlan;
  readonly byWords: Matched;
  readonly snapshot: IndexSnapshot;
  readonly givenVectors: GivenVectors;
}

/** The best documents that contain any of the words, best first. */
interface WordRows {
  /** The documents to compare with the query's vector. */
  readonly documents: DocumentPlaces;
  /** Number of documents that contain any of the words. */
  readonly found: number;
  /** Relevance of the best document. */
  readonly relevanceMax: number;
  /**
   * Documents towards which the query's vector is moved. May include documents that are not in `documents`.
   */
  readonly feedback: readonly PlacedDocument[];
}

/**
 * Relevance is text_match modulo RELEVANCE_END, in units of 1 / RELEVANCE_ONE (docs/FORMATS.md, "Scoring").
 */
const RELEVANCE_END = 2 ** 46;
const RELEVANCE_ONE = 2 ** 24;
const NO_ROWS: WordRows = { documents: NO_PLACES, found: 0, relevanceMax: 1, feedback: [] };
const BY_RELEVANCE = [{ by: "relevance", descending: true }] as const;

/**
 * Searches by vectors too if the query's mode and the index allow it. Otherwise returns the result of the
 * word search, relaxed if necessary.
 */
export function searchByVectors(
  question: VectorQuestion,
  pageOf: PageOf,
): SemanticSearch | Promise<SemanticSearch> {
  const mode = mayUseVectors(question) ? gated(question) : "keyword";
  return mode === "keyword" ? wordsOnly(question, false) : run(vectorsToo(question, mode, pageOf));
}

function gated({ request, index, plan, byWords }: VectorQuestion): SearchMode {
  return modeOf({
    asked: request.shape.searchMode,
    browse: request.browse,
    text: plan.text,
    sorted: request.shape.sort !== null && request.shape.sort[0]?.field !== null,
    hasVector: request.vector !== null,
    fullMatches: byWords.fullMatches,
    fullMatchesMax: index.record.settings.semantic.auto_max_full_matches,
  });
}

function* vectorsToo(
  question: VectorQuestion,
  mode: Exclude<SearchMode, "keyword">,
  pageOf: PageOf,
): Work<SemanticSearch> {
  const { index, plan, byWords, snapshot } = question;
  const { semantic } = index.record.settings;
  const { candidates: count } = semantic;
  const { vector, worded, failed } = yield* queryVector(question, wordRows(plan, byWords, snapshot, count));
  if (vector === null) return yield* settled(wordsOnly(question, failed));
  const compared = yield* nearestDocuments(snapshot, withoutWords(plan), vector, count, worded.documents);
  const { relevanceMax } = worded;
  const candidates = { compared, relevanceMax, similarityMin: semantic.min_similarity };
  const neighbours = mode === "hybrid" ? addedNeighbours(candidates) : firstNeighbours(candidates);
  // Never "byScore", not even for a long query: documents that contain all words must rank before neighbours.
  const { relaxation } = byWords;
  const matching = relaxation === null ? "all" : "any";
  const program: SearchProgram = { ...byWords.program, mode: matching, neighbours, rules: plan.relaxedRules };
  const found = yield* settled(runProgram(program, byWords.words, snapshot, pageOf));
  const foundByWords =
    relaxation !== null && wordRowsTell(plan)
      ? worded.found
      : foundOf((yield* settled(relaxed(byWords))).results);
  const { fullMatches } = byWords;
  const matched = { ...found, fullMatches, relaxation };
  return { mode, matched, compared, foundByWords, passing: false, question };
}

function wordsOnly(question: VectorQuestion, passing: boolean): SemanticSearch | Promise<SemanticSearch> {
  const matched = relaxed(question.byWords);
  return matched instanceof Promise
    ? matched.then((any) => searchedByWords(question, any, passing))
    : searchedByWords(question, matched, passing);
}

function searchedByWords(question: VectorQuestion, matched: Matched, passing: boolean): SemanticSearch {
  const foundByWords = foundOf(matched.results);
  return { mode: "keyword", matched, compared: NOTHING_COMPARED, foundByWords, passing, question };
}

/**
 * Returns the nearest documents that are near enough to be hits without any of the words. Returns none if the
 * query has no vector. If vectors were used, these are the nearest of the documents already compared.
 * Otherwise finds up to `wanted` documents, after moving the query's vector towards `found`, which must be
 * sorted best first.
 */
export function* nearEnough(
  { mode, compared, question }: SemanticSearch,
  wanted: number,
  found: readonly PlacedDocument[],
): Work<NearDocument[]> {
  const { min_similarity } = question.index.record.settings.semantic;
  const near = mode === "keyword" ? yield* nearWords(question, wanted, found) : nearestFirst(compared);
  return near.filter(({ similarity }) => similarity >= min_similarity);
}

function* nearWords(
  question: VectorQuestion,
  wanted: number,
  found: readonly PlacedDocument[],
): Work<NearDocument[]> {
  if (!mayUseVectors(question)) return [];
  const feedback = found.slice(0, FEEDBACK_DOCUMENTS);
  const { vector } = yield* queryVector(question, settled({ ...NO_ROWS, feedback }));
  const { plan, snapshot } = question;
  return vector === null ? [] : yield* nearestByCodes(snapshot, withoutWords(plan), vector, wanted);
}

/**
 * True if the relaxed query would find as many documents as `wordRows` did, so that it need not run. This
 * holds if there are no pins and no rule that buries a document before another rule can hide it.
 */
function wordRowsTell({ program, relaxedRules }: QueryPlan): boolean {
  return program.pins.length === 0 && !relaxedRules.some(({ effect }) => effect === "bury");
}

function foundOf(results: Matched["results"]): number {
  return results.reduce((sum, { found }) => sum + found, 0);
}

/** False if the index has no vectors, or the query must not be answered by them. */
function mayUseVectors({ request, index, plan }: VectorQuestion): boolean {
  const { source } = vectorPolicy(index.record, plan.scale.documents);
  return source !== "none" && !tellsOfOthers(request, index);
}

/**
 * True if the model learned from all documents and the caller may not see all of them. Vectors would then
 * reveal what words mean in documents that the caller may not see.
 */
function tellsOfOthers({ shape: { within } }: QueryRequest, { record }: QueriedIndex): boolean {
  const { source } = record.settings.embedder;
  return within !== null && EMBEDDER_SOURCES[source].vectors === "learned";
}

interface QueryVector {
  /** Null if the query has no vector. */
  readonly vector: Float32Array | null;
  readonly worded: WordRows;
  /** True if the endpoint should have computed a vector but failed. */
  readonly failed: boolean;
}

/** Returns the query's vector, moved towards the documents that its words find. */
function* queryVector(
  { request, index, plan, byWords, snapshot, givenVectors }: VectorQuestion,
  wordedRows: Work<WordRows>,
): Work<QueryVector> {
  const { source } = vectorPolicy(index.record, plan.scale.documents);
  snapshot.trace?.enter("semantic");
  const [given, worded] = yield* together(givenVectors.of(index.record, request), wordedRows);
  snapshot.trace?.enter("semantic");
  const terms = source === "documents" ? queryTerms(plan, byWords.words) : [];
  const vector = yield* vectorOfQuery(snapshot, terms, given.vector, worded.feedback);
  return { vector, worded, failed: given.failed };
}

/**
 * Finds the best documents that contain any of the words, by relevance, whatever the query's sort. Excludes
 * documents hidden by a rule.
 */
function* wordRows(
  plan: QueryPlan,
  { words }: Matched,
  snapshot: IndexSnapshot,
  count: number,
): Work<WordRows> {
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
  const results = yield* settled(snapshot.search(program));
  const shards = new Uint16Array(k);
  const seqs = new Float64Array(k);
  let taken = 0;
  let relevanceMax = 0;
  const take = (shard: number, row: number): void => {
    const { rows } = results[shard]!;
    if (taken < count)
      relevanceMax = Math.max(relevanceMax, (rows.textMatch(row) % RELEVANCE_END) / RELEVANCE_ONE);
    shards[taken] = shard;
    seqs[taken++] = rows.seq(row);
  };
  finished(mergingOfRows(results, { offset: 0, count: k }, take));
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

/** Selects every document that the query may return, with or without its words. */
function withoutWords(plan: QueryPlan): SearchProgram {
  return { ...plan.program, rules: onlyHides(plan), pins: [], k: 0, sort: [], facets: [] };
}

function onlyHides({ program }: QueryPlan): SearchProgram["rules"] {
  return program.rules.filter(({ effect }) => effect === "hide" || effect === "keep");
}
