// Spreading an index over all shards, with a kill or a failure at each fault point while clients write.
// Afterwards the index is either at home or spread and has every acknowledged document exactly once, `skein
// check` finds no damage, and the next attempt completes.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SERVER_FAULT_POINTS } from "../../../server/ground/fault.js";
import type { SpreadPoint } from "../faults/fault-scenarios.js";
import { World } from "../faults/fault-world.js";
import { eventually, expectStatus, type TestServer } from "../world/harness.js";

const POINTS = SERVER_FAULT_POINTS.filter((point): point is SpreadPoint => point.startsWith("spread."));
const HOME_DOCUMENTS_MAX = 60;
const SHARDS = 3;
const SCHEMA = { fields: [{ name: "title", type: "string" }] };
/** The last point before the spreading is decided. */
const LAST_UNDECIDED: SpreadPoint = "spread.after-copy";

function documents(from: number, count: number) {
  return Array.from({ length: count }, (_, i) => ({ id: `d${from + i}`, title: `thing number${from + i}` }));
}

async function shardsOf(server: TestServer, index: string): Promise<number> {
  return Number((await server.get(`/v1/indexes/${index}/stats`)).json.data.shards);
}

describe.concurrent.each(["kill", "throw"] as const)("%s", (what) => {
  const world = new World({ limits: { homeDocumentsMax: HOME_DOCUMENTS_MAX } });
  world.shards = SHARDS;

  beforeAll(() => world.start());

  afterAll(() => world.close());

  test.sequential.each(POINTS)("at %s", async (point) => {
    const server = world.server!;
    const index = point.replace(".", "-");
    await server.createIndex(index, SCHEMA, documents(0, HOME_DOCUMENTS_MAX));
    world.arm(point, what);
    let written = HOME_DOCUMENTS_MAX;
    const path = `/v1/indexes/${index}/documents/batch`;
    const write = async (): Promise<boolean> => {
      const batch = { documents: documents(written, 5) };
      const reply = await server.raw("POST", path, { body: batch }).catch(() => undefined);
      if (reply?.status !== 200) return false;
      written += 5;
      return true;
    };
    for (let turn = 0; turn < 20 && (await write()); turn++);
    await eventually(async () => world.spent(point), `${point} is reached`);
    if (what === "kill") {
      await eventually(async () => !server.running, "the server is dead");
      const { code, text } = await world.skein("check", "--data-dir", world.dataDir);
      expect(text).toContain("no damage found");
      expect(code).toBe(0);
      const decided = POINTS.indexOf(point) > POINTS.indexOf(LAST_UNDECIDED);
      await server.launch();
      if (decided) expect(await shardsOf(server, index)).toBe(SHARDS);
    }
    const found = async () => (await server.query(index, { q: "*", per_page: 0 })).json.found;
    // If a batch got no reply, each shard may or may not have stored its share of it.
    const kept = await found();
    expect(kept).toBeGreaterThanOrEqual(written);
    expect(kept).toBeLessThanOrEqual(what === "kill" ? written + 5 : written);
    expect(await write()).toBe(true);
    await eventually(async () => (await shardsOf(server, index)) === SHARDS, "it is spread");
    expect(await write()).toBe(true);
    const exported = await server.raw("GET", `/v1/indexes/${index}/documents/export`);
    expectStatus(exported, 200);
    const lines = exported.text.split("\n").filter((line) => line !== "");
    const exportedDocuments = lines.map((line) => JSON.parse(line) as { id: string });
    const byNumber = (a: { id: string }, b: { id: string }) => Number(a.id.slice(1)) - Number(b.id.slice(1));
    expect(exportedDocuments.sort(byNumber)).toEqual(documents(0, written));
    expect(await found()).toBe(written);
  });

  test.sequential("the shards agree with the catalog", async () => {
    expect(await world.server!.stop()).toBe(0);
    const { code, text } = await world.skein("check", "--data-dir", world.dataDir);
    expect([code, text.includes("unfinished")], text).toEqual([0, false]);
    expect(POINTS.filter((point) => !world.passed().has(point))).toEqual([]);
  });
});
