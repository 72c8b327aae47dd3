// A front-end's thread that fills its heap or fails ends alone: its connections are cut, another thread takes
// its place, the other front-ends answer meanwhile, and all counts stay exact.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, expectStatus, TestServer } from "../world/harness.js";
import { readPrometheusText } from "../world/prometheus-text.js";
import { SHARING } from "../world/transports.js";
import { besides, type Client, oneForEach } from "./front-end-clients.js";

const QUERY = "/v1/indexes/shop/query";
const IMPORT = "/v1/indexes/shop/documents/import";
const SCHEMA = { fields: [{ name: "name", type: "string" }] };
/** What queries with these words do to their thread; see front-end-poison.mjs. */
const POISONS = [
  ["fills the heap in one turn", "poisonheap"],
  ["is one of many that fill the heap", "poisonleak"],
  ["throws where nobody catches it", "poisonthrow"],
] as const;
const NAMES = [...Array.from({ length: 40 }, () => "lamp"), ...POISONS.map(([, word]) => word)];
const DOCUMENTS = NAMES.map((name, i) => ({ id: String(i), name }));
const POISON = join(import.meta.dirname, "front-end-poison.mjs");
/** Scrapes within this many milliseconds share one reply. */
const SCRAPE_SHARED_MS = 300;
/** Enough for the front-ends to begin to read the index themselves. */
const QUERIES = 20;

describe.each(SHARING)("over %s", (http) => {
  let server: TestServer;
  let deaths = 0;

  beforeAll(async () => {
    server = await TestServer.start({
      shards: 1,
      frontEnds: 2,
      http,
      env: { NODE_OPTIONS: `--import=${POISON} --max-old-space-size=128` },
      // The front-ends answer all queries themselves, however busy the machine is.
      config: { limits: { localReadMsMax: 60_000, rememberedAnswersBytesMax: 1 } },
    });
    await server.createIndex("shop", SCHEMA, DOCUMENTS);
    expectStatus(await server.patch("/v1/indexes/shop/settings", { embedder: { source: "none" } }), 200);
  });

  afterAll(() => server.close());

  async function scraped(name: string, labels = {}): Promise<number> {
    await new Promise((resolve) => setTimeout(resolve, SCRAPE_SHARED_MS));
    return readPrometheusText((await server.get("/metrics")).text).value(name, labels) ?? 0;
  }

  /** What the server has counted so far: in the month's usage, in the metrics and in the query log. */
  async function counted(): Promise<number[]> {
    const usage = await server.get("/v1/usage");
    const [{ searches }] = usage.json.data.tenants as unknown as [{ searches: { used: number } }];
    const queries = await scraped("skein_query_duration_seconds_count");
    const log = await server.raw("GET", "/v1/indexes/shop/analytics/export");
    return [searches.used, queries, log.text.split("\n").filter((line) => line.includes("lamp")).length];
  }

  async function makeLocal(clients: readonly Client[]): Promise<void> {
    const locally = () => scraped("skein_local_reads_total", { result: "answered" });
    const ask = async (): Promise<void> => {
      for (const client of clients) await client.post(QUERY, { q: "lamp", analytics: false });
    };
    for (let i = 0; i < QUERIES; i++) await ask();
    let before = await locally();
    await eventually(async () => {
      await ask();
      const [last, now] = [before, await locally()];
      before = now;
      return now === last + clients.length;
    }, "the front-ends answer queries themselves");
  }

  test.each(POISONS)("a query that %s ends one front-end, which is replaced", async (_what, word) => {
    const clients = await oneForEach(server, 2, `probe-${word}`);
    const [dying, other] = clients as [Client, Client];
    await makeLocal(clients);
    const [sending, importing] = [await besides(dying), await besides(dying)];
    const before = await counted();
    const halves = [
      sending.half(QUERY, JSON.stringify({ q: "lamp" })),
      importing.half(IMPORT, `{"id":"new","name":"lantern"}\n${" ".repeat(100_000)}`, "application/x-ndjson"),
    ];
    await server.holds(halves.length);
    let answered = 0;
    const ask = async (client: Client, q: string): Promise<number | "cut"> => {
      const outcome = await client.post(QUERY, { q }).then(
        ({ status }) => status,
        () => "cut" as const,
      );
      if (outcome === 200) answered++;
      return outcome;
    };
    const poison = async (): Promise<number | "cut"> => {
      for (;;) {
        const outcome = await ask(dying, `lamp ${word}`);
        if (outcome !== 200) return outcome;
      }
    };
    expect(await ask(dying, "lamp")).toBe(200);
    const dies = poison();
    for (let i = 0; i < QUERIES; i++) expect(await ask(other, "lamp")).toBe(200);
    expect(await dies).toBe("cut");
    expect(await Promise.all(halves)).toEqual(["cut", "cut"]);
    deaths++;
    const isBack = ({ msg }: { msg?: unknown }): boolean => msg === "a front-end is back";
    await eventually(async () => {
      expect(server.running).toBe(true);
      return server.log.filter(isBack).length === deaths;
    }, "it is replaced");
    await server.holds(0);
    const counts = (await counted()).map((count, i) => count - before[i]!);
    expect(new Set(counts).size).toBe(1);
    // The query whose reply was cut off may have been answered, and thus counted, just before.
    expect([answered, answered + 1]).toContain(counts[0]);
    for (const client of [...clients, sending, importing]) client.close();
    const again = await oneForEach(server, 2, `again-${word}`);
    for (const client of again) {
      expect(await ask(client, "lamp")).toBe(200);
      client.close();
    }
  });

  test("the server has lived through all of this, and stops in good order", async () => {
    expect((await server.get("/health/live")).status).toBe(200);
    expect(await server.stop()).toBe(0);
  });
});
