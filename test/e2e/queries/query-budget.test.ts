// A warm query that the HTTP thread answers alone has a budget: how much it may allocate, and that it makes
// no promise. Counts, not times, so the result does not depend on the machine. Whatever is added to the road
// of a query must fit into the budget.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { generateCatalogue } from "../../../bench/catalogue/generate.js";
import type { MeterReading } from "../../../bench/road/query-meter.js";
import { builtFile } from "../../../engine-wasm/host/runtime/built-files.js";
import { eventually, expectStatus, TestServer } from "../world/harness.js";

const DOCUMENTS = 1_000;
/** Queries of each kind before counting begins: enough for V8 to compile what they run. */
const WARM_UP = 1_000;
const GROUPS = 12;
const GROUP_QUERIES = 20;
/** Bytes on the heap that a query may allocate. V8 may not have optimised all of its code yet. */
const HEAP_BYTES_MAX = 49_152;
/** Bytes of new buffers: a query's share of Node's pool. */
const BUFFER_BYTES_MAX = 4_096;
/** Searches of a multi-search. */
const SLOTS = 10;
/** Bytes of new buffers for each of them: copies of its answer. */
const SLOT_BYTES_MAX = 16_384;
const READINGS = ["promises", "heapBytes", "bufferBytes"] as const;

const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "brand", type: "string", facet: true },
    { name: "color", type: "string", facet: true },
    { name: "description", type: "string" },
    { name: "price", type: "float", sort: true },
  ],
};
const KINDS = [
  { kind: "plain words", body: (words: string) => ({ q: words }) },
  { kind: "typo", body: (words: string) => ({ q: `${words}x` }) },
  { kind: "facets", body: (words: string) => ({ q: words, facets: ["brand", "color"] }) },
  { kind: "filter", body: (words: string) => ({ q: words, filter_by: "price:[1..500]" }) },
  { kind: "sort", body: (words: string) => ({ q: words, sort: "price:asc" }) },
  { kind: "browse", body: () => ({ q: "*", facets: ["brand"] }) },
];

describe("a warm local query stays within its budget", () => {
  let server: TestServer;
  const words: string[] = [];

  beforeAll(async () => {
    server = await TestServer.start({
      shards: 1,
      frontEnds: 1,
      config: { limits: { rememberedAnswersBytesMax: 1, localReadMsMax: 10_000 } },
      env: { NODE_OPTIONS: `--import=${builtFile("bench/road/query-meter.js")}` },
    });
    const documents = Array.from(generateCatalogue(DOCUMENTS, 1), (line) => JSON.parse(line));
    for (const { title } of documents) words.push(title.split(" ").slice(-2).join(" "));
    await server.createIndex("shop", SCHEMA, documents);
    expectStatus(await server.patch("/v1/indexes/shop/settings", { embedder: { source: "none" } }), 200);
    const isWarmedUp = async () => server.log.some(({ msg }) => msg === "warmed up");
    await eventually(isWarmedUp, "the queries of the warm-up have ended");
  });

  afterAll(() => server.close());

  test.each(KINDS)("$kind", async ({ body }) => {
    let sent = 0;
    const ask = async (queries: number): Promise<void> => {
      for (let i = 0; i < queries; i++) {
        expectStatus(await server.query("shop", body(words[sent++ % words.length]!)), 200);
      }
    };
    await ask(WARM_UP);
    const each = await eachOf(server, ask);
    expect(each.promises).toBe(0);
    expect(each.heapBytes).toBeLessThan(HEAP_BYTES_MAX);
    expect(each.bufferBytes).toBeLessThan(BUFFER_BYTES_MAX);
  });

  test("the searches of a multi-search use buffers again", async () => {
    let sent = 0;
    const search = () => ({ index: "shop", q: words[sent++ % words.length]!, per_page: 1 });
    const ask = async (requests: number): Promise<void> => {
      for (let i = 0; i < requests; i++) {
        const searches = Array.from({ length: SLOTS }, search);
        expectStatus(await server.post("/v1/multi-search", { searches }), 200);
      }
    };
    await ask(WARM_UP / SLOTS);
    const each = await eachOf(server, ask);
    expect(each.bufferBytes).toBeLessThan(SLOTS * SLOT_BYTES_MAX);
  });
});

/** What each request adds to the readings. `ask` sends the given number of requests. */
async function eachOf(server: TestServer, ask: (requests: number) => Promise<void>): Promise<MeterReading> {
  const idle = await counted(server, () => Promise.resolve());
  const used = await counted(server, () => ask(GROUP_QUERIES));
  const each = (name: keyof MeterReading): number => (used[name] - idle[name]) / GROUP_QUERIES;
  return { promises: each("promises"), heapBytes: each("heapBytes"), bufferBytes: each("bufferBytes") };
}

/**
 * By how much the readings grow during the work, each the least of several groups: background work adds to
 * some groups. A group during which the heap or the buffers shrank is left out: a collection frees more than
 * a group allocates, and buffers later than objects.
 */
async function counted(server: TestServer, work: () => Promise<void>): Promise<MeterReading> {
  const least = { promises: Infinity, heapBytes: Infinity, bufferBytes: Infinity };
  for (let group = 0; group < GROUPS; group++) {
    const before = await reading(server);
    await work();
    const after = await reading(server);
    if (after.heapBytes < before.heapBytes || after.bufferBytes < before.bufferBytes) continue;
    for (const name of READINGS) least[name] = Math.min(least[name], after[name] - before[name]);
  }
  return least;
}

async function reading(server: TestServer): Promise<MeterReading> {
  const readings = (): unknown[] => server.log.filter(({ meter }) => meter !== undefined);
  const before = readings().length;
  process.kill(server.pid, "SIGUSR2");
  await eventually(async () => readings().length > before, "the meter has been read");
  return (readings().at(-1) as { meter: MeterReading }).meter;
}
