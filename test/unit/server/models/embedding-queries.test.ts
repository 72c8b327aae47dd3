// Query vectors from an endpoint: they arrive quickly or not at all, each text is requested only once, and
// nothing is requested while the server is down.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SYSTEM_CLOCK } from "../../../../server/ground/outbound/patience.js";
import {
  type EmbeddingServer,
  hashedVector,
  startEmbeddingServer,
} from "../../../e2e/world/embedding-server.js";
import { TestClock } from "../ground/outbound/fetching.js";
import { endpointAt } from "./embedding-world.js";

let server: EmbeddingServer;
beforeEach(async () => {
  server = await startEmbeddingServer();
});
afterEach(() => server.close());

const vectorOf = (text: string): Float32Array => Float32Array.from(hashedVector(text));

/** Returns an answer that the server withholds until `open` is called: the server awaits `after` first. */
function gate(): { readonly after: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const after = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { after, open: () => open() };
}

/** Resolves with the promise's value if it is already settled, otherwise with "waits". */
function atOnce<T>(promise: Promise<T>): Promise<T | "waits"> {
  return Promise.race([promise, new Promise<"waits">((resolve) => setImmediate(resolve, "waits"))]);
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 1));
}

describe("a query", () => {
  test("gets its vector, and the same text gets it again without a request", async () => {
    const { endpoint, recorder } = endpointAt(server.url());
    expect(await endpoint.embedQuery(" red shoe ")).toEqual(vectorOf("red shoe"));
    const again = await endpoint.embedQuery("red shoe");
    expect(again).toBe(await endpoint.embedQuery("red shoe"));
    expect(server.texts()).toEqual(["red shoe"]);
    expect(recorder.embeddingCache).toMatchObject({ hits: 2, misses: 1 });
    expect(recorder.embeddings.query).toMatchObject({ requests: 1, failures: 0, texts: 1, missed: 0 });
    expect(recorder.embeddings.document.requests).toBe(0);
    endpoint.close();
  });

  test("of blanks gets none", async () => {
    const { endpoint, recorder } = endpointAt(server.url());
    expect([await endpoint.embedQuery(""), await endpoint.embedQuery(" \n")]).toEqual([null, null]);
    expect([server.requests.length, recorder.embeddings.query.missed]).toEqual([0, 0]);
    endpoint.close();
  });

  test("shares the request of another query with the same text", async () => {
    const { endpoint } = endpointAt(server.url());
    const held = gate();
    server.always(held);
    const vectors = Promise.all(Array.from({ length: 20 }, () => endpoint.embedQuery("red shoe")));
    await until(() => server.requests.length === 1);
    held.open();
    expect(await vectors).toEqual(new Array(20).fill(vectorOf("red shoe")));
    expect(server.texts()).toEqual(["red shoe"]);
    endpoint.close();
  });

  test("is batched with others while requests are in progress", async () => {
    const { endpoint } = endpointAt(server.url());
    const held = gate();
    server.always(held);
    const texts = Array.from({ length: 50 }, (_, i) => `text ${i}`);
    const vectors = Promise.all(texts.map((text) => endpoint.embedQuery(text)));
    await until(() => server.requests.length === 4);
    held.open();
    expect(await vectors).toEqual(texts.map(vectorOf));
    const sizes = server.requests.map(({ body }) => body.input.length);
    expect(sizes.slice(0, 4)).toEqual([1, 1, 1, 1]);
    expect(sizes.slice(4).sort()).toEqual([14, 32]);
    expect([...server.texts()].sort()).toEqual([...texts].sort());
    endpoint.close();
  });

  test("is turned away if too many are waiting", async () => {
    const { endpoint, recorder } = endpointAt(server.url());
    const held = gate();
    server.always(held);
    const all = Array.from({ length: 300 }, (_, i) => endpoint.embedQuery(`text ${i}`));
    const vectors = Promise.all(all);
    expect(await Promise.all(all.slice(260))).toEqual(new Array(40).fill(null));
    held.open();
    expect((await vectors).filter((vector) => vector !== null)).toHaveLength(260);
    expect(recorder.embeddings.query.missed).toBe(40);
    endpoint.close();
  });
});

describe("a slow server", () => {
  test("is not waited for, but its late replies are cached", async () => {
    const { endpoint, recorder } = endpointAt(server.url(), { embeddingQueryMsMax: 10 }, SYSTEM_CLOCK);
    const held = gate();
    server.script(held);
    expect(await endpoint.embedQuery("red shoe")).toBeNull();
    await until(() => server.requests.length === 1);
    held.open();
    await until(async () => (await endpoint.embedQuery("red shoe")) !== null);
    expect(recorder.embeddings.query.missed).toBeGreaterThan(0);
    endpoint.close();
  });

  test("is not asked again after three late replies, until a pause is over", async () => {
    const clock = new TestClock();
    const { endpoint } = endpointAt(server.url(), { embeddingQueryMsMax: 600_000 }, clock);
    for (let i = 0; i < 3; i++) {
      const held = gate();
      server.script(held);
      const vector = endpoint.embedQuery(`late ${i}`);
      await until(() => server.requests.length === i + 1);
      await clock.pause(700_000);
      held.open();
      expect(await vector).toEqual(vectorOf(`late ${i}`));
    }
    await until(() => endpoint.state.status === "down");
    expect(endpoint.state.lastError).toBe("the model took longer than 600000 ms");
    expect(await endpoint.embedQuery("another")).toBeNull();
    // Cached vectors are still available.
    expect(await endpoint.embedQuery("late 1")).toEqual(vectorOf("late 1"));
    expect(server.requests).toHaveLength(3);
    await clock.pause(1_000);
    expect(await endpoint.embedQuery("another")).toEqual(vectorOf("another"));
    expect(endpoint.state.status).toBe("up");
    endpoint.close();
  });

  test("is left alone after three queries, before their requests end; their vectors are cached", async () => {
    const clock = new TestClock();
    const { endpoint } = endpointAt(server.url(), { embeddingQueryMsMax: 20 }, clock);
    const held = gate();
    server.always(held);
    for (let i = 0; i < 3; i++) expect(await endpoint.embedQuery(`text ${i}`)).toBeNull();
    expect(endpoint.state).toMatchObject({ status: "down", lastError: "the model took longer than 20 ms" });
    expect(await atOnce(endpoint.embedQuery("text 3"))).toBeNull();
    expect(await atOnce(endpoint.embedQuery("text 0"))).toBeNull();
    await clock.pause(1_000);
    expect(await endpoint.embedQuery("tried")).toBeNull();
    await clock.pause(2_000);
    // The server may be tried again, but four requests are still in progress, so there is no room for
    // another.
    expect(await atOnce(endpoint.embedQuery("text 4"))).toBeNull();
    await until(() => server.requests.length >= 4);
    held.open();
    for (const text of ["text 0", "text 1", "text 2", "tried"])
      await until(async () => (await endpoint.embedQuery(text)) !== null);
    expect([server.texts(), endpoint.state.status]).toEqual([
      ["text 0", "text 1", "text 2", "tried"],
      "down",
    ]);
    endpoint.close();
  });

  test("yields null, and so does the end of the query's signal", async () => {
    const { endpoint } = endpointAt(server.url());
    server.always({ silent: "before" });
    const stop = new AbortController();
    const vector = endpoint.embedQuery("red shoe", stop.signal);
    await until(() => server.requests.length === 1);
    stop.abort();
    expect(await vector).toBeNull();
    expect(await endpoint.embedQuery("red shoe", AbortSignal.abort())).toBeNull();
    const closed = endpoint.embedQuery("red shoe");
    endpoint.close();
    expect([await closed, await endpoint.embedQuery("blue shoe")]).toEqual([null, null]);
  });
});

describe("a failing server", () => {
  test.each([
    ["with an error", { status: 500 }],
    ["with a refusal", { status: 401 }],
    ["by closing connections", { reset: true }],
    ["with nonsense", { body: "{}" }],
    ["with other dimensions", { items: () => [{ embedding: new Array(768).fill(1) }] }],
  ])("%s is left alone, then retried by one query", async (_name, answer) => {
    const clock = new TestClock();
    const { endpoint, recorder } = endpointAt(server.url(), {}, clock);
    server.always(answer);
    for (let i = 0; i < 6; i++) expect(await endpoint.embedQuery(`text ${i}`)).toBeNull();
    expect([server.requests.length, endpoint.state.status]).toEqual([3, "down"]);
    await clock.pause(1_000);
    // Only one of these three concurrent queries reaches the server.
    const tried = await Promise.all(["a", "b", "c"].map((text) => endpoint.embedQuery(text)));
    expect([tried, server.requests.length]).toEqual([[null, null, null], 4]);
    await clock.pause(1_999);
    expect(await endpoint.embedQuery("d")).toBeNull();
    expect(server.requests).toHaveLength(4);
    server.always(null);
    await clock.pause(1);
    expect(await endpoint.embedQuery("d")).toEqual(vectorOf("d"));
    expect(await endpoint.embedQuery("a")).toEqual(vectorOf("a"));
    expect(endpoint.state).toMatchObject({ status: "up", lastError: expect.any(String) });
    expect(recorder.embeddings.query).toMatchObject({ requests: 6, failures: 4, texts: 2, missed: 10 });
    endpoint.close();
  });

  test("that fails only now and then is still asked", async () => {
    const { endpoint } = endpointAt(server.url());
    for (let i = 0; i < 5; i++) {
      server.script({ status: 500 }, { status: 500 }, {});
      const vectors = [];
      for (let n = 0; n < 3; n++) vectors.push(await endpoint.embedQuery(`text ${i} ${n}`));
      expect(vectors).toEqual([null, null, vectorOf(`text ${i} 2`)]);
    }
    expect(endpoint.state.status).toBe("up");
    endpoint.close();
  });

  test("is left alone for as long as it says", async () => {
    const clock = new TestClock();
    const { endpoint } = endpointAt(server.url(), {}, clock);
    server.always({ status: 429, headers: { "retry-after": "30" } });
    for (let i = 0; i < 3; i++) await endpoint.embedQuery(`text ${i}`);
    server.always(null);
    await clock.pause(29_999);
    expect(await endpoint.embedQuery("a")).toBeNull();
    await clock.pause(1);
    expect(await endpoint.embedQuery("a")).toEqual(vectorOf("a"));
    endpoint.close();
  });

  test("does not block documents, nor the reverse", async () => {
    const clock = new TestClock();
    const { endpoint } = endpointAt(server.url(), {}, clock);
    server.always({ status: 401 });
    const signal = new AbortController().signal;
    await expect(endpoint.embedDocuments(["hat"], signal)).rejects.toThrow("status 401");
    server.always(null);
    expect(await endpoint.embedQuery("hat")).toEqual(vectorOf("hat"));
    expect(endpoint.state.status).toBe("down");
    await clock.pause(1_000);
    await endpoint.embedDocuments(["hat"], signal);
    expect(endpoint.state.status).toBe("up");
    endpoint.close();
  });
});
