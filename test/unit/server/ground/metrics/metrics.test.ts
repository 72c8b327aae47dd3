// The server's own counters and how they are printed.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Exposition } from "../../../../../server/ground/metrics/exposition.js";
import { HISTOGRAMS, NUMBERS, OTHERS } from "../../../../../server/ground/metrics/families.js";
import { DurationHistogram } from "../../../../../server/ground/metrics/histogram.js";
import { QUERY_PHASES, QueryTrace } from "../../../../../server/ground/metrics/query-trace.js";
import type { IndexReading, Readings } from "../../../../../server/ground/metrics/readings.js";
import { Recorder } from "../../../../../server/ground/metrics/recorder.js";
import {
  type RecorderValues,
  sumOf,
  ToldValues,
} from "../../../../../server/ground/metrics/recorder-values.js";
import { readPrometheusText } from "../../../../e2e/world/prometheus-text.js";

const STATS = {
  liveDocs: 1,
  deletedRows: 2,
  segments: 3,
  segmentBytes: 4,
  memoryBytes: 5,
  terms: 6,
  staleSegments: 7,
  merging: true,
  maintenanceDue: false,
  queuedBytes: 8,
  vectors: 0,
  pending: 0,
  codesBytes: 0,
  modelNumber: 0,
  modelBytes: 0,
  modelDocuments: 0,
  modelFields: 0,
  modelTrainedAt: 0,
  modelTookMs: 0,
};
const INDEX: IndexReading = {
  name: "shop",
  tenant: 7,
  documents: 10,
  generation: 11,
  pendingWrites: 1,
  stats: STATS,
};
const READINGS: Readings = {
  shards: [
    {
      shard: 0,
      up: true,
      answerMs: 2.5,
      sent: 6,
      activeSeconds: 1.5,
      inside: 3,
      waiting: 0,
      refused: 4,
      restarts: 0,
    },
    {
      shard: 1,
      up: false,
      answerMs: null,
      sent: 8,
      activeSeconds: null,
      inside: 9,
      waiting: 9,
      refused: 0,
      restarts: 2,
    },
  ],
  shardRequestsMax: 100,
  indexes: [INDEX, { ...INDEX, name: "half", stats: null }],
  overdueSources: [{ index: "shop", tenant: 1, source: 4 }],
  otherDocuments: 77,
  residency: { loaded: 2, openings: 9, unloads: 7 },
  unsentBytes: 4096,
  statuses: new Map([["active", 5]]),
  disk: { freeBytes: 1, sizeBytes: 2 },
};

describe("a duration histogram", () => {
  test("counts a value in the first bucket that holds it", () => {
    const histogram = new DurationHistogram([0.1, 1, 10]);
    for (const value of [0, 0.1, 0.100001, 1, 5, 10, 10.5, 1e9]) histogram.observe(value);
    const { counts, sum } = histogram.values();
    expect([...counts]).toEqual([
      [0.1, 2],
      [1, 2],
      [10, 2],
      [Number.POSITIVE_INFINITY, 2],
    ]);
    expect(sum).toBeCloseTo(1e9 + 26.700001);
  });
});

describe("a query's stopwatch", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test("assigns all time to the most recently entered phase, even if it is entered twice", () => {
    let now = 5;
    vi.spyOn(performance, "now").mockImplementation(() => now);
    const trace = new QueryTrace();
    now += 12;
    trace.enter("expand");
    now += 10;
    trace.enter("search");
    now += 1;
    trace.enter("expand");
    now += 7;
    trace.stop();
    now += 50;
    expect(QUERY_PHASES.map((phase) => trace.phaseMs(phase))).toEqual([12, 0, 17, 1, 0, 0, 0]);
    expect(trace.totalMs).toBe(30);
  });
});

describe("the metrics recorder", () => {
  test("separates requests by route, method and status; unknown methods share a label", () => {
    const recorder = new Recorder();
    for (const [method, status] of [
      ["GET", 200],
      ["GET", 200],
      ["GET", 404],
      ["POST", 200],
      ["BREW", 405],
      ["STEW", 405],
    ] as const) {
      recorder.requestStarted();
      recorder.requestFinished(method, "/a/{b}", status, 20);
    }
    recorder.requestStarted();
    const requests = recorder.values().requests.get("/a/{b}")!;
    const counts = Array.from(requests, ([method, { byStatus }]) => [method, Object.fromEntries(byStatus)]);
    expect(counts).toEqual([
      ["GET", { 200: 2, 404: 1 }],
      ["POST", { 200: 1 }],
      ["other", { 405: 2 }],
    ]);
    expect(recorder.requestsInFlight).toBe(1);
    expect(requests.get("GET")!.durations.sum).toBeCloseTo(0.06);
  });
});

test("keeps an ended thread's counts and adds them to its successor's", () => {
  const told = new ToldValues();
  expect(told.all()).toEqual([]);
  const [first, second] = [new Recorder(), new Recorder()];
  first.slowQueries = 2;
  first.requestStarted();
  told.told(1, first.values());
  first.slowQueries = 3;
  told.told(1, first.values());
  const sum = () => sumOf(told.all() as [RecorderValues]);
  expect([sum().slowQueries, sum().requestsInFlight]).toEqual([3, 1]);
  told.ended(1);
  told.ended(1);
  expect([sum().slowQueries, sum().requestsInFlight]).toEqual([3, 0]);
  second.slowQueries = 1;
  told.told(1, second.values());
  expect(sum().slowQueries).toBe(4);
  told.ended(1);
  expect([sum().slowQueries, told.all().length]).toEqual([4, 1]);
});

describe("the metrics text", () => {
  test("is in Prometheus format with counted and measured values", async () => {
    const recorder = new Recorder();
    recorder.requestFinished("POST", "/v1/indexes/{name}/query", 200, 3);
    recorder.documentsTaken("import", 5, 2);
    recorder.documentsTaken("feed", 4, 0);
    recorder.documentBytes("import", 1000);
    recorder.expansionCache.hits = 3;
    const trace = new QueryTrace();
    trace.stop();
    recorder.queryAnswered(trace);
    const exposition = new Exposition(recorder);
    const scraped = readPrometheusText(await exposition.text(READINGS));
    const query = { method: "POST", route: "/v1/indexes/{name}/query" };
    expect(scraped.value("skein_http_requests_total", { ...query, status: 200 })).toBe(1);
    const bucket = (le: string) =>
      scraped.value("skein_http_request_duration_seconds_bucket", { ...query, le });
    expect([bucket("0.0025"), bucket("0.005"), bucket("+Inf")]).toEqual([0, 1, 1]);
    expect(scraped.value("skein_query_phase_duration_seconds_count", { phase: "fetch" })).toBe(1);
    expect(scraped.value("skein_documents_total", { source: "import", result: "rejected" })).toBe(2);
    expect(scraped.value("skein_documents_total", { source: "feed", result: "accepted" })).toBe(4);
    expect(scraped.value("skein_document_bytes_total", { source: "import" })).toBe(1000);
    expect(scraped.value("skein_cache_requests_total", { cache: "expansion", result: "hit" })).toBe(3);
    expect(scraped.value("skein_shard_up", { shard: 1 })).toBe(0);
    expect(scraped.value("skein_shard_answer_seconds", { shard: 0 })).toBe(0.0025);
    expect(scraped.value("skein_shard_answer_seconds", { shard: 1 })).toBeUndefined();
    expect(scraped.value("skein_shard_restarts_total", { shard: 1 })).toBe(2);
    expect(scraped.value("skein_shard_requests_total", { shard: 1 })).toBe(8);
    expect(scraped.value("skein_shard_active_seconds_total", { shard: 0 })).toBe(1.5);
    expect(scraped.value("skein_shard_active_seconds_total", { shard: 1 })).toBeUndefined();
    expect(scraped.value("skein_http_thread_active_seconds_total")).toBeGreaterThan(0);
    expect(scraped.value("skein_index_memory_bytes", { index: "shop", tenant: 7 })).toBe(5);
    expect(scraped.value("skein_index_memory_bytes", { index: "half", tenant: 7 })).toBeUndefined();
    expect(scraped.value("skein_index_documents", { index: "half", tenant: 7 })).toBe(10);
    expect(scraped.value("skein_index_documents", { index: OTHERS, tenant: OTHERS })).toBe(77);
    expect(scraped.types.get("skein_http_requests_total")).toBe("counter");
    expect(scraped.value("skein_process_resident_memory_bytes")).toBeGreaterThan(0);
    expect(scraped.types.get("skein_nodejs_gc_duration_seconds")).toBe("histogram");
  });

  test("adds up the recorders of several threads", async () => {
    const [owner, first, second] = [new Recorder(), new Recorder(), new Recorder()];
    const route = "/v1/indexes/{name}/query";
    owner.requestFinished("GET", "/v1/health", 200, 3);
    for (const recorder of [first, first, second]) {
      recorder.requestStarted();
      recorder.requestFinished("POST", route, 200, 3);
    }
    second.requestFinished("POST", route, 404, 60);
    second.feedRunEnded("failed");
    first.embeddings.query.answered(3, 20);
    second.embeddings.query.failed(20);
    first.answerCache.hits = 5;
    second.answerCache.hits = 6;
    const others = [first, second].map((recorder) => structuredClone(recorder.values()));
    const text = await new Exposition(owner).text(READINGS, others);
    const scraped = readPrometheusText(text);
    const query = { method: "POST", route };
    expect(scraped.value("skein_http_requests_total", { ...query, status: 200 })).toBe(3);
    expect(scraped.value("skein_http_requests_total", { ...query, status: 404 })).toBe(1);
    expect(
      scraped.value("skein_http_requests_total", { method: "GET", route: "/v1/health", status: 200 }),
    ).toBe(1);
    const bucket = (le: string) =>
      scraped.value("skein_http_request_duration_seconds_bucket", { ...query, le });
    expect([bucket("0.0025"), bucket("0.005"), bucket("0.05"), bucket("0.1"), bucket("+Inf")]).toEqual([
      0, 3, 3, 4, 4,
    ]);
    expect(scraped.value("skein_http_request_duration_seconds_sum", query)).toBeCloseTo(0.069);
    expect(scraped.value("skein_feed_runs_total", { status: "failed" })).toBe(1);
    expect(scraped.value("skein_cache_requests_total", { cache: "answer", result: "hit" })).toBe(11);
    expect(scraped.value("skein_embedding_requests_total", { purpose: "query", result: "ok" })).toBe(1);
    expect(scraped.value("skein_embedding_request_duration_seconds_count", { purpose: "query" })).toBe(2);
  });

  test("forgets a deleted index and never counts twice", async () => {
    const recorder = new Recorder();
    recorder.slowQueries = 2;
    const exposition = new Exposition(recorder);
    await exposition.text(READINGS);
    const scraped = readPrometheusText(await exposition.text({ ...READINGS, indexes: [] }));
    expect(scraped.value("skein_slow_queries_total")).toBe(2);
    expect(scraped.labelValues("skein_index_segments", "index").size).toBe(0);
  });

  test("every metric is documented for operators, and nothing else is", () => {
    const page = readFileSync(join(import.meta.dirname, "../../../../../docs/OPERATIONS.md"), "utf8");
    const listed = new Set(Array.from(page.matchAll(/^\| `(skein_\w+)`/gm), ([, name]) => name));
    const known = [...HISTOGRAMS, ...NUMBERS].map(({ name }) => `skein_${name}`);
    expect([...listed].sort()).toEqual(known.sort());
  });
});
