// A whole query on one screen: understand, plan, expand and search in all shards, search by vectors where that helps, merge, fetch,
// respond. Each step is a file of its own; here is only their order. docs/ranking.md tells how documents are ranked.
import { EVERY_DOCUMENT } from "../../engine-wasm/host/programs/search-program.js";
import type { Question } from "../fleet/reads/answer-cache.js";
import type { IndexScale } from "../fleet/reads/read-index.js";
import type { ReadView } from "../fleet/reads/read-view.js";
import type { Reads } from "../fleet/reads/reads.js";
import { inTurns } from "../fleet/threads/tenant-turns.js";
import type { Limits } from "../ground/limits.js";
import type { QueryTrace } from "../ground/metrics/query-trace.js";
import { type Answered, encodeAnswered, HITS_MAX } from "../query-log/rows/journal.js";
import { type QueryRequest, readingOfQueryRequest } from "../question/request/query-request.js";
import { readWithin, type Within } from "../question/request/within.js";
import { explainHits } from "./explain.js";
import { countFacets } from "./facets.js";
import { fetchHits } from "./fetch.js";
import { countFull, type Matched, matchAllWords, type PageOf } from "./matching/match.js";
import { mergingOfResults } from "./matching/merge.js";
import { planningOfQuery, planQuery, type QueryPlan } from "./matching/plan.js";
import type { QueriedIndex } from "./matching/queried-index.js";
import { relatedWinners } from "./related.js";
import { type AiContext, encodeResponse, type Hit, type QueryResponse } from "./respond.js";
import type { GivenVectors } from "./semantic/given-vectors.js";
import { searchByVectors } from "./semantic/semantic-search.js";
import { ShownDocuments } from "./shown-documents.js";
import { suggestedQueries, visibleQueries } from "./suggested-queries.js";

/** What searches work with. */
export interface Searching {
  readonly reads: Reads;
  readonly limits: Limits;
  readonly givenVectors: GivenVectors;
}

/** What was found when a query was asked in some words. */
export interface Attempt {
  readonly request: QueryRequest;
  readonly plan: QueryPlan;
  readonly shown: ShownDocuments;
  /** By all words. */
  readonly matched: Matched;
}

/** A query asked as it is meant. */
export interface Meant {
  readonly attempt: Attempt;
  /** Null: it was asked as it is typed. */
  readonly context: AiContext | null;
  /** Whatever is asked of this state of the index will be understood in the same way. */
  readonly lasting: boolean;
}

/** A query as it came, and the index that it is put to. */
export interface AskedQuery {
  readonly asked: QueryRequest;
  readonly index: QueriedIndex;
  readonly scale: IndexScale;
  readonly readView: ReadView;
  /** The index as it is by then, for work that goes on behind the query. To be released. */
  viewBehind(): Promise<ReadView>;
  attempt(request: QueryRequest): Promise<Attempt>;
}

/** Decides in which words a query is asked; it may make several attempts. */
export interface Understanding {
  meant(query: AskedQuery): Promise<Meant>;
}

/** What whole queries work with. */
export interface QuerySearching extends Searching {
  readonly understanding: Understanding;
}

/** The answer to a query. */
export interface SearchAnswer {
  /** The complete response. */
  readonly bytes: Uint8Array;
  /** See RememberedAnswer. */
  readonly answered: Uint8Array | null;
}

/**
 * The JSON answer to a query with this body. It has at most the question's `bytesMax` bytes unless it shows only one document.
 * It is remembered, and `trace` learns its phases. Throws SkeinError.
 */
export async function search(
  { reads, limits, givenVectors, understanding }: QuerySearching,
  index: QueriedIndex,
  body: unknown,
  question: Question,
  queryId: string,
  trace: QueryTrace,
): Promise<SearchAnswer> {
  const { record, view } = index;
  const { uid } = record;
  const { bytesMax } = question;
  const within = readWithin(question.within, index, limits);
  const nextTurn = (): Promise<void> => reads.turns.next(record.tenant);
  const asked = await inTurns(readingOfQueryRequest(body, record, view, limits, within), nextTurn);
  const { page, perPage } = asked;
  const scale = reads.scale(uid);
  const asTyped = await inTurns(planningOfQuery(asked, index, limits, scale), nextTurn);

  return reads.answer(uid, trace, async (readView) => {
    const attempt = async (request: QueryRequest): Promise<Attempt> => {
      const plan = request === asked ? asTyped : planQuery(request, index, limits, scale);
      const shown = new ShownDocuments(request, plan, record.settings, bytesMax, readView.shards);
      return {
        request,
        plan,
        shown,
        matched: await matchAllWords(plan, readView, (program) => shown.page(program)),
      };
    };
    const viewBehind = (): Promise<ReadView> => reads.view(uid);
    /** Whether documents that may be seen have all words of a query, as they are written. */
    const finds = async (q: string): Promise<boolean> => {
      const filter = within?.filter ?? null;
      const written = { ...asked, q, typed: q, browse: false, prefix: false, numTypos: 0, filter };
      return (await countFull(planQuery(written, index, limits, scale), readView)) > 0;
    };
    const meant = question.understood
      ? await understanding.meant({ asked, index, scale, readView, viewBehind, attempt })
      : { attempt: await attempt(asked), context: null, lasting: true };
    trace.understood = meant.context !== null;
    const { request, plan, shown, matched: byWords } = meant.attempt;
    const pageOf: PageOf = (program) => shown.page(program);
    const searched = await searchByVectors(request, index, plan, byWords, readView, givenVectors, pageOf);
    const { program, results, documents } = searched.matched;
    const window = { offset: plan.offset, count: perPage };
    const merged = await inTurns(mergingOfResults(results, program.sort, window), readView.nextTurn);
    trace.found = merged.found;
    const facets = await countFacets(program, results, request.maxFacetValues, (one) => readView.search(one));
    const options = shown.sentAlong(program);
    const related = await relatedWinners(plan, searched, readView, perPage, options);

    trace.enter("fetch");
    const winners = { winners: merged.winners, related: related.winners, compared: searched.compared };
    const known = [documents, related.documents];
    const fetched = await fetchHits(readView, winners, known, shown.fetched(program), bytesMax);
    if (fetched === null) return null;
    const hits = fetched.slice(0, merged.winners.length);

    const response: QueryResponse = {
      queryId,
      mode: searched.mode,
      hits: request.explain
        ? await explainHits(readView, { program, ...searched }, plan, merged.winners, hits, view)
        : hits,
      relatedHits: fetched.slice(hits.length),
      found: merged.found,
      page,
      perPage,
      outOf: within === null ? reads.documents(uid) : await countWithin(readView, within),
      facets: request.facets.map((field, i) => ({ field, counts: facets[i] ?? [] })),
      suggestions:
        within === null
          ? suggestedQueries(plan, byWords.words, merged.found)
          : await visibleQueries(plan, byWords.words, finds),
      aiContext: meant.context,
      curated: merged.pinsApplied || merged.applied.slice(0, plan.shopRules).includes(true),
      tookMs: trace.elapsedMs(),
    };
    trace.enter("respond");
    const single = fetched.length === 1 && facets.length === 0;
    const { bytes, content } = encodeResponse(response, single ? Number.POSITIVE_INFINITY : bytesMax);
    const logged = { ...loggedPart(asked), mode: searched.mode, found: searched.foundByWords };
    const answered = asked.browse ? null : encodeAnswered(logged, idsOf(hits));
    if (meant.lasting && !searched.passing) readView.remember(question, { content, answered });
    return { bytes, answered };
  });
}

/** How many documents there are for who may see only these. */
async function countWithin(readView: ReadView, { program }: Within): Promise<number> {
  const results = await readView.search({ ...EVERY_DOCUMENT, k: 0, filter: program });
  return results.reduce((sum, { found }) => sum + found, 0);
}

function loggedPart({ q, filter, page }: QueryRequest): Pick<Answered, "text" | "filtered" | "page"> {
  return { text: q, filtered: filter !== null, page };
}

function idsOf(hits: readonly Hit[]): Uint8Array[] {
  return hits.slice(0, HITS_MAX).map(({ id }) => id);
}
