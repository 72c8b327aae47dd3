// The slow-query log: what counts as slow, what a line contains, and that it never floods.
import { Writable } from "node:stream";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { SkeinError } from "../../../../server/ground/errors.js";
import { DEFAULT_LIMITS } from "../../../../server/ground/limits.js";
import { QueryTrace } from "../../../../server/ground/metrics/query-trace.js";
import { Recorder } from "../../../../server/ground/metrics/recorder.js";
import { SlowQueryLog } from "../../../../server/search/slow-query-log.js";
import { makeRecord } from "../record.js";

let lines: Record<string, unknown>[] = [];
let recorder = new Recorder();

function slowLog(slowMs: number): SlowQueryLog {
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
      done();
    },
  });
  return new SlowQueryLog(slowMs, DEFAULT_LIMITS.slowQueryLinesPerSecondMax, recorder, pino(sink));
}

let now = 0;

function traceOf(ms: number, shards = 1): QueryTrace {
  const trace = new QueryTrace();
  trace.shards = shards;
  now += ms;
  trace.found = 3;
  trace.stop();
  return trace;
}

const INDEX = makeRecord();

beforeEach(() => {
  lines = [];
  recorder = new Recorder();
  vi.spyOn(performance, "now").mockImplementation(() => now);
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe("the slow-query log", () => {
  test("records a query whose body is not JSON, without its members", () => {
    const error = new SkeinError("SK-SE-400", "not JSON");
    const value = (): never => {
      throw error;
    };
    slowLog(5).ended("request-1", INDEX, { value }, traceOf(6), error);
    expect(lines).toEqual([expect.objectContaining({ q: null, filter: null, error: "SK-SE-400" })]);
  });

  test("records the request, the duration of each phase and the number of hits", () => {
    const body = { q: "x".repeat(300), filter_by: "price:<3", facets: ["brand"], per_page: 10n };
    slowLog(5).ended("request-1", INDEX, { value: () => body }, traceOf(6, 4));
    expect(lines).toEqual([
      expect.objectContaining({
        msg: "slow query",
        id: "request-1",
        index: INDEX.name,
        tenant: INDEX.tenant,
        q: `${"x".repeat(200)}...`,
        filter: "price:<3",
        facets: '["brand"]',
        sort: null,
        found: 3,
        shards: 4,
      }),
    ]);
    const { took_ms, phases_ms } = lines[0] as { took_ms: number; phases_ms: Record<string, number> };
    expect(Object.keys(phases_ms)).toEqual(["plan", "expand", "search", "fetch", "respond"]);
    expect([took_ms, phases_ms.plan]).toEqual([6, 6]);
    expect(recorder.slowQueries).toBe(1);
  });

  test("ignores fast queries, and everything when it is off", () => {
    slowLog(1_000).ended("request-1", INDEX, { value: () => ({ q: "a" }) }, traceOf(1));
    slowLog(0).ended("request-1", INDEX, { value: () => ({ q: "a" }) }, traceOf(1));
    expect([lines.length, recorder.slowQueries]).toEqual([0, 0]);
  });

  test("accepts any body and says why a query was not answered", () => {
    const log = slowLog(1);
    log.ended("request-1", INDEX, { value: () => null }, traceOf(2), new SkeinError("SK-SE-503", "later"));
    log.ended(
      "request-1",
      INDEX,
      { value: () => ({ q: 5, filters: { year: 12345678901234567890n } }) },
      traceOf(2),
      new TypeError("odd"),
    );
    expect(lines).toEqual([
      expect.objectContaining({ q: null, filter: null, error: "SK-SE-503" }),
      expect.objectContaining({ q: "5", filter: '{"year":"12345678901234567890"}', error: "TypeError: odd" }),
    ]);
  });

  test("writes ten lines a second, counts all slow queries, and reports how many it left out", () => {
    const log = slowLog(1);
    const trace = traceOf(2);
    for (let i = 0; i < 25; i++) log.ended("request-1", INDEX, { value: () => ({ q: "a" }) }, trace);
    expect([lines.length, recorder.slowQueries]).toEqual([10, 25]);
    now += 1_000;
    log.ended("request-1", INDEX, { value: () => ({ q: "a" }) }, trace);
    expect(lines.length).toBe(11);
    expect(lines[10]).toMatchObject({ skipped: 15 });
  });
});
