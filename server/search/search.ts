// A whole query on one screen: request -> plan -> expand and search in all shards -> merge -> fetch -> respond.
// Each step is a file of its own; here is only their order. docs/ranking.md tells how documents are ranked.
import type { SearchProgram } from "../../engine-wasm/host/programs/search-program.js";
import type { Question } from "../cluster/answer-cache.js";
import type { Cluster } from "../cluster/cluster.js";
import type { PageWanted } from "../cluster/read-view.js";
import { SkeinError } from "../errors.js";
import type { QueryTrace } from "../metrics/query-trace.js";
import { type QueryRequest, readQueryRequest } from "../request/query-request.js";
import { correctedQueries } from "./corrections.js";
import { explainWinners } from "./explain.js";
import { countFacets } from "./facets.js";
import { documentBytes, fetchHits, fetchOptions } from "./fetch.js";
import { matchQuery } from "./match.js";
import { mergeResults } from "./merge.js";
import { type Plan, planQuery } from "./plan.js";
import type { QueriedIndex } from "./queried-index.js";
import { NOTHING_RELATED, relatedWinners } from "./related.js";
import { encodeResponse, type QueryResponse } from "./respond.js";

/**
 * The complete JSON answer to a query with this body, of at most the question's bytes unless it shows one document only; is
 * remembered. `trace` learns its phases. Throws SkeinError.
 */
export async function search(
  cluster: Cluster,
  index: QueriedIndex,
  body: unknown,
  question: Question,
  trace: QueryTrace,
): Promise<Uint8Array> {
  const { record } = index;
  const request = readQueryRequest(body, record, index.view, cluster.limits);
  const scale = cluster.scale(record.uid);
  const plan = planQuery(request, index, cluster.limits, scale);
  const asked = { request, plan, question };
  // A shard that was restarted has only its newest state; what an older one showed may be gone. Then once more.
  const response =
    (await answer(cluster, index, asked, trace)) ?? (await answer(cluster, index, asked, trace));
  if (response !== null) return response;
  throw new SkeinError("SK-SE-503", "The index changed while it was read; retry in a moment.", {
    retryAfter: 1,
  });
}

interface Asked {
  readonly request: QueryRequest;
  readonly plan: Plan;
  readonly question: Question;
}

async function answer(
  cluster: Cluster,
  { record, view }: QueriedIndex,
  { request, plan, question }: Asked,
  trace: QueryTrace,
): Promise<Uint8Array | null> {
  const { bytesMax } = question;
  const readView = await cluster.readView(record.uid, trace);
  cluster.queries.begin();
  try {
    const optionsFor = (program: SearchProgram) => fetchOptions(request, plan.text, program, record.settings);
    // What comes with the results is a guess, so each shard gets its share of the room; what is missing is fetched.
    const likelyBytesMax = Math.floor(documentBytes(bytesMax, request.perPage) / cluster.shards);
    const pageOptions = (program: SearchProgram) => ({ ...optionsFor(program), bytesMax: likelyBytesMax });
    const pageOf = (program: SearchProgram): PageWanted => ({
      offset: plan.offset,
      count: request.perPage,
      options: pageOptions(program),
    });
    const matched = await matchQuery(plan, readView, pageOf);
    const { program, results, documents } = matched;
    const merged = mergeResults(results, program.sort, { offset: plan.offset, count: request.perPage });
    const facets = await countFacets(program, results, request.maxFacetValues, (one) => readView.search(one));
    const related =
      request.perPage === 0
        ? NOTHING_RELATED
        : await relatedWinners(plan, matched, readView, pageOptions(program));
    trace.found = merged.found;
    trace.enter("fetch");
    const { winners } = merged;
    const known = [documents, related.documents];
    const shown = { winners, related: related.winners };
    const hits = await fetchHits(readView, shown, known, optionsFor(program), bytesMax);
    if (hits === null) {
      readView.forget();
      return null;
    }
    const explanations = request.explain
      ? await explainWinners(readView, program, plan.text.words, winners, view)
      : null;
    const shownHits = hits.slice(0, winners.length);
    trace.enter("respond");
    const response: QueryResponse = {
      hits:
        explanations === null
          ? shownHits
          : shownHits.map((hit, i) => ({ ...hit, explanation: explanations[i] ?? null })),
      relatedHits: hits.slice(winners.length),
      found: merged.found,
      page: request.page,
      perPage: request.perPage,
      outOf: cluster.records(record.uid),
      facets: request.facets.map((field, i) => ({ field, counts: facets[i] ?? [] })),
      suggestions: correctedQueries(plan.text, matched.words),
      curated: merged.pinsApplied || merged.applied.includes(true),
      tookMs: trace.elapsedMs(),
    };
    const single = hits.length === 1 && facets.length === 0;
    const { bytes, content } = encodeResponse(response, single ? Number.POSITIVE_INFINITY : bytesMax);
    readView.remember(question, content);
    return bytes;
  } finally {
    cluster.queries.end();
    readView.release();
  }
}
