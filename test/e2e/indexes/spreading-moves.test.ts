// Snapshots, restarts and changes of the shard count while indexes are at home, spread, or being spread: each
// document exists exactly once, and an abandoned spreading leaves nothing behind.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { homeData } from "../../../server/catalog/schema/placement.js";
import { documentRange, indexRange } from "../../../shards/storage/keyspace.js";
import { effort } from "../../effort.js";
import { idsOf, toward } from "../semantic/near.js";
import { eventually, expectStatus, TestServer } from "../world/harness.js";
import { expectThings, HOME_DOCUMENTS_MAX, SCHEMA, SpreadingWorld, things } from "./spreading-world.js";

const SHARDS = 3;
const BEGUN = things(0, HOME_DOCUMENTS_MAX);
const MORE = things(HOME_DOCUMENTS_MAX, 20);
const ALL = [...BEGUN, ...MORE];

describe("a snapshot", () => {
  const world = new SpreadingWorld({ shards: SHARDS });
  const { server } = world;
  const copies: SpreadingWorld[] = [];

  beforeAll(() => server.launch());
  afterEach(() => Promise.all(copies.splice(0).map((copy) => copy.close())));
  afterAll(() => world.close());

  async function take(): Promise<{ id: string; documents: number; path: string }> {
    const reply = await server.post("/v1/snapshots");
    expectStatus(reply, 202);
    let data = reply.json.data as unknown as { id: string; status: string; documents: number; path: string };
    await eventually(async () => {
      data = (await server.get(`/v1/snapshots/${data.id}`)).json.data as unknown as typeof data;
      return data.status !== "running";
    }, "the snapshot is written");
    expect(data.status).toBe("complete");
    return data;
  }

  /** Starts a server on the snapshot's contents. */
  async function restored(path: string): Promise<SpreadingWorld> {
    const copy = new SpreadingWorld({ shards: SHARDS, frontEnds: 1 });
    copies.push(copy);
    const { code, text } = await copy.faults.skein("restore", path, "--data-dir", copy.faults.dataDir);
    expect(code, text).toBe(0);
    const checked = await copy.faults.skein("check", "--data-dir", copy.faults.dataDir);
    expect(checked.text).toContain("no damage found");
    await copy.server.launch();
    return copy;
  }

  test("taken in the middle of spreading has every document once", async () => {
    // `early` is taken before the decision, while the spreading restarts every second. `late` is taken after
    // the decision was written but seemed to fail, before the next attempt.
    const early = `early-${Date.now()}`;
    await world.make(early, undefined, BEGUN);
    const before = await world.whileHeld("spread.after-copy", () => world.write(early, MORE), take);
    await world.spread(early);
    const late = `late-${Date.now()}`;
    await world.make(late, undefined, BEGUN);
    const after = await world.whileHeld("spread.after-decision", () => world.write(late, MORE), take);
    const first = await restored(before.path);
    await first.spread(early);
    await first.expectThings(early, ALL);
    const second = await restored(after.path);
    for (const index of [early, late]) {
      expect(await second.shardsOf(index)).toBe(SHARDS);
      await second.expectThings(index, ALL);
    }
  });
});

describe("a start", () => {
  let world: SpreadingWorld;

  beforeEach(() => {
    world = new SpreadingWorld({ shards: SHARDS, frontEnds: 1 });
  });

  afterEach(() => world.close());

  function database(shard: number): ClassicLevel<Uint8Array, Uint8Array> {
    const encodings = { keyEncoding: "view", valueEncoding: "view" };
    return new ClassicLevel(join(world.faults.dataDir, "shards", String(shard)), encodings);
  }

  test("drops an unneeded copy when the index has shrunk below the limit", async () => {
    await world.server.launch();
    await world.make("left", undefined, ALL.slice(0, HOME_DOCUMENTS_MAX));
    await world.whileHeld(
      "spread.after-copy",
      async () => {
        await world.write("left", MORE);
        expectStatus(await world.server.delete("/v1/indexes/left/documents?filter_by=number:>=60"), 200);
      },
      () => world.server.stop("SIGKILL"),
    );
    await world.server.launch();
    await world.expectThings("left", BEGUN);
    expect(await world.shardsOf("left")).toBe(1);
    await world.server.stop();
    for (let shard = 0; shard < SHARDS; shard++) {
      const db = database(shard);
      const { from, to } = indexRange(1);
      expect(await db.keys({ gte: from, lt: to }).all()).toEqual([]);
      await db.close();
    }
  });

  test("finds damage in the documents to be copied, and leaves the index at home", async () => {
    await world.server.launch();
    const home = await world.make("hurt", undefined, ALL.slice(0, HOME_DOCUMENTS_MAX));
    await world.server.stop();
    const db = database(home);
    const { from, to } = documentRange(homeData(1), 0, 1_000);
    const [key, value] = (await db.iterator({ gte: from, lt: to }).all())[30]!;
    value[value.length - 5]! ^= 0xff;
    await db.put(key, value);
    await db.close();
    await world.server.launch();
    await world.write("hurt", MORE);
    const status = async () => (await world.server.get("/v1/indexes/hurt")).json.data.status;
    await eventually(async () => (await status()) === "error", "the damage is reported");
    expect(await world.found("hurt")).toBe(ALL.length);
    expect(await world.found("hurt", "number:70")).toBe(1);
  });
});

describe("a start with another number of shards", () => {
  let dataDir = "";
  let moved: TestServer;

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), "skein-test-"));
  });

  afterEach(async () => {
    await moved.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const INDEXES = { few: things(0, 10), some: things(0, 40), many: things(0, 120), none: [] };
  const PUSHED = { embedder: { source: "pushed" } };

  async function start(shards: number, homeDocumentsMax: number): Promise<void> {
    const config = { limits: { homeDocumentsMax } };
    moved = await TestServer.start({ shards, dataDir, config });
  }

  async function expectAll(shards: number, homeDocumentsMax: number): Promise<void> {
    for (const [name, documents] of Object.entries(INDEXES)) {
      const isHome = documents.length <= homeDocumentsMax;
      await eventually(async () => {
        const { data } = (await moved.get(`/v1/indexes/${name}/stats`)).json;
        return data.shards === (isHome ? 1 : shards);
      }, `${name} is in the right shards`);
      if (documents.length === 0) continue;
      await expectThings(moved, name, documents);
      const body = { q: "*", search_mode: "semantic", vector: toward(1), per_page: 250 };
      const reply = await moved.query(name, body);
      expect(idsOf(reply).length).toBe(documents.length);
    }
  }

  test("finds indexes at home, spread indexes, and one that is now too large for its home", async () => {
    await start(3, 50);
    for (const [name, documents] of Object.entries(INDEXES)) {
      expectStatus(await moved.post("/v1/indexes", { name, schema: SCHEMA, settings: PUSHED }), 201);
      const path = `/v1/indexes/${name}/documents/batch`;
      const pushed = documents.map((one, i) => ({ ...one, embedding: toward(1, i / 100) }));
      for (let at = 0; at < pushed.length; at += 30)
        expectStatus(await moved.post(path, { documents: pushed.slice(at, at + 30) }), 200);
    }
    await expectAll(3, 50);
    const starts = effort(
      [
        [3, 20], // "some" is too large for one shard
        [5, 200], // "many" returns to one shard
        [4, 30], // the move spreads "many" and "some"
      ],
      [
        [3, 20],
        [2, 20],
        [5, 200],
        [4, 30],
        [1, 30],
        [3, 60],
      ],
    ) as (readonly [shards: number, homeDocumentsMax: number])[];
    for (const [shards, homeDocumentsMax] of starts) {
      expect(await moved.stop()).toBe(0);
      await start(shards, homeDocumentsMax);
      await expectAll(shards, shards === 1 ? 0 : homeDocumentsMax);
      expectStatus(await moved.patch("/v1/indexes/some/documents/d7", { title: "thing number7" }), 200);
      await expectThings(moved, "some", INDEXES.some);
    }
  });

  test("loses nothing when an index returns home before its former home is dropped", async () => {
    const cut = new SpreadingWorld({ shards: SHARDS, frontEnds: 1 });
    try {
      await cut.server.launch();
      await cut.make("back", undefined, BEGUN);
      await cut.whileHeld(
        "spread.before-drop",
        () => cut.write("back", MORE),
        async () => {
          const filter = encodeURIComponent("number:[0..49]");
          expectStatus(await cut.server.delete(`/v1/indexes/back/documents?filter_by=${filter}`), 200);
          await cut.server.stop();
        },
      );
      const config = { limits: { homeDocumentsMax: HOME_DOCUMENTS_MAX } };
      moved = await TestServer.start({ shards: 2, dataDir: cut.faults.dataDir, config });
      expect((await moved.get("/v1/indexes/back/stats")).json.data.shards).toBe(1);
      await expectThings(moved, "back", ALL.slice(50));
      await moved.stop();
    } finally {
      await cut.close();
    }
  });

  test("is not mistaken for an interrupted spreading", async () => {
    const cut = new SpreadingWorld({ shards: SHARDS, frontEnds: 1 });
    try {
      await cut.server.launch();
      await cut.make("cut", undefined, BEGUN);
      await cut.whileHeld(
        "spread.after-decision",
        () => cut.write("cut", MORE),
        () => cut.server.stop("SIGKILL"),
      );
      moved = await TestServer.start({
        shards: 2,
        dataDir: cut.faults.dataDir,
        config: { limits: { homeDocumentsMax: 1 } },
      });
      await expectThings(moved, "cut", ALL);
      expect((await moved.get("/v1/indexes/cut/stats")).json.data.shards).toBe(2);
      await moved.stop();
    } finally {
      await cut.close();
    }
  });
});
