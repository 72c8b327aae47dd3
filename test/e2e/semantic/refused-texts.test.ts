// An endpoint that rejects a document's text: all other documents get their vectors, the log reports how many
// documents have none, and a rejected text is not sent again until it changes. An endpoint that rejects
// everything counts as failed, and nothing is lost.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { effort } from "../../effort.js";
import {
  type EmbeddingAnswer,
  type EmbeddingServer,
  startEmbeddingServer,
} from "../world/embedding-server.js";
import { eventually, expectStatus, TestServer } from "../world/harness.js";
import { embedderOf, found, makeShop, ready } from "./near.js";

const SHOP = Array.from({ length: 40 }, (_, i) => ({ id: `${i}`, title: `shoe number ${i}`, price: i }));
const BAD = { id: "bad", title: "forbidden shoe", price: 1 };

let endpoint: EmbeddingServer;
let server: TestServer;

beforeAll(async () => {
  endpoint = await startEmbeddingServer();
  server = await TestServer.start({ shards: 2, config: { ai: { allow_hosts: ["127.0.0.1"] } } });
});

afterEach(() => endpoint.always(null));

afterAll(async () => {
  await server.close();
  await endpoint.close();
});

const settings = (model: string) => ({ embedder: { source: "endpoint", url: endpoint.url(), model } });
const add = async (index: string, ...documents: object[]) =>
  expectStatus(await server.post(`/v1/indexes/${index}/documents/batch`, { documents }), 200);
/** Answers with `answer` if any of a request's texts matches `what`, otherwise with a proper answer. */
const to = (what: RegExp, answer: EmbeddingAnswer) => (texts: readonly string[]) =>
  texts.some((text) => what.test(text)) ? answer : null;
const warnings = (index: string) =>
  server.log.filter((line) => line.index === index && /refuses documents/.test(String(line.msg)));
const settled = (index: string, documents: number) =>
  eventually(async () => {
    const { pending, documents: embedded } = await embedderOf(server, index);
    return pending === 0 && embedded === documents;
  }, `${index} has ${documents} vectors, and nothing waits`);

describe("a document refused by the endpoint", () => {
  const answers: [string, EmbeddingAnswer][] = [
    ["400", { status: 400, body: '{"error": "content policy: forbidden shoe"}' }],
    ["NaN", { body: '{"data": [{"embedding": [NaN]}]}' }],
    ["413", { status: 413 }],
    ["422", { status: 422 }],
    ["zeros", { items: (items) => items.map((item) => ({ ...item, embedding: new Array(512).fill(0) })) }],
  ];
  test.each(answers.slice(0, effort(2, 5)))(
    "with %s has no vector, and all others have theirs",
    async (what, answer) => {
      const name = `refused-${what.toLowerCase()}`;
      endpoint.always(to(/forbidden/, answer));
      await makeShop(server, name, settings(name), [BAD, ...SHOP]);
      await ready(server, name, "endpoint", SHOP.length);
      expect(warnings(name).map(({ level, documents }) => [level, documents])).toEqual([["warn", 1]]);
      expect(JSON.stringify(warnings(name))).not.toContain("forbidden");
      const similar = await server.query(name, { q: "number 7", search_mode: "semantic" });
      expect([similar.json.search_mode, found(similar).split(" ")[0]]).toEqual(["semantic", "7:hybrid"]);
      expect(found(await server.query(name, { q: "forbidden" }))).toBe("bad:keyword");
    },
  );

  test("is not sent again, even after a restart, until it or the model changes", async () => {
    endpoint.always(to(/forbidden/, { status: 400 }));
    await makeShop(server, "again", settings("again"), [BAD, ...SHOP]);
    await settled("again", SHOP.length);
    const asked = endpoint.texts().length;
    await server.stop("SIGKILL");
    await server.launch();
    await add("again", { id: "new", title: "another shoe" });
    await settled("again", SHOP.length + 1);
    expect(endpoint.texts().slice(asked)).toEqual(["another shoe"]);
    await add("again", { ...BAD, price: 2 });
    await eventually(async () => warnings("again").length === 2, "it is refused again");
    await settled("again", SHOP.length + 1);
    endpoint.always(null);
    await add("again", { ...BAD, title: "allowed shoe" });
    await ready(server, "again", "endpoint", SHOP.length + 2);
    await add("again", BAD);
    await ready(server, "again", "endpoint", SHOP.length + 2);
  });

  test("gets its vector from another model", async () => {
    endpoint.always(to(/forbidden/, { status: 400 }));
    await makeShop(server, "other", settings("strict"), [BAD]);
    await eventually(async () => warnings("other").length === 1, "it is refused");
    await settled("other", 0);
    endpoint.always(null);
    expectStatus(await server.patch("/v1/indexes/other/settings", settings("lenient")), 200);
    await ready(server, "other", "endpoint", 1);
  });

  test("never results from half a surrogate pair, which is rejected, or from NUL, which is sent as a blank", async () => {
    const before = endpoint.texts().length;
    const body = `{"documents": [{"id": "1", "title": "a \\u0000shoe", "price": 1},
      {"id": "2", "title": "half \\ud83d", "price": 1}]}`;
    await makeShop(server, "halves", settings("halves"), []);
    const reply = await server.raw("POST", "/v1/indexes/halves/documents/batch", { body });
    expect(reply.json.data).toMatchObject({ succeeded: 1, failed: 1 });
    await ready(server, "halves", "endpoint", 1);
    expect(endpoint.texts().slice(before)).toEqual(["a  shoe"]);
  });
});

describe("an endpoint that refuses everything", () => {
  const answers: [string, EmbeddingAnswer][] = [
    ["400", { status: 400, body: '{"error": "no such model"}' }],
    ["768", { items: (items) => items.map((item) => ({ ...item, embedding: new Array(768).fill(1) })) }],
    ["few", { items: () => [] }],
    ["html", { body: "<html>" }],
    ["large", { body: " ".repeat(17 * 1024 * 1024) }],
    ["404", { status: 404 }],
  ];
  test.each(answers.slice(0, effort(2, 6)))(
    "with %s counts as failed: documents wait for it",
    async (what, answer) => {
      const name = `failed-${what}`;
      await makeShop(server, name, settings(name), SHOP.slice(1));
      await ready(server, name, "endpoint", SHOP.length - 1);
      endpoint.always(answer);
      const asked = endpoint.requests.length;
      await add(name, SHOP[0]!);
      await eventually(async () => (await embedderOf(server, name)).state === "failed", "it has failed");
      expect(await embedderOf(server, name)).toMatchObject({ documents: SHOP.length - 1, pending: 1 });
      expect(endpoint.requests.length - asked).toBeLessThanOrEqual(4);
      expect(warnings(name)).toEqual([]);
      const told = server.log.filter(
        (line) => line.index === name && /documents wait/.test(String(line.msg)),
      );
      expect(told.length).toBeGreaterThan(0);
      endpoint.always(null);
      await add(name, { id: "last", title: "last shoe" });
      await ready(server, name, "endpoint", SHOP.length + 1);
    },
  );
});
