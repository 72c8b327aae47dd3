// A whole query on one screen: request -> plan -> expand and search in all shards -> merge -> fetch -> respond.
// Each step is a file of its own; here is only their order. docs/ranking.md tells how documents are ranked.
import { randomUUID } from "node:crypto";
import type { SearchProgram } from "../../engine-wasm/host/search-program.js";
import type { IndexRecord } from "../catalog/types.js";
import { SkeinError } from "../errors.js";
import type { Cluster } from "./cluster.js";
import { fetchHits, fetchOptions } from "./fetch.js";
import { viewOf } from "./index-view.js";
import { matchQuery } from "./match.js";
import { mergeResults } from "./merge.js";
import { type Plan, planQuery } from "./plan.js";
import { type QueryRequest, readQueryRequest } from "./query-request.js";
import { encodeResponse } from "./respond.js";
import type { PageWanted } from "./snapshot.js";

/** The complete JSON answer to a query body. Throws SkeinError. */
export async function search(cluster: Cluster, record: IndexRecord, body: unknown): Promise<Uint8Array> {
  const startedMs = performance.now();
  const view = viewOf(record);
  const request = readQueryRequest(body, record, view, cluster.limits);
  const scale = { shards: cluster.shards, documentsMax: cluster.documentsMax(record.uid) };
  const plan = planQuery(request, record, view, cluster.analyser(record), cluster.limits, scale);
  // A shard that was restarted has only its newest state; what an older one showed may be gone. Then once more.
  const response =
    (await answer(cluster, record, request, plan, startedMs)) ??
    (await answer(cluster, record, request, plan, startedMs));
  if (response !== null) return response;
  throw new SkeinError("SK-SE-503", "The index changed while it was read; retry in a moment.", {
    retryAfter: 1,
  });
}

async function answer(
  cluster: Cluster,
  record: IndexRecord,
  request: QueryRequest,
  plan: Plan,
  startedMs: number,
): Promise<Uint8Array | null> {
  const snapshot = cluster.snapshot(record.uid);
  try {
    const pageOf = (program: SearchProgram): PageWanted => ({
      offset: plan.offset,
      count: request.perPage,
      options: fetchOptions(request, program, record.settings.highlight),
    });
    const { program, results, documents } = await matchQuery(plan, snapshot, pageOf);
    const { offset, count, options } = pageOf(program);
    const window = { offset, count, facetValuesMax: request.maxFacetValues };
    const merged = mergeResults(results, program.sort, window);
    const hits = await fetchHits(snapshot, merged.winners, documents, options);
    if (hits === null) return null;
    return encodeResponse({
      hits,
      found: merged.found,
      page: request.page,
      perPage: request.perPage,
      outOf: cluster.records(record.uid),
      facets: request.facets.map((field, i) => ({ field, counts: merged.facets[i] ?? [] })),
      tookMs: performance.now() - startedMs,
      queryId: randomUUID(),
    });
  } finally {
    snapshot.release();
  }
}
