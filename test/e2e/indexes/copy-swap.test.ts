// Copying settings and swapping indexes over HTTP: what is copied, what is refused, and that a query never
// sees a mixture of both indexes and never finds an index missing.
import { describe, expect, test } from "vitest";
import { eventually, expectStatus, meanwhile, type TestServer } from "../world/harness.js";
import { requestHead } from "../world/raw-http.js";
import type { Reply } from "../world/reply.js";
import { sharedServer } from "../world/shared-server.js";
import { documents, LEFT, makeSide, QUERY, RIGHT, schema, sideOf, sideOfRecords } from "../world/sides.js";

const server = sharedServer({ shards: 3, quiet: true }, async (server) => {
  await makeSide(server, "a", LEFT);
  await makeSide(server, "b", RIGHT);
});

/** Creates the index to copy from, with settings, two rules and a synonym group. */
async function makeSource(server: TestServer): Promise<void> {
  await server.createIndex("from", schema(LEFT));
  const settings = { num_typos: 1, searchable_attributes: ["title"], symbols_to_index: ["+"] };
  expectStatus(await server.patch("/v1/indexes/from/settings", settings), 200);
  for (const name of ["one", "two"]) {
    const rule = { name, type: "hide", effect: { filter_by: "side:=right" } };
    expectStatus(await server.post("/v1/indexes/from/ranking-rules", rule), 201);
  }
  const group = { type: "one_way", synonyms: ["thing", "object"], enabled: false };
  expectStatus(await server.post("/v1/indexes/from/synonyms", group), 201);
}

const swap = (index: string, target: string, more: object = {}): Promise<Reply> =>
  server.post(`/v1/indexes/${index}/swap-with`, { target_index: target, ...more });
const sides = async () => [await sideOfRecords(server, "a"), await sideOfRecords(server, "b")];

describe("swap-with", () => {
  test("exchanges everything that belongs to the data, and a second swap restores it", async () => {
    const ids = async () => [
      (await server.get("/v1/indexes/a")).json.data.id,
      (await server.get("/v1/indexes/b")).json.data.id,
    ];
    const [idA, idB] = await ids();
    const reply = await swap("a", "b");
    expect(reply.json).toEqual({ data: { index: "a", target: "b", dropped: false } });
    expect([await sides(), await ids()]).toEqual([
      ["right", "left"],
      [idB, idA],
    ]);
    const list = (await server.get("/v1/indexes")).json.data as unknown as { name: string; id: number }[];
    expect(list.map(({ name, id }) => [name, id])).toEqual([
      ["a", idB],
      ["b", idA],
    ]);
    const added = { documents: [{ id: "new", title: "fresh", side: "left" }] };
    expectStatus(await server.post("/v1/indexes/b/documents/batch", added), 200);
    expect((await server.query("b", { q: "fresh" })).json.found).toBe(1);
    expect((await server.query("a", { q: "fresh" })).json.found).toBe(0);
    expectStatus(await server.delete("/v1/indexes/b/documents/new"), 200);
    expectStatus(await swap("b", "a", { drop_source_after: false }), 200);
    expect([await sides(), await ids()]).toEqual([
      ["left", "right"],
      [idA, idB],
    ]);
  });

  test("refuses impossible swaps", async () => {
    const refused = async (body: unknown, status: number, code: string, sentence: RegExp, index = "a") => {
      const reply = await server.post(`/v1/indexes/${index}/swap-with`, body);
      expect([reply.status, reply.json.code]).toEqual([status, code]);
      expect(reply.json.error).toMatch(sentence);
    };
    await refused({}, 400, "SK-IX-400", /^target_index is missing/);
    await refused(
      { target_index: "a" },
      400,
      "SK-IX-400",
      /^target_index must name a different index from the path/,
    );
    await refused({ target_index: 3 }, 400, "SK-IX-400", /^target_index must be the name of an index/);
    await refused({ target_index: "b", drop: true }, 400, "SK-IX-400", /^drop is unknown/);
    await refused(
      { target_index: "b", drop_source_after: 1 },
      400,
      "SK-IX-400",
      /^drop_source_after must be true/,
    );
    await refused({ target_index: "none" }, 404, "SK-IX-404", /"none" does not exist/);
    await refused({ target_index: "b" }, 404, "SK-IX-404", /does not exist/, "none");
    expect(await sides()).toEqual(["left", "right"]);
  });

  test("needs a key with the scope indexes for both names; another tenant's index is 404", async () => {
    const key = async (body: object) => (await server.post("/v1/keys", { name: "t", ...body })).json.data.key;
    const body = { target_index: "b" };
    for (const rights of [
      { scopes: ["indexes"], indexes: ["a"] },
      { scopes: ["indexes"], indexes: ["b"] },
      { scopes: ["rules", "documents"] },
    ]) {
      const reply = await server.post("/v1/indexes/a/swap-with", body, { key: await key(rights) });
      expect([reply.status, reply.json.code]).toEqual([403, "SK-SYS-403"]);
      const copy = { source_index: "b" };
      expect(
        (await server.post("/v1/indexes/a/copy-settings-from", copy, { key: await key(rights) })).status,
      ).toBe(403);
    }
    const { admin_key } = (await server.post("/v1/tenants", { name: "acme" })).json.data;
    const foreign = { key: (admin_key as { key: string }).key };
    const index = { name: "mine", schema: schema(LEFT) };
    expectStatus(await server.post("/v1/indexes", index, foreign), 201);
    for (const [path, target] of [
      ["/v1/indexes/a/swap-with", { target_index: "mine" }],
      ["/v1/indexes/mine/swap-with", { target_index: "a" }],
      ["/v1/indexes/mine/copy-settings-from", { source_index: "a" }],
    ] as const) {
      expect((await server.post(path, target, foreign)).json.code).toBe("SK-IX-404");
    }
    expect(await sides()).toEqual(["left", "right"]);
  });
});

describe("swap-with under load", () => {
  test("no query sees a mixture while the names go back and forth", async () => {
    const seen = { a: new Set<string>(), b: new Set<string>() };
    const answers = [0, 0, 0, 0];
    const readers = answers.map((_, reader) => async () => {
      const name = reader % 2 === 0 ? "a" : "b";
      seen[name].add(sideOf(await server.query(name, QUERY)));
      answers[reader]!++;
    });
    const lister = async () => {
      const list = (await server.get("/v1/indexes")).json.data as unknown as Record<string, unknown>[];
      expect(list.map(({ name }) => name)).toEqual(["a", "b"]);
      expect(new Set(list.map(({ records_count }) => records_count))).toEqual(new Set([30, 45]));
    };
    await meanwhile([...readers, lister], async () => {
      for (let i = 0; i < 100; i++)
        expectStatus(await swap(i % 3 === 0 ? "b" : "a", i % 3 === 0 ? "a" : "b"), 200);
    });
    expect(Math.min(...answers)).toBeGreaterThan(10);
    expect([seen.a.size, seen.b.size]).toEqual([2, 2]);
    expect(await sides()).toEqual(["left", "right"]);
  });

  test("a dropped index is never missed: every query on the live name is answered by one of the two indexes", async () => {
    await makeSide(server, "live", { name: "g0", count: 30 });
    const seen = new Set<string>();
    const reader = async () => seen.add(sideOf(await server.query("live", QUERY)));
    await meanwhile(new Array(4).fill(reader), async () => {
      for (let i = 1; i <= 12; i++) {
        await makeSide(server, "next", { name: `g${i}`, count: 30 + i });
        const reply = await swap("live", "next", { drop_source_after: true });
        expect(reply.json).toEqual({ data: { index: "live", target: "next", dropped: true } });
        expectStatus(await server.get("/v1/indexes/next"), 404);
      }
    });
    expect(await sideOfRecords(server, "live")).toBe("g12");
    expect(seen.size).toBeGreaterThan(6);
    expectStatus(await server.delete("/v1/indexes/live"), 200);
  });

  test("a query already running finishes on the displaced data, which is dropped afterwards", async () => {
    await makeSide(server, "old", LEFT);
    await makeSide(server, "new", RIGHT);
    const body = JSON.stringify(QUERY);
    const socket = await server.socket();
    let answer = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      answer += text;
    });
    socket.write(requestHead("POST", "/v1/indexes/old/query", body.length) + body.slice(0, 5));
    await server.holds(1);
    let done = false;
    const swapped = swap("old", "new", { drop_source_after: true }).then((reply) => {
      done = true;
      return reply;
    });
    await eventually(
      async () => sideOf(await server.query("old", QUERY)) === "right",
      "new queries see the new data",
    );
    expect(done).toBe(false);
    socket.write(body.slice(5));
    await eventually(async () => answer.includes('"query_id"'), "the old query's answer");
    socket.destroy();
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
    expect(answer).toContain('"found":30');
    expect(answer).toContain("<left>");
    expectStatus(await swapped, 200);
    expect(await sideOfRecords(server, "old")).toBe("right");
  });

  test("works while one side is being re-indexed", async () => {
    const many = { name: "many", count: 2000 };
    await makeSide(server, "busy", many);
    await makeSide(server, "calm", LEFT);
    const change = { schema: { fields: [{ name: "added", type: "string" }] } };
    for (let i = 0; i < 4; i++) {
      expectStatus(await server.patch(`/v1/indexes/${i % 2 === 0 ? "busy" : "calm"}`, change), 200);
      expectStatus(await swap("busy", "calm"), 200);
      expectStatus(
        await server.patch(`/v1/indexes/calm/settings`, { symbols_to_index: i < 2 ? ["+"] : [] }),
        200,
      );
    }
    const active = async () =>
      (await server.get("/v1/indexes/busy")).json.data.status === "active" &&
      (await server.get("/v1/indexes/calm")).json.data.status === "active";
    await eventually(active, "nothing is being re-indexed");
    expect((await server.get("/v1/indexes/busy/stats")).json.data.stale_segments).toBe(0);
    expect(await sideOfRecords(server, "busy")).toBe("many");
    expect(await sideOfRecords(server, "calm")).toBe("left");
    await server.stop("SIGKILL");
    await server.launch();
    expect(await sideOfRecords(server, "busy")).toBe("many");
    expect(await sides()).toEqual(["left", "right"]);
  });

  test("a running deletion does not affect the index that took over the name", async () => {
    await server.createIndex("gone", schema(LEFT), documents(LEFT));
    await server.createIndex("stays", schema(RIGHT), documents(RIGHT));
    const [swapped, deleted] = await Promise.all([swap("gone", "stays"), server.delete("/v1/indexes/gone")]);
    const left = ((await server.get("/v1/indexes")).json.data as unknown as { name: string }[])
      .map(({ name }) => name)
      .filter((name) => name === "gone" || name === "stays");
    if (deleted.status === 409) expect([swapped.status, left]).toEqual([200, ["gone", "stays"]]);
    else if (swapped.status === 200) expect([deleted.status, left]).toEqual([200, ["stays"]]);
    else expect([swapped.status, deleted.status, left]).toEqual([404, 200, ["stays"]]);
  });
});

describe("copy-settings-from", () => {
  const server = sharedServer({ shards: 2 }, makeSource);
  const copy = (index: string, body: object): Promise<Reply> =>
    server.post(`/v1/indexes/${index}/copy-settings-from`, body);

  async function parts(index: string): Promise<{ settings: object; rules: object[]; groups: object[] }> {
    const of = async (path: string) => (await server.get(`/v1/indexes/${index}/${path}`)).json.data;
    const plain = (records: unknown) =>
      (records as Record<string, unknown>[]).map(({ id, created_at, updated_at, ...rest }) => rest);
    return {
      settings: await of("settings"),
      rules: plain(await of("ranking-rules")),
      groups: plain(await of("synonyms")),
    };
  }

  test("replaces everything by default, and re-indexes the target", async () => {
    await server.createIndex("to", schema(LEFT), [
      { id: "1", title: "c++ thing", side: "left" },
      { id: "2", title: "c thing", side: "left" },
    ]);
    await server.post("/v1/indexes/to/synonyms", { synonyms: ["old", "older"] });
    expect((await server.query("to", { q: "c", prefix: false })).json.found).toBe(2);
    const reply = await copy("to", { source_index: "from" });
    expect(reply.json).toEqual({
      data: { source_index: "from", index: "to", copied: { synonyms: 1, ranking_rules: 2, settings: true } },
    });
    expect(await parts("to")).toEqual(await parts("from"));
    await eventually(
      async () => (await server.get("/v1/indexes/to")).json.data.status === "active",
      "re-indexed",
    );
    expect((await server.query("to", { q: "c++" })).json.found).toBe(1);
    const ids = async (index: string) =>
      ((await server.get(`/v1/indexes/${index}/ranking-rules`)).json.data as unknown as { id: number }[]).map(
        ({ id }) => id,
      );
    const own = await ids("to");
    expect(own).toHaveLength(2);
    const foreign = await ids("from");
    expect(own.filter((id) => foreign.includes(id))).toEqual([]);
    expectStatus(await server.delete(`/v1/indexes/to/ranking-rules/${own[0]}`), 200);
    expect(await ids("from")).toHaveLength(2);
  });

  test("copies only the named parts", async () => {
    await server.createIndex("some", schema(LEFT));
    await server.post("/v1/indexes/some/synonyms", { synonyms: ["own", "mine"] });
    const before = await parts("some");
    const reply = await copy("some", { source_index: "from", copy: ["ranking_rules"] });
    expect(reply.json.data.copied).toEqual({ synonyms: 0, ranking_rules: 2, settings: false });
    expect(await parts("some")).toEqual({ ...before, rules: (await parts("from")).rules });
    await server.createIndex("empty", schema(LEFT));
    expectStatus(await copy("some", { source_index: "empty", copy: ["ranking_rules", "synonyms"] }), 200);
    expect(await parts("some")).toEqual({ ...before, rules: [], groups: [] });
  });

  test("refuses parts that do not fit, and then copies nothing", async () => {
    await server.createIndex("narrow", { fields: [{ name: "name", type: "string" }] });
    const before = await parts("narrow");
    const settings = await copy("narrow", { source_index: "from" });
    expect([settings.status, settings.json.code]).toEqual([400, "SK-IX-400"]);
    expect(settings.json.error).toBe(
      'the settings of "from" name fields that "narrow" does not have: "title"',
    );
    expect(settings.json.details).toEqual({ fields: ["title"] });
    const rules = await copy("narrow", { source_index: "from", copy: ["synonyms", "ranking_rules"] });
    expect([rules.status, rules.json.code]).toEqual([400, "SK-RR-400"]);
    expect(rules.json.error).toMatch(/^the rule "one" does not fit: effect\.filter_by: unknown field 'side'/);
    await server.createIndex("typed", { fields: [{ name: "title", type: "int32" }] });
    const typed = await copy("typed", { source_index: "from", copy: ["settings"] });
    expect(typed.json.error).toMatch(
      /^the settings of "from" do not fit: settings\.searchable_attributes names/,
    );
    expect(await parts("narrow")).toEqual(before);
    expect((await copy("narrow", { source_index: "from", copy: ["synonyms"] })).json.data.copied).toEqual({
      synonyms: 1,
      ranking_rules: 0,
      settings: false,
    });
  });

  test("refuses invalid bodies", async () => {
    const refused: [body: object, status: number, sentence: RegExp][] = [
      [{}, 400, /^source_index is missing/],
      [{ source_index: "from" }, 400, /^source_index must name a different index from the path/],
      [{ source_index: "none" }, 404, /"none" does not exist/],
      [{ source_index: "to", copy: "settings" }, 400, /^copy must be an array/],
      [
        { source_index: "to", copy: [] },
        400,
        /^copy must name at least one of synonyms, ranking_rules, settings/,
      ],
      [{ source_index: "to", copy: ["rules"] }, 400, /^copy\[0\] must be one of .*, not "rules"/],
      [{ source_index: "to", parts: [] }, 400, /^parts is unknown/],
    ];
    for (const [body, status, sentence] of refused) {
      const reply = await copy("from", body);
      expect(reply.status).toBe(status);
      expect(reply.json.error).toMatch(sentence);
    }
  });
});
