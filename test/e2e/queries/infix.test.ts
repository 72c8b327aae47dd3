// Words found inside longer words, in fields with `infix`: matches, ranking, highlights and explanation.
// Switching `infix` on or off takes effect immediately.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectStatus, TestServer } from "../world/harness.js";
import type { Hit, ReplyBody } from "../world/reply.js";

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ shards: 3 });
});

afterAll(() => server.close());

interface Texts {
  readonly title: string;
  readonly note?: string;
}

async function makeIndex(name: string, documents: Record<string, Texts>, infix = true): Promise<void> {
  const fields = [
    { name: "title", type: "string", infix },
    { name: "note", type: "string" },
  ];
  await server.createIndex(name, { fields });
  const batch = Object.entries(documents).map(([id, texts]) => ({ id, ...texts }));
  expectStatus(await server.post(`/v1/indexes/${name}/documents/batch`, { documents: batch }), 200);
}

async function search(index: string, q: string, more: Record<string, unknown> = {}): Promise<ReplyBody> {
  const reply = await server.query(index, { q, ...more });
  expectStatus(reply, 200);
  return reply.json;
}

async function found(index: string, q: string, more: Record<string, unknown> = {}): Promise<string[]> {
  return (await search(index, q, more)).hits.map((hit) => hit.document.id);
}

describe("words inside other words", () => {
  beforeAll(() =>
    makeIndex("phones", {
      whole: { title: "desk phone" },
      start: { title: "phones for desks" },
      inside: { title: "smartphone" },
      part: { title: "charger GRX200B" },
      joined: { title: "charger GR-X200-C" },
      note: { title: "cable", note: "for any smartphone" },
    }),
  );

  test("are found in fields with infix enabled, after whole words and prefixes", async () => {
    expect(await found("phones", "phone")).toEqual(["whole", "start", "inside"]);
    expect(await found("phones", "PHÔNE")).toEqual(["whole", "start", "inside"]);
    expect((await found("phones", "X200")).sort()).toEqual(["joined", "part"]);
    expect(await found("phones", "phone", { query_by: "note" })).toEqual([]);
    expect(await found("phones", "smartphone")).toEqual(["inside", "note"]);
  });

  test("are also found at the start of a word when they are not the last query word", async () => {
    expect(await found("phones", "phone desks")).toEqual(["start"]);
    expect(await found("phones", "charg X200B", { prefix: false })).toEqual(["part"]);
  });

  test("are not found for fewer than three letters, in phrases, in exclusions or in filters", async () => {
    expect(await found("phones", "ho")).toEqual([]);
    expect(await found("phones", '"phone"')).toEqual(["whole"]);
    expect((await found("phones", "* -phone")).sort()).toEqual(["inside", "joined", "note", "part", "start"]);
    expect(await found("phones", "*", { filter_by: "title:phone" })).toEqual(["whole"]);
  });

  test("are marked and explained", async () => {
    const more = { highlight_fields: "title,note", explain: true };
    const { hits } = await search("phones", "phone", more);
    const hit = hits[2] as Hit & { explanation: Record<string, unknown> };
    expect(hit.highlight).toEqual({
      title: { snippet: "<mark>smartphone</mark>", matched_tokens: ["smartphone"] },
    });
    expect(hit.explanation).toMatchObject({
      full: true,
      words: [
        {
          word: "phone",
          match: "infix",
          typos: 1,
          found: [{ field: "title", term: "smartphone", times: 1 }],
        },
      ],
    });
    expect((hit.explanation.text as string[]).join(" ")).toContain(
      '"phone" was found inside of a longer word (smartphone) in title',
    );
  });

  test("are not suggested: suggestions continue what was typed", async () => {
    const reply = await server.post("/v1/indexes/phones/suggest", { q: "phone", suggest_by: "title" });
    expectStatus(reply, 200);
    expect(JSON.stringify(reply.json)).not.toContain("smartphone");
  });
});

test("a word that occurs inside others is not treated as misspelt", async () => {
  const keyboards = Array.from({ length: 5 }, (_, i) => [`k${i}`, { title: `keyboard ${i}` }] as const);
  await makeIndex("boards", { ...Object.fromEntries(keyboards), b: { title: "boart" } });
  const reply = await search("boards", "board", { per_page: 20 });
  expect(reply.hits.map((hit) => hit.document.id).sort()).toEqual(["k0", "k1", "k2", "k3", "k4"]);
  expect(reply.suggestions ?? []).toEqual([]);
});

test("only the 256 shortest of the many words containing a word count", async () => {
  const documents = Array.from({ length: 300 }, (_, i) => [
    `d${i}`,
    { title: `zz${i}abc${"x".repeat(i % 7)}` },
  ]);
  await makeIndex("many", Object.fromEntries(documents));
  expect((await search("many", "abc")).found).toBe(256);
});

test("infix can be switched on and off without re-indexing", async () => {
  await makeIndex("later", { a: { title: "smartphone" } }, false);
  expect(await found("later", "phone")).toEqual([]);
  const change = async (infix: boolean): Promise<void> => {
    const schema = { fields: [{ name: "title", infix }] };
    const reply = await server.patch("/v1/indexes/later", { schema });
    expectStatus(reply, 200);
    expect(reply.json.data.status).toBe("active");
  };
  await change(true);
  expect(await found("later", "phone")).toEqual(["a"]);
  await change(false);
  expect(await found("later", "phone")).toEqual([]);
});
