// Everything that belongs to an index survives spreading: vectors from every source, a running feed's record
// of the documents that it has seen, and the plan's usage.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { embedderOf, idsOf, ready, toward } from "../semantic/near.js";
import { type EmbeddingServer, startEmbeddingServer } from "../world/embedding-server.js";
import { type FeedServer, startFeedServer } from "../world/feed-server.js";
import { ended, makeSource, runOf, sync, syncNow } from "../world/feeds.js";
import { eventually, expectStatus, sleep } from "../world/harness.js";
import { HOME_DOCUMENTS_MAX, SCHEMA, SpreadingWorld, things } from "./spreading-world.js";

const SHARDS = 3;
const BEGUN = things(0, HOME_DOCUMENTS_MAX);
const MORE = things(HOME_DOCUMENTS_MAX, 20);
const ALL = [...BEGUN, ...MORE];
/** Fills up the server's read buffer, so that it processes the preceding items without waiting for more. */
const PADDING = " ".repeat(100_000);

let endpoint: EmbeddingServer;
let feeds: FeedServer;
const world = new SpreadingWorld({
  shards: SHARDS,
  config: {
    ai: { allow_hosts: ["127.0.0.1"] },
    feeds: { allow_hosts: ["127.0.0.1"] },
    plans: [{ name: "small", documents: 100 }],
    // No cached answers: the shards answer every query, or the HTTP thread does so from their memory.
    limits: { rememberedAnswersBytesMax: 1 },
  },
});
const { server } = world;

beforeAll(async () => {
  endpoint = await startEmbeddingServer();
  feeds = await startFeedServer();
  await server.launch();
});

afterAll(async () => {
  await world.close();
  await endpoint.close();
  await feeds.close();
});

/**
 * Sends the queries, which leave no trace in analytics, and returns their results, with the id, text match
 * and match type of each hit.
 */
async function answers(index: string, queries: readonly object[]): Promise<unknown[]> {
  const told: unknown[] = [];
  for (const query of queries) {
    const reply = await server.query(index, { ...query, per_page: 100, analytics: false });
    expectStatus(reply, 200);
    const { hits, found, search_mode } = reply.json;
    told.push({
      found,
      search_mode,
      hits: hits.map(({ document, text_match, match_type }) => [document.id, text_match, match_type]),
    });
  }
  return told;
}

describe("vectors", () => {
  const direction = (i: number): number[] => toward(1, (i % 7) / 7, (i % 5) / 5, (i % 3) / 3);

  test("pushed with documents move with them", async () => {
    await world.make("pushed", { schema: SCHEMA, settings: { embedder: { source: "pushed" } } });
    const withVectors = ALL.map((one, i) => (i % 6 === 0 ? one : { ...one, embedding: direction(i) }));
    await world.write("pushed", withVectors.slice(0, HOME_DOCUMENTS_MAX));
    const queries = ["semantic", "hybrid"].flatMap((search_mode) =>
      [0, 8, 13].map((i) => ({
        q: `number${i}`,
        search_mode,
        vector: direction(i),
        filter_by: "number:<60",
      })),
    );
    const grow = () => world.write("pushed", withVectors.slice(HOME_DOCUMENTS_MAX));
    // The home shard answers queries until the spreading ends.
    const before = await world.whileHeld("spread.after-decision", grow, () => answers("pushed", queries));
    await world.spread("pushed");
    expect(await answers("pushed", queries)).toEqual(before);
    await ready(server, "pushed", "pushed", withVectors.filter((one) => "embedding" in one).length);
    const found = await server.query("pushed", {
      q: "*",
      search_mode: "semantic",
      vector: direction(71),
      per_page: 100,
    });
    expect(idsOf(found)).toContain("d71");
    await world.expectThings("pushed", ALL);
  });

  test("from an endpoint move, and no text is requested again", async () => {
    const embedder = { source: "endpoint", url: endpoint.url(), model: "small" };
    await world.make("asked", { schema: SCHEMA, settings: { embedder } }, BEGUN);
    await ready(server, "asked", "endpoint", BEGUN.length);
    // Waits long enough for the server to check for waiting documents while two shards have the index's
    // documents.
    await world.whileHeld(
      "spread.after-decision",
      () => world.write("asked", MORE),
      () => sleep(1_500),
    );
    await world.spread("asked");
    await ready(server, "asked", "endpoint", ALL.length);
    const texts = endpoint.texts();
    expect(texts.length).toBe(new Set(texts).size);
    expect(texts.length).toBe(ALL.length);
    await eventually(async () => {
      const reply = await server.query("asked", { q: "thing number7", search_mode: "semantic" });
      expect(idsOf(reply)[0]).toBe("d7");
      // The mode is "keyword" if the endpoint is late on a busy machine.
      return reply.json.search_mode === "semantic";
    }, "the endpoint is in time");
  });

  test("still being computed by the endpoint during spreading are not requested again", async () => {
    let answer = (): void => undefined;
    const after = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const before = endpoint.texts().length;
    endpoint.always({ after });
    const embedder = { source: "endpoint", url: endpoint.url(), model: "slow" };
    await world.make(
      "slow",
      { schema: SCHEMA, settings: { embedder } },
      things(0, HOME_DOCUMENTS_MAX, "slow"),
    );
    await eventually(async () => endpoint.texts().length > before, "the endpoint is asked");
    await world.write("slow", things(HOME_DOCUMENTS_MAX, 20, "slow"));
    await world.spread("slow");
    endpoint.always(null);
    answer();
    await ready(server, "slow", "endpoint", ALL.length);
    const texts = endpoint.texts().slice(before);
    expect(texts.length).toBe(new Set(texts).size);
    expect(texts.length).toBe(ALL.length);
  });

  test("from an index's own model move with the model", async () => {
    const themes = ["red shoe leather sole", "hot coffee bean cup", "loud guitar string amp"];
    const texts = ALL.map((one, i) => ({ ...one, title: `${themes[i % 3]} number${i}` }));
    const settings = { embedder: { source: "documents" } };
    await world.make("own", { schema: SCHEMA, settings }, texts.slice(0, HOME_DOCUMENTS_MAX));
    await ready(server, "own", "documents", HOME_DOCUMENTS_MAX);
    const modelOf = async () => {
      const { number, documents } = (await embedderOf(server, "own")).model!;
      return { number, documents };
    };
    const model = await modelOf();
    const queries = ["coffee bean", "leather", "guitar amp"].map((q) => ({
      q,
      search_mode: "semantic",
      filter_by: "number:<60",
    }));
    const grow = () => world.write("own", texts.slice(HOME_DOCUMENTS_MAX));
    const before = await world.whileHeld("spread.after-decision", grow, async () => {
      await ready(server, "own", "documents", ALL.length);
      return answers("own", queries);
    });
    await world.spread("own");
    await ready(server, "own", "documents", ALL.length);
    expect(await modelOf()).toEqual(model);
    expect(await answers("own", queries)).toEqual(before);
    await world.expectThings("own", texts);
  });
});

describe("a feed", () => {
  test("whose run crosses the limit deletes exactly the documents it lacks", async () => {
    const seen = things(0, 25);
    const unseen = things(200, 20);
    await world.make("fed", undefined, [...seen, ...unseen]);
    const url = feeds.url("/fed");
    const source = await makeSource(server, "fed", {
      url,
      format: "json",
      sync_mode: "replace",
      max_delete_ratio: 1,
    });
    const line = (one: object): string => `${JSON.stringify(one)}\n`;
    let goOn = (): void => undefined;
    const spread = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    feeds.route("/fed", {
      headers: { "content-type": "application/x-ndjson" },
      body: async function* () {
        yield Buffer.from(seen.map(line).join("") + PADDING);
        yield Buffer.from(things(25, 45).map(line).join("") + PADDING);
        await spread;
        yield Buffer.from(things(70, 30).map(line).join(""));
      },
    });
    const run = await syncNow(server, source);
    await eventually(
      async () => (await runOf(server, source, run)).documents_imported >= 45,
      "half is written",
    );
    await world.spread("fed");
    await world.write("fed", things(300, 5)); // written by another client after the run began
    goOn();
    expect(await ended(server, source, run)).toMatchObject({
      status: "completed",
      documents_unchanged: 25,
      documents_imported: 75,
      documents_deleted: 20,
    });
    await world.expectThings("fed", [...things(0, 100), ...things(300, 5)]);
    expect(await sync(server, source)).toMatchObject({ documents_unchanged: 100, documents_deleted: 5 });
    await world.expectThings("fed", things(0, 100));
  });
});

describe("many bytes", () => {
  test("in few documents cause an index to be spread, too", async () => {
    const large = new SpreadingWorld({
      shards: SHARDS,
      config: { limits: { homeDocumentsMax: 30_000, homeBytesMax: 4_000_000 } },
    });
    try {
      await large.server.launch();
      const random = () => randomBytes(150_000).toString("base64");
      const heavy = (from: number) => things(from, 40).map((one) => ({ ...one, weight: random() }));
      await large.make("heavy", { schema: SCHEMA });
      let written = 0;
      // Data that the database has not yet written to a table file is not counted.
      for (let at = 0; (await large.shardsOf("heavy")) === 1; at += 40) {
        await large.write("heavy", heavy(at));
        written += 40;
      }
      await large.spread("heavy");
      expect(await large.found("heavy")).toBe(written);
    } finally {
      await large.close();
    }
  });
});

describe("a plan's document count", () => {
  test("is exact when many concurrent writers cross the limit", async () => {
    const made = await server.post("/v1/tenants", { name: "planned", plan: "small" });
    const { key } = made.json.data.admin_key as { key: string };
    expectStatus(await server.post("/v1/indexes", { name: "planned", schema: SCHEMA }, { key }), 201);
    const batches = Array.from({ length: 16 }, (_, i) => things(i * 10, 13)); // the batches overlap
    const replies = await Promise.all(
      batches.map((documents) => server.post("/v1/indexes/planned/documents/batch", { documents }, { key })),
    );
    for (const reply of replies) {
      expectStatus(reply, 200);
      for (const { code } of reply.json.data.errors) expect(code).toBe("SK-SYS-429");
    }
    const stats = async () => (await server.get("/v1/indexes/planned/stats", { key })).json.data;
    await eventually(async () => (await stats()).shards === SHARDS, "it is spread");
    expect((await stats()).records_count).toBe(100);
    const { text } = await server.raw("GET", "/v1/indexes/planned/documents/export", { key });
    expect(new Set(text.trim().split("\n")).size).toBe(100);
    const one = { documents: [{ id: "over", title: "x" }] };
    const over = await server.post("/v1/indexes/planned/documents/batch", one, { key });
    expect(over.json.data.errors.map(({ code }) => code)).toEqual(["SK-SYS-429"]);
  });
});
