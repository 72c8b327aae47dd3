// Runs the steps of a query in order: plan, understand, search by words, search by vectors if that helps,
// merge, count facets, fetch. Each step has its own file. respond.ts writes the result as JSON, and
// docs/ranking.md describes the ranking.
import { NO_FILTER } from "../../engine-wasm/host/programs/filter-program.js";
import { EVERY_DOCUMENT } from "../../engine-wasm/host/programs/search-program.js";
import type { Question } from "../fleet/reads/answer-cache.js";
import type { IndexSnapshot } from "../fleet/reads/index-snapshot.js";
import type { Reads } from "../fleet/reads/reads.js";
import { inSlices } from "../fleet/threads/tenant-slices.js";
import { RequestLife } from "../ground/jobs/request-life.js";
import type { Limits } from "../ground/limits.js";
import type { QueryTrace } from "../ground/metrics/query-trace.js";
import { type QueryRequest, readingOfQueryRequest } from "../question/request/query-request.js";
import { readWithin, type Within } from "../question/request/within.js";
import type { Attempt, Understanding } from "./attempt.js";
import { explainHits } from "./explain.js";
import { fetchHits } from "./fetch.js";
import type { Found } from "./found.js";
import { countFacets } from "./matching/facets.js";
import { countFull, matchAllWords, type PageOf } from "./matching/match.js";
import { mergingOfResults } from "./matching/merge.js";
import { planQuery } from "./matching/plan.js";
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
 * Runs the query in `body`. The returned documents fit into a response of `bytesMax` bytes, except that a
 * single document is always returned. Its work ends with `life`. Records the phases in `trace`. Throws
 * SkeinError.
 */
export async function find(
  { reads, limits, givenVectors, understanding }: QuerySearching,
  index: QueriedIndex,
  body: unknown,
  { bytesMax, understood, within: filterOfAsker }: QueryBounds,
  life: RequestLife,
  trace: QueryTrace,
): Promise<Found> {
  const { record, schema } = index;
  const { uid } = record;
  const within = readWithin(filterOfAsker, index, limits);
  const nextSlice = (): Promise<void> => reads.slices.next(record.tenant, life);
  const asked = await inSlices(readingOfQueryRequest(body, index, limits, within), nextSlice);
  const scale = reads.scale(uid);
  const asTyped = planQuery(asked, index, scale);

  return reads.answer(uid, life, trace, async (snapshot) => {
    const attempt = async (request: QueryRequest): Promise<Attempt> => {
      const plan = request === asked ? asTyped : planQuery(request, index, scale);
      const shown = new ShownDocuments(request, plan, record.settings, bytesMax, snapshot.shards);
      const matched = await matchAllWords(plan, snapshot, (program) => shown.page(program));
      return { request, plan, shown, matched };
    };
    const snapshotBehind = (): Promise<IndexSnapshot> => reads.snapshot(uid, new RequestLife());
    const meant = understood
      ? await understanding.meant({ asked, index, scale, snapshot, snapshotBehind, attempt })
      : { attempt: await attempt(asked), context: null, lasting: true };
    trace.understood = meant.context !== null;
    const { request, plan, shown, matched: byWords } = meant.attempt;
    const pageOf: PageOf = (program) => shown.page(program);
    const searched = await searchByVectors(request, index, plan, byWords, snapshot, givenVectors, pageOf);
    const { program, results, documents } = searched.matched;
    const window = { offset: plan.offset, count: request.perPage };
    const merged = await inSlices(mergingOfResults(results, program.sort, window), snapshot.nextSlice);
    trace.found = merged.found;
    const facets = await countFacets(snapshot, program, results);
    const related = await relatedWinners(plan, searched, snapshot, request.perPage, shown.sentAlong(program));

    trace.enter("fetch");
    const winners = { winners: merged.winners, related: related.winners, compared: searched.compared };
    const known = [documents, related.documents];
    const fetched = await fetchHits(snapshot, winners, known, shown.fetched(program), bytesMax);
    if (fetched === null) return null;
    const hits = fetched.slice(0, merged.winners.length);
    /** True if any document that the caller may see contains all words of `q` as written. */
    const finds = async (q: string): Promise<boolean> => {
      const filter = within?.filter ?? NO_FILTER;
      const written = { ...asked, q, typed: q, browse: false, prefix: false, numTypos: 0, filter };
      return (await countFull(planQuery(written, index, scale), snapshot)) > 0;
    };

    return {
      request: asked,
      mode: searched.mode,
      hits: request.shape.explain
        ? await explainHits(snapshot, { program, ...searched }, plan, hits, schema)
        : hits,
      relatedHits: fetched.slice(hits.length),
      found: merged.found,
      foundByWords: searched.foundByWords,
      outOf: within === null ? reads.documents(uid) : await countWithin(snapshot, within),
      facets: request.shape.facets.map((field, i) => ({ field, counts: facets[i] ?? [] })),
      suggestions:
        within === null
          ? suggestedQueries(plan, byWords.words, merged.found)
          : await visibleQueries(plan, byWords.words, finds),
      aiContext: meant.context,
      curated: merged.pinsApplied || merged.applied.slice(0, plan.shopRules).includes(true),
      remember:
        meant.lasting && !searched.passing ? (question, answer) => snapshot.remember(question, answer) : null,
    };
  });
}

/** Number of documents that a restricted caller may see. */
async function countWithin(snapshot: IndexSnapshot, { filter }: Within): Promise<number> {
  const results = await snapshot.search({ ...EVERY_DOCUMENT, k: 0, filter });
  return results.reduce((sum, { found }) => sum + found, 0);
}
