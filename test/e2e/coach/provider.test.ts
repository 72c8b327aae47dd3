// A language model that phrases the coach's findings. It receives only queries and counts. Whatever it does,
// searches continue, and only replies that arrived are counted.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { expectStatus, TestServer } from "../world/harness.js";

const API_KEY = "model-key-1234";
const TIMEOUT_MS = 1_000;
const SCHEMA = { fields: [{ name: "title", type: "string" }] };
const DOCUMENTS = ["red shoe", "blue shoe"].map((title, i) => ({ id: `secret-${i}`, title }));

interface Asked {
  readonly url: string | undefined;
  readonly key: string | undefined;
  readonly body: { messages: { content: string }[]; response_format: { json_schema: { schema: object } } };
}

interface Item {
  readonly n: number;
  readonly queries: string[];
}

const asked: Asked[] = [];
let answer: (response: ServerResponse, items: Item[]) => void = () => undefined;

const model = createServer((request: IncomingMessage, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    const body = JSON.parse(String(Buffer.concat(pieces))) as Asked["body"];
    asked.push({ url: request.url, key: request.headers.authorization, body });
    answer(response, (JSON.parse(body.messages[1]!.content) as { items: Item[] }).items);
  });
});

const says = (response: ServerResponse, content: unknown): void => {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ choices: [{ message: { role: "assistant", content } }] }));
};
const words = (response: ServerResponse, recommendations: unknown): void =>
  says(response, JSON.stringify({ recommendations }));

let server: TestServer;

function startServer(timeoutMs: number): Promise<TestServer> {
  const url = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`;
  return TestServer.start({
    shards: 1,
    config: {
      ai: { coach: { provider: "endpoint", url, model: "small", api_key: API_KEY, timeout_ms: timeoutMs } },
      plans: [{ name: "default", coach_per_month: 3 }],
      limits: { stopGraceMsMax: 500 },
    },
  });
}

beforeAll(async () => {
  await new Promise<void>((resolve) => model.listen(0, "127.0.0.1", resolve));
  server = await startServer(TIMEOUT_MS);
  await server.createIndex("shop", SCHEMA, DOCUMENTS);
  for (const q of ["zorvex", "quilm"])
    for (let i = 0; i < 12; i++) expectStatus(await server.query("shop", { q, user_id: `u${i}` }), 200);
});
afterAll(async () => {
  await server.close();
  model.closeAllConnections();
  model.close();
});
beforeEach(() => {
  asked.length = 0;
});

const analyse = () => server.post("/v1/indexes/shop/coach/analyze", {});
const listed = async () => (await server.get("/v1/indexes/shop/coach/recommendations")).json.data as unknown;

/** Replies that the coach must reject. */
const NONSENSE: Readonly<Record<string, typeof answer>> = {
  "an error": (response) => {
    response.statusCode = 500;
    response.end("{}");
  },
  "a redirect": (response) => {
    response.writeHead(302, { location: "/v1/chat/completions" });
    response.end();
  },
  "no JSON": (response) => response.end("<html>"),
  "no message": (response) => response.end('{"choices": []}'),
  "words that are no JSON": (response) => says(response, "Here are your recommendations!"),
  "another shape": (response) => words(response, [{ n: 0, keep: "yes", title: "a", description: "b" }]),
  "a member too many": (response) =>
    words(response, [{ n: 0, keep: true, title: "a", description: "b", payload: {} }]),
  "something else": (response) => words(response, [{ n: 99, keep: true, title: "a", description: "b" }]),
  "twice the same": (response) =>
    words(
      response,
      [0, 0].map((n) => ({ n, keep: true, title: "a", description: "b" })),
    ),
  "an empty title": (response) => words(response, [{ n: 0, keep: true, title: " ", description: "b" }]),
  "a title of several lines": (response) =>
    words(response, [{ n: 0, keep: true, title: "a\nb", description: "b" }]),
  "too much": (response) => {
    response.end(" ".repeat(5 * 1024 * 1024));
  },
  "a broken connection": (response) => response.destroy(),
  "nothing at all": () => undefined,
  "half an answer": (response) => {
    response.write('{"choices": [');
  },
};

describe("a model that words recommendations", () => {
  test.each(Object.entries(NONSENSE))(
    "and answers with %s: nothing is saved or counted",
    async (_, reply) => {
      answer = reply;
      const failed = analyse();
      expectStatus(await server.query("shop", { q: "red", analytics: false }), 200);
      const { status, json, headers } = await failed;
      expect([status, json.code, headers["retry-after"]]).toEqual([503, "SK-AI-503", "60"]);
      expect(JSON.stringify(json)).not.toContain(API_KEY);
      expect(asked).toHaveLength(1);
      expect(await listed()).toEqual([]);
    },
  );

  test("sees queries and counts, and may word or drop recommendations", async () => {
    answer = (response, items) => {
      const keep = ({ queries }: Item): boolean => !queries.includes("quilm");
      words(
        response,
        items.map((item) => ({
          n: item.n,
          keep: keep(item),
          title: "Buy zorvexes",
          description: "12 asked.",
        })),
      );
    };
    const reply = await analyse();
    expectStatus(reply, 200);
    const saved = await listed();
    expect(saved).toEqual(reply.json.data.recommendations);
    expect(saved).toMatchObject([
      { type: "catalog_gap", title: "Buy zorvexes", description: "12 asked.", payload: { query: "zorvex" } },
    ]);
    const [{ url, key, body }] = asked as [Asked];
    expect([url, key]).toEqual(["/v1/chat/completions", `Bearer ${API_KEY}`]);
    const told = JSON.parse(body.messages[1]!.content) as { items: Record<string, unknown>[] };
    for (const item of told.items) {
      expect(Object.keys(item).sort()).toEqual(["counts", "n", "queries", "type"]);
      for (const count of Object.values(item.counts as object)) expect(count).toBeTypeOf("number");
    }
    expect(told.items.flatMap((item) => item.queries).sort()).toEqual(["quilm", "zorvex"]);
    expect(JSON.stringify(body)).not.toContain("secret");
    expect(JSON.stringify(body)).not.toContain("u1");
  });

  test("keeps the miners' wording where it returns none, and each call counts toward the limit", async () => {
    answer = (response) => words(response, []);
    expectStatus(await analyse(), 200);
    expect(await listed()).toHaveLength(2);
    expectStatus(await analyse(), 200);
    const { status, json, headers } = await analyse();
    expect([status, json.code]).toEqual([429, "SK-AI-429"]);
    expect(Number(headers["retry-after"])).toBeGreaterThan(0);
  });

  test("does not delay the server's shutdown while a call is under way", async () => {
    const patient = await startServer(600_000);
    await patient.createIndex("shop", SCHEMA, DOCUMENTS);
    for (let i = 0; i < 12; i++)
      expectStatus(await patient.query("shop", { q: "zorvex", user_id: `u${i}` }), 200);
    const isAsked = new Promise<void>((resolve) => {
      answer = () => resolve();
    });
    const failed = patient.post("/v1/indexes/shop/coach/analyze", {}).catch(() => null);
    await isAsked;
    await patient.close();
    expect([null, 503]).toContain((await failed)?.status ?? null);
  });
});
