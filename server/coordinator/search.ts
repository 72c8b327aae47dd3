// A whole query on one screen: request -> plan -> expand and search in all shards -> merge -> fetch -> respond.
// Each step is a file of its own; here is only their order. docs/ranking.md tells how documents are ranked.
import { randomUUID } from "node:crypto";
import type { SearchProgram } from "../../engine-wasm/host/search-program.js";
import type { IndexContents } from "../catalog/types.js";
import { SkeinError } from "../errors.js";
import type { QueryTrace } from "../metrics/query-trace.js";
import type { Cluster } from "./cluster.js";
import { correctedQueries } from "./corrections.js";
import { explainWinners } from "./explain.js";
import { fetchHits, fetchOptions } from "./fetch.js";
import { matchQuery } from "./match.js";
import { mergeResults } from "./merge.js";
import { type Plan, planQuery } from "./plan.js";
import { type QueriedIndex, queriedIndex } from "./queried-index.js";
import { type QueryRequest, readQueryRequest } from "./query-request.js";
import { relatedWinners } from "./related.js";
import { encodeResponse } from "./respond.js";
import type { PageWanted } from "./snapshot.js";

/** The complete JSON answer to a query body; `trace` learns its phases. Throws SkeinError. */
export async function search(
  cluster: Cluster,
  contents: IndexContents,
  body: unknown,
  trace: QueryTrace,
): Promise<Uint8Array> {
  const startedMs = performance.now();
  const index = queriedIndex(cluster, contents);
  const { record } = index;
  const request = readQueryRequest(body, record, index.view, cluster.limits);
  const scale = { shards: cluster.shards, documentsMax: cluster.documentsMax(record.uid) };
  const plan = planQuery(request, index, cluster.limits, scale);
  // A shard that was restarted has only its newest state; what an older one showed may be gone. Then once more.
  const response =
    (await answer(cluster, index, request, plan, startedMs, trace)) ??
    (await answer(cluster, index, request, plan, startedMs, trace));
  if (response !== null) return response;
  throw new SkeinError("SK-SE-503", "The index changed while it was read; retry in a moment.", {
    retryAfter: 1,
  });
}

async function answer(
  cluster: Cluster,
  { record, view }: QueriedIndex,
  request: QueryRequest,
  plan: Plan,
  startedMs: number,
  trace: QueryTrace,
): Promise<Uint8Array | null> {
  const snapshot = cluster.snapshot(record.uid, trace);
  try {
    const optionsFor = (program: SearchProgram) => fetchOptions(request, plan.text, program, record.settings);
    const pageOf = (program: SearchProgram): PageWanted => ({
      offset: plan.offset,
      count: request.perPage,
      options: optionsFor(program),
    });
    const matched = await matchQuery(plan, snapshot, pageOf);
    const { program, results, documents } = matched;
    const window = { offset: plan.offset, count: request.perPage, facetValuesMax: request.maxFacetValues };
    const merged = mergeResults(results, program.sort, window);
    const related = request.perPage === 0 ? [] : await relatedWinners(plan, matched, snapshot);
    trace.found = merged.found;
    trace.enter("fetch");
    const { winners } = merged;
    const hits = await fetchHits(snapshot, [...winners, ...related], documents, optionsFor(program));
    if (hits === null) return null;
    const explanations = request.explain
      ? await explainWinners(snapshot, program, plan.text.words, winners, view)
      : [];
    trace.enter("respond");
    return encodeResponse({
      hits: hits.slice(0, winners.length).map((hit, i) => ({ ...hit, explanation: explanations[i] ?? null })),
      relatedHits: hits.slice(winners.length),
      found: merged.found,
      page: request.page,
      perPage: request.perPage,
      outOf: cluster.records(record.uid),
      facets: request.facets.map((field, i) => ({ field, counts: merged.facets[i] ?? [] })),
      suggestions: correctedQueries(plan.text, matched.words),
      curated: merged.pinsApplied || merged.applied.includes(true),
      tookMs: performance.now() - startedMs,
      queryId: randomUUID(),
    });
  } finally {
    snapshot.release();
  }
}
