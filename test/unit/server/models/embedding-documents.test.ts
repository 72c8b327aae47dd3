// Document vectors from an endpoint: batches, which requests are retried and when, which documents get no
// vector, and which replies count as failures of the server.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { EmbeddingEndpoint } from "../../../../server/models/embedding-endpoint.js";
import { EndpointError } from "../../../../server/models/model-server.js";
import {
  type EmbeddingAnswer,
  type EmbeddingItem,
  type EmbeddingServer,
  hashedVector,
  startEmbeddingServer,
} from "../../../e2e/world/embedding-server.js";
import { TestClock } from "../ground/outbound/fetching.js";
import { endpointAt, failureOf, NEVER } from "./embedding-world.js";

let server: EmbeddingServer;
let clock: TestClock;
beforeEach(async () => {
  server = await startEmbeddingServer();
  clock = new TestClock();
});
afterEach(() => server.close());

const vectorOf = (text: string): number[] => [...Float32Array.from(hashedVector(text))];
const numbered = (count: number): string[] => Array.from({ length: count }, (_, i) => `shoe number ${i}`);
const sizes = (): number[] => server.requests.map(({ body }) => body.input.length);

describe("embedding documents", () => {
  test("returns vectors in the order of the texts, whatever the order of the reply", async () => {
    const { endpoint, recorder } = endpointAt(server.url(), {}, clock);
    server.script({ items: (items) => [...items].reverse() });
    const texts = ["red shoe", "blue hat", "  green sock\n"];
    const vectors = await endpoint.embedDocuments(texts, NEVER);
    expect(vectors.map((vector) => [...vector])).toEqual(texts.map(vectorOf));
    expect(server.requests[0]!.body).toEqual({
      model: "small",
      input: ["red shoe", "blue hat", "green sock"],
      dimensions: 512,
      encoding_format: "float",
    });
    expect(recorder.embeddings.document).toMatchObject({ requests: 1, failures: 0, texts: 3 });
    expect(endpoint.state).toMatchObject({
      status: "up",
      lastError: null,
      lastSuccessAt: expect.any(String),
    });
    endpoint.close();
  });

  test("accepts a reply without indexes, in the order of the texts", async () => {
    const { endpoint } = endpointAt(server.url(), {}, clock);
    server.script({ items: (items) => items.map(({ embedding }) => ({ embedding })) });
    const [first, second] = await endpoint.embedDocuments(["a b", "c d"], NEVER);
    expect([[...first!], [...second!]]).toEqual([vectorOf("a b"), vectorOf("c d")]);
    endpoint.close();
  });

  test("gives documents without text zeros, without a request", async () => {
    const { endpoint } = endpointAt(server.url(), {}, clock);
    expect(await endpoint.embedDocuments([], NEVER)).toEqual([]);
    expect(await endpoint.embedDocuments(["", " \n"], NEVER)).toEqual([
      new Float32Array(512),
      new Float32Array(512),
    ]);
    expect(server.requests).toEqual([]);
    const [none, some] = await endpoint.embedDocuments(["", "hat"], NEVER);
    expect([[...none!], [...some!]]).toEqual([new Array(512).fill(0), vectorOf("hat")]);
    endpoint.close();
  });

  test("sends batches limited in texts and characters, a few at a time", async () => {
    const limits = {
      embeddingBatchTextsMax: 10,
      embeddingBatchCharactersMax: 1_000,
      embeddingRequestsAtOnceMax: 3,
    };
    const { endpoint } = endpointAt(server.url(), limits, clock);
    const texts = [...numbered(95), ...numbered(5).map((text) => text.padEnd(400, "x"))];
    let release = (): void => undefined;
    const after = new Promise<void>((resolve) => {
      release = resolve;
    });
    server.always({ after });
    const embedded = endpoint.embedDocuments(texts, NEVER);
    const others = endpoint.embedDocuments(numbered(40), NEVER);
    while (server.requests.length < 3) await new Promise(setImmediate);
    release();
    expect((await embedded).map((vector) => [...vector])).toEqual(texts.map(vectorOf));
    expect((await others).map((vector) => [...vector])).toEqual(numbered(40).map(vectorOf));
    expect(Math.max(...sizes())).toBe(10);
    for (const { body } of server.requests)
      expect(body.input.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(1_000);
    expect(server.atOnceMax).toBe(3);
    endpoint.close();
  });

  test("truncates texts to the maximum length, not within a character", async () => {
    const { endpoint } = endpointAt(server.url(), { embeddingTextCharactersMax: 5 }, clock);
    await endpoint.embedDocuments(["abcdefgh", "abcd👟"], NEVER);
    expect(server.texts()).toEqual(["abcde", "abcd"]);
    endpoint.close();
  });
});

describe("a temporary failure", () => {
  test.each([
    ["a status", { status: 502 }],
    ["a full server", { status: 429 }],
    ["a broken connection", { reset: true }],
  ])("is retried after growing pauses: %s", async (_name, answer) => {
    const { endpoint, recorder } = endpointAt(server.url(), {}, clock);
    server.script(answer, answer, answer, answer);
    const [vector] = await endpoint.embedDocuments(["hat"], NEVER);
    expect([...vector!]).toEqual(vectorOf("hat"));
    expect(clock.pauses).toEqual([500, 2_000, 8_000, 30_000]);
    expect(recorder.embeddings.document).toMatchObject({ requests: 5, failures: 4, texts: 1 });
    expect(endpoint.state.status).toBe("up");
    endpoint.close();
  });

  test("is retried when the server asks for it", async () => {
    const { endpoint } = endpointAt(server.url(), {}, clock);
    server.script({ status: 429, headers: { "retry-after": "20" } }, { status: 503 });
    await endpoint.embedDocuments(["hat"], NEVER);
    expect(clock.pauses).toEqual([20_000, 2_000]);
    endpoint.close();
  });

  test("is abandoned if it persists, and the server is then left alone for growing pauses", async () => {
    const { endpoint } = endpointAt(server.url(), {}, clock);
    server.always({ status: 503 });
    const sentence = "the model's server answered with status 503";
    const failure = await failureOf(endpoint.embedDocuments(["hat"], NEVER));
    expect(failure).toBeInstanceOf(EndpointError);
    expect(failure.message).toBe(sentence);
    expect(server.requests).toHaveLength(5);
    expect(endpoint.state).toMatchObject({ status: "down", lastError: sentence, lastSuccessAt: null });
    const rests: number[] = [];
    for (let i = 0; i < 8; i++) {
      const asked = server.requests.length;
      const refused = (await failureOf(endpoint.embedDocuments(["hat"], NEVER))) as EndpointError;
      expect(refused.message).toBe("the model's server has failed and is not asked for now");
      expect(server.requests).toHaveLength(asked);
      rests.push(refused.afterMs!);
      await clock.pause(refused.afterMs!);
      expect((await failureOf(endpoint.embedDocuments(["hat"], NEVER))).message).toBe(sentence);
    }
    expect(rests).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    server.always(null);
    await clock.pause(60_000);
    await endpoint.embedDocuments(["hat"], NEVER);
    expect(endpoint.state).toMatchObject({ status: "up", lastError: sentence });
    endpoint.close();
  });

  test("is not waited for longer than a minute; the circuit waits as long as the server says", async () => {
    const { endpoint } = endpointAt(server.url(), {}, clock);
    server.script({ status: 429, headers: { "retry-after": "90" } });
    expect(await failureOf(endpoint.embedDocuments(["hat"], NEVER))).toMatchObject({
      status: 429,
      afterMs: 90_000,
    });
    expect(clock.pauses).toEqual([]);
    expect(await failureOf(endpoint.embedDocuments(["hat"], NEVER))).toMatchObject({ afterMs: 90_000 });
    endpoint.close();
  });

  test.each(["before", "within", "never"] as const)(
    "includes a server that does not finish its reply (%s)",
    async (when) => {
      const { endpoint } = endpointAt(server.url(), { embeddingRequestMsMax: 20 }, clock);
      server.always(when === "never" ? { endless: true } : { silent: when });
      expect(await failureOf(endpoint.embedDocuments(["hat"], NEVER))).toMatchObject({
        name: "EndpointError",
        message: "the model's server did not answer in time",
      });
      expect(server.requests.length).toBeGreaterThan(1);
      endpoint.close();
    },
  );
});

describe("an invalid reply", () => {
  const changed = (index: number, value: unknown) => (items: readonly EmbeddingItem[]) =>
    items.map((item) => ({ ...item, embedding: item.embedding.map((n, i) => (i === index ? value : n)) }));
  const items: [string, (items: readonly EmbeddingItem[]) => unknown][] = [
    ["without a list of vectors", () => ({})],
    ["without a list of vectors", () => ["a", "b"]],
    ["with 1 vectors for 2 texts", (all) => all.slice(1)],
    ["with 3 vectors for 2 texts", (all) => [...all, all[0]]],
    ["with vectors whose index matches no text", (all) => all.map((item) => ({ ...item, index: 0 }))],
    [
      "with vectors whose index matches no text",
      (all) => all.map((item) => ({ ...item, index: item.index + 1 })),
    ],
    ["with vectors whose index matches no text", (all) => all.map((item) => ({ ...item, index: "length" }))],
    ["with vectors whose index matches no text", (all) => all.map((item) => ({ ...item, index: 0.5 }))],
    ["with something other than a vector", (all) => all.map((item) => ({ ...item, embedding: "AAAA" }))],
    ["with something other than a vector", (all) => all.map((item) => ({ ...item, embedding: { 0: 1 } }))],
    [
      "with vectors of 768 numbers",
      (all) => all.map((item) => ({ ...item, embedding: new Array(768).fill(1) })),
    ],
    ["with vectors of 0 numbers", (all) => all.map((item) => ({ ...item, embedding: [] }))],
    ["with a vector that contains something other than numbers", changed(3, "0.5")],
    ["with a vector that contains something other than numbers", changed(3, null)],
    ["with a vector that has an infinite number", changed(511, 1e39)],
    ["with a vector of zeros", (all) => all.map((item) => ({ ...item, embedding: new Array(512).fill(0) }))],
  ];
  test.each(items)("%s is abandoned if a harmless text fails as well (%#)", async (what, items) => {
    const { endpoint } = endpointAt(server.url(), {}, clock);
    server.script({ items }, { items: () => [] });
    const refusals: EndpointError[] = [];
    const failure = await failureOf(
      endpoint.embedDocuments(["red", "blue"], NEVER, (refusal) => refusals.push(refusal)),
    );
    expect(failure).toBeInstanceOf(EndpointError);
    expect(failure.message).toContain(`the model's server answered ${what}`);
    expect(server.requests.map(({ body }) => body.input)).toEqual([["red", "blue"], ["test"]]);
    expect([refusals, clock.pauses, endpoint.state.status]).toEqual([[], [], "down"]);
    endpoint.close();
  });

  test.each([
    ["null", "without a list of vectors"],
    ['{"data": NaN}', "did not answer with JSON"],
    ["", "did not answer with JSON"],
  ])("%j is an error", async (body, what) => {
    const { endpoint } = endpointAt(server.url(), {}, clock);
    server.always({ body });
    expect((await failureOf(endpoint.embedDocuments(["red"], NEVER))).message).toContain(what);
    endpoint.close();
  });

  test.each([401, 403, 404, 405])("with the status %i is not retried", async (status) => {
    const { endpoint } = endpointAt(server.url(), {}, clock);
    server.script({ status });
    expect(await failureOf(endpoint.embedDocuments(["red"], NEVER))).toMatchObject({ status });
    expect(server.requests).toHaveLength(1);
    endpoint.close();
  });
});

describe("a text refused by the server", () => {
  const REFUSED = { status: 400 };
  const inputs = (): (readonly string[])[] => server.requests.map(({ body }) => body.input);
  /** Returns a function that gives `answer` for a request if `what` is true for any of its texts. */
  const to = (what: (text: string) => boolean, answer: EmbeddingAnswer) => (texts: readonly string[]) =>
    texts.some(what) ? answer : null;

  async function embed(texts: readonly string[], endpoint: EmbeddingEndpoint) {
    const refusals: EndpointError[] = [];
    const vectors = await endpoint.embedDocuments(texts, NEVER, (refusal) => refusals.push(refusal));
    return { vectors: vectors.map((vector) => [...vector]), refusals };
  }

  test("for its length is shortened until it fits, and the rest of its batch is unaffected", async () => {
    const { endpoint } = endpointAt(server.url(), {}, clock);
    const long = `long ${"x".repeat(995)}`;
    server.always(to(({ length }) => length > 250, REFUSED));
    const texts = ["a b", "c d", "e f", long];
    const { vectors, refusals } = await embed(texts, endpoint);
    expect(inputs()).toEqual([
      texts,
      ["test"],
      ["a b", "c d"],
      ["e f", long],
      ["e f"],
      [long],
      [long.slice(0, 500)],
      [long.slice(0, 250)],
    ]);
    expect(vectors).toEqual(["a b", "c d", "e f", long.slice(0, 250)].map(vectorOf));
    expect([refusals, clock.pauses, endpoint.state.status]).toEqual([[], [], "up"]);
    endpoint.close();
  });

  test("at any length gets zeros, and is reported with the reason", async () => {
    const { endpoint, recorder } = endpointAt(server.url(), {}, clock);
    server.always(to((text) => text.startsWith("bad"), { status: 422 }));
    const texts = ["a", `bad ${"x".repeat(500)}`, "b", "bad", "c"];
    const { vectors, refusals } = await embed(texts, endpoint);
    const none = new Array(512).fill(0);
    expect(vectors).toEqual([vectorOf("a"), none, vectorOf("b"), none, vectorOf("c")]);
    expect(refusals.map(({ status }) => status)).toEqual([422, 422]);
    expect(recorder.embeddings.document).toMatchObject({ refused: 2 });
    expect(endpoint.state.status).toBe("up");
    endpoint.close();
  });

  test.each([1, 2, 5])("is found among 32 with few requests (%i of them)", async (bad) => {
    const { endpoint } = endpointAt(server.url(), {}, clock);
    server.always(to((text) => text.startsWith("bad"), REFUSED));
    const texts = numbered(32).map((text, i) => (i % 7 === 3 && i < 7 * bad ? `bad ${i}` : text));
    const { refusals } = await embed(texts, endpoint);
    expect(refusals).toHaveLength(bad);
    expect(server.requests.length).toBeLessThanOrEqual(2 + bad * (2 * 5 + 1));
    endpoint.close();
  });

  test.each([400, 413, 422])(
    "along with all others means a failed server: nothing is refused (%i)",
    async (status) => {
      const { endpoint } = endpointAt(server.url(), {}, clock);
      server.always({ status });
      expect(await failureOf(embed(["a".repeat(1_000), "b"], endpoint))).toMatchObject({ status });
      expect(sizes()).toEqual([2, 1]);
      endpoint.close();
    },
  );

  test("is not marked as refused if the server begins to refuse everything", async () => {
    const { endpoint, recorder } = endpointAt(server.url(), {}, clock);
    // The server refuses the batch, accepts the test text and "a", then refuses "b" and the test text.
    server.script(REFUSED, {}, {}, REFUSED, REFUSED);
    expect(await failureOf(embed(["a", "b"], endpoint))).toMatchObject({ status: 400 });
    expect(inputs()).toEqual([["a", "b"], ["test"], ["a"], ["b"], ["test"]]);
    expect([recorder.embeddings.document.refused, endpoint.state.status]).toEqual([0, "down"]);
    endpoint.close();
  });

  test("with status 500 twice is marked as refused, too", async () => {
    const { endpoint } = endpointAt(server.url(), {}, clock);
    server.always(to((text) => text === "bad", { status: 500 }));
    const { vectors, refusals } = await embed(["a", "bad"], endpoint);
    expect(vectors).toEqual([vectorOf("a"), new Array(512).fill(0)]);
    expect(refusals.map(({ status }) => status)).toEqual([500]);
    expect(inputs()).toEqual([["a", "bad"], ["a", "bad"], ["test"], ["a"], ["bad"], ["bad"], ["test"]]);
    expect(clock.pauses).toEqual([500, 500]);
    endpoint.close();
  });

  test("with status 500, like every other text, is retried", async () => {
    const { endpoint } = endpointAt(server.url(), {}, clock);
    server.always({ status: 500 });
    expect(await failureOf(embed(["a", "b"], endpoint))).toMatchObject({ status: 500 });
    expect(clock.pauses).toEqual([500, 2_000, 8_000, 30_000]);
    endpoint.close();
  });

  test.each([
    [
      "zeros",
      (all: readonly EmbeddingItem[]) => all.map((item) => ({ ...item, embedding: new Array(512).fill(0) })),
    ],
    ["too few vectors", (all: readonly EmbeddingItem[]) => all.slice(1)],
  ])("through a reply with %s is marked as refused, too", async (_what, items) => {
    const { endpoint } = endpointAt(server.url(), {}, clock);
    server.always(to((text) => text === "bad", { items }));
    const { vectors, refusals } = await embed(["a", "bad", "b"], endpoint);
    expect(vectors).toEqual([vectorOf("a"), new Array(512).fill(0), vectorOf("b")]);
    expect(refusals).toHaveLength(1);
    endpoint.close();
  });
});

describe("ending an embedding", () => {
  test("by its signal fails with the reason, closes connections and leaves the circuit unchanged", async () => {
    const { endpoint } = endpointAt(server.url(), {}, clock);
    server.always({ silent: "before" });
    const stop = new AbortController();
    const failed = failureOf(endpoint.embedDocuments(numbered(200), stop.signal));
    while (server.requests.length < 4) await new Promise(setImmediate);
    stop.abort(new Error("the job was cancelled"));
    expect((await failed).message).toBe("the job was cancelled");
    while (server.openConnections() > 0) await new Promise(setImmediate);
    expect([server.requests.length, endpoint.state.status]).toEqual([4, "up"]);
    server.always(null);
    expect(await endpoint.embedDocuments(["hat"], NEVER)).toHaveLength(1);
    endpoint.close();
  });

  test("because one batch failed stops the other batches", async () => {
    const { endpoint } = endpointAt(server.url(), { embeddingBatchTextsMax: 1 }, clock);
    server.script({ silent: "before" }, { silent: "before" }, { status: 401 });
    server.always({ silent: "before" });
    expect(await failureOf(endpoint.embedDocuments(numbered(100), NEVER))).toMatchObject({ status: 401 });
    while (server.openConnections() > 0) await new Promise(setImmediate);
    expect(server.requests.length).toBeLessThanOrEqual(5);
    endpoint.close();
  });

  test("by closing the endpoint stops all requests in progress", async () => {
    const { endpoint } = endpointAt(server.url(), {}, clock);
    server.always({ silent: "before" });
    const failed = failureOf(endpoint.embedDocuments(["hat"], NEVER));
    while (server.requests.length === 0) await new Promise(setImmediate);
    endpoint.close();
    expect((await failed).message).toBe("the endpoint is no longer used");
    expect((await failureOf(endpoint.embedDocuments(["hat"], NEVER))).message).toContain("not asked for now");
  });
});
