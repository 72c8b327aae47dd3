// Runs the steps of a query in order: plan, understand, search by words, search by vectors if that helps,
// merge, count facets, fetch. Each step has its own file. respond.ts writes the result as JSON, and
// docs/ranking.md describes the ranking.
import { type FacetCounts, NO_VALUES } from "../../engine-wasm/host/programs/encoded-facet.js";
import { EVERY_DOCUMENT } from "../../engine-wasm/host/programs/search-program.js";
import type { Question } from "../fleet/reads/answer-cache.js";
import type { IndexScale } from "../fleet/reads/index-handle.js";
import type { IndexSnapshot } from "../fleet/reads/index-snapshot.js";
import type { Reads } from "../fleet/reads/reads.js";
import { inSlices, RequestSlices } from "../fleet/threads/tenant-slices.js";
import { RequestLife } from "../ground/jobs/request-life.js";
import { settled, type Work } from "../ground/jobs/work.js";
import type { Limits } from "../ground/limits.js";
import type { QueryTrace } from "../ground/metrics/query-trace.js";
import { type QueryRequest, readingOfQueryRequest } from "../question/request/query-request.js";
import { readWithin, type Within } from "../question/request/within.js";
import { type AskedQuery, type Attempt, meantAsTyped, type Understanding } from "./attempt.js";
import { explainRows } from "./explain.js";
import { fetchDocuments } from "./fetch.js";
import { type FacetTable, type Found, NO_EXPLANATIONS, NO_FACETS, NO_HITS } from "./found.js";
import { countFacets } from "./matching/facets.js";
import { countFull, matchAllWords } from "./matching/match.js";
import { mergedInSlices } from "./matching/merge.js";
import { planQuery, type QueryPlan } from "./matching/plan.js";
import type { QueriedIndex } from "./matching/queried-index.js";
import { relatedWinners } from "./related.js";
import type { GivenVectors } from "./semantic/given-vectors.js";
import { searchByVectors } from "./semantic/semantic-search.js";
import { ShownDocuments } from "./shown-documents.js";
import { suggestedQueries, visibleQueries } from "./suggested-queries.js";

/** The services that every kind of search needs. */
export interface Searching {
  readonly reads: Reads;
  readonly limits: Limits;
  readonly givenVectors: GivenVectors;
}

/** The services that a whole query needs. */
export interface QuerySearching extends Searching {
  readonly understanding: Understanding;
}

/** Limits and permissions with which a query runs; they are part of its key in the answer cache. */
export type QueryBounds = Pick<Question, "bytesMax" | "understood" | "within">;

/**
 * Reads a query's parsed body, in time slices if it has a long filter. `within` is the filter in the caller's
 * search token. Throws SK-SE-400.
 */
export function* readQuery(
  { reads, limits }: Searching,
  index: QueriedIndex,
  body: unknown,
  within: string,
  life: RequestLife,
): Work<QueryRequest> {
  const slices = new RequestSlices(reads.slices, index.record.tenant, life);
  const reading = readingOfQueryRequest(body, index, limits, readWithin(within, index, limits));
  const read = inSlices(reading, slices);
  return read instanceof Promise ? yield* settled(read) : read;
}

/**
 * Runs the query. The returned documents fit into a response of `bytesMax` bytes, except that a single
 * document is always returned. Its work ends with `life`. Records the phases in `trace`. Throws SkeinError.
 */
export function find(
  searching: QuerySearching,
  index: QueriedIndex,
  asked: QueryRequest,
  { bytesMax, understood }: QueryBounds,
  life: RequestLife,
  trace: QueryTrace,
): Work<Found> {
  const { reads } = searching;
  const { uid } = index.record;
  const scale = reads.scale(uid);
  const asTyped = planQuery(asked, index, scale);
  return reads.answer(uid, life, trace, (snapshot) =>
    answered(
      searching,
      new Attempts(asked, index, scale, bytesMax, asTyped, reads, snapshot),
      understood,
      trace,
    ),
  );
}

/** Answers a query from one snapshot. Returns null if a shard no longer has one of its documents. */
function* answered(
  { reads, givenVectors, understanding }: QuerySearching,
  attempts: Attempts,
  understood: boolean,
  trace: QueryTrace,
): Work<Found | null> {
  const { asked, index, snapshot, bytesMax } = attempts;
  const { within } = asked.shape;
  const meant = understood ? yield* understanding.meant(attempts) : yield* meantAsTyped(attempts);
  trace.understood = meant.context !== null;
  const { request, plan, shown, matched: byWords } = meant.attempt;
  const search = searchByVectors({ request, index, plan, byWords, snapshot, givenVectors }, shown);
  const searched = search instanceof Promise ? yield* settled(search) : search;
  const { program, results, documents } = searched.matched;
  const merging = mergedInSlices(results, { offset: plan.offset, count: request.perPage }, snapshot.slices);
  const merged = merging instanceof Promise ? yield* settled(merging) : merging;
  trace.found = merged.found;
  const counting = countFacets(snapshot, program, results);
  const counts = counting instanceof Promise ? yield* settled(counting) : counting;
  const looking = relatedWinners(plan, searched, snapshot, request.perPage, shown);
  const related = looking instanceof Promise ? yield* settled(looking) : looking;

  trace.enter("fetch");
  const { rows } = merged;
  const known = [documents, related.documents];
  const fetching = fetchDocuments(snapshot, rows, related.rows, known, shown.fetched(program), bytesMax);
  const fetched = fetching instanceof Promise ? yield* settled(fetching) : fetching;
  if (fetched === null) return null;
  const explanations = request.shape.explain
    ? yield* explainRows(snapshot, { program, ...searched }, plan, rows, index.schema)
    : NO_EXPLANATIONS;
  const isAlone = related.rows.length === 0;

  return {
    request: asked,
    mode: searched.mode,
    hits: { rows, documents: isAlone ? fetched : fetched.slice(0, rows.length), explanations },
    relatedHits: isAlone
      ? NO_HITS
      : { rows: related.rows, documents: fetched.slice(rows.length), explanations: NO_EXPLANATIONS },
    compared: searched.compared,
    found: merged.found,
    foundByWords: searched.foundByWords,
    outOf: within === null ? reads.documents(index.record.uid) : yield* countWithin(snapshot, within),
    facets: facetTables(request, counts),
    suggestions:
      within === null
        ? suggestedQueries(plan, byWords.words, merged.found)
        : yield* visibleQueries(plan, byWords.words, (q) => attempts.finds(q, within)),
    aiContext: meant.context,
    curated: merged.pinsApplied || isAnyOf(merged.applied, plan.shopRules),
    memory: meant.lasting && !searched.passing ? snapshot : null,
  };
}

function facetTables(
  { shape: { facets } }: QueryRequest,
  counts: readonly FacetCounts[],
): readonly FacetTable[] {
  if (facets.length === 0) return NO_FACETS;
  return facets.map((field, i) => ({ field, counts: counts[i] ?? NO_VALUES }));
}

/** True if any of the first `count` rules had an effect. */
function isAnyOf(applied: readonly boolean[], count: number): boolean {
  for (let i = 0; i < count; i++) if (applied[i] === true) return true;
  return false;
}

/** Runs one query in several wordings, all in one snapshot. */
class Attempts implements AskedQuery {
  readonly asked: QueryRequest;
  readonly index: QueriedIndex;
  readonly scale: IndexScale;
  readonly bytesMax: number;
  readonly snapshot: IndexSnapshot;
  readonly #asTyped: QueryPlan;
  readonly #reads: Reads;

  /** `asTyped` is the plan of the query as asked. */
  constructor(
    asked: QueryRequest,
    index: QueriedIndex,
    scale: IndexScale,
    bytesMax: number,
    asTyped: QueryPlan,
    reads: Reads,
    snapshot: IndexSnapshot,
  ) {
    this.asked = asked;
    this.index = index;
    this.scale = scale;
    this.bytesMax = bytesMax;
    this.snapshot = snapshot;
    this.#asTyped = asTyped;
    this.#reads = reads;
  }

  attempt(request: QueryRequest): Attempt | Promise<Attempt> {
    const { index, snapshot } = this;
    const plan = request === this.asked ? this.#asTyped : planQuery(request, index, this.scale);
    const { settings } = index.record;
    const shown = new ShownDocuments(request, plan, settings, this.bytesMax, snapshot.shards);
    const matched = matchAllWords(plan, snapshot, shown);
    return matched instanceof Promise
      ? matched.then((all) => ({ request, plan, shown, matched: all }))
      : { request, plan, shown, matched };
  }

  snapshotBehind(): Promise<IndexSnapshot> {
    return this.#reads.snapshot(this.index.record.uid, new RequestLife());
  }

  /** True if any document that the caller may see contains all words of `q` as written. */
  *finds(q: string, { filter }: Within): Work<boolean> {
    const written = { ...this.asked, q, typed: q, browse: false, prefix: false, numTypos: 0, filter };
    return (yield* countFull(planQuery(written, this.index, this.scale), this.snapshot)) > 0;
  }
}

/** Number of documents that a restricted caller may see. */
function* countWithin(snapshot: IndexSnapshot, { filter }: Within): Work<number> {
  const results = yield* settled(snapshot.search({ ...EVERY_DOCUMENT, k: 0, filter }));
  return results.reduce((sum, { found }) => sum + found, 0);
}
