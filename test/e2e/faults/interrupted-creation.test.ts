// An index creation interrupted by a crash between catalog and shards is not damage: `skein check` reports it
// and the next start rolls it back. A shard that has lost a fully created index is damaged, whether the
// server has one shard or several.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { indexRange } from "../../../shards/storage/keyspace.js";
import { LevelStore } from "../../../shards/storage/level-store.js";
import { effort } from "../../effort.js";
import { eventually, expectStatus } from "../world/harness.js";
import { World } from "./fault-world.js";

const SCHEMA = { fields: [{ name: "title", type: "string" }] };
const DOCUMENTS = Array.from({ length: 20 }, (_, i) => ({ id: `d${i}`, title: `thing number${i}` }));
/**
 * Fault points, each with the number of shards that the next start adds. A normal test run tests the first
 * point on a server with one shard and the second on a server with two.
 */
const CUTS: [point: string, more: number][] = [
  ["create.after-catalog", 0],
  ["create.after-shards", 1],
];

describe.each([1, 2])("with %i shards", (shards) => {
  let world: World;

  const cuts = effort(CUTS.slice(shards - 1, shards), CUTS);
  const offline = (command: "check" | "repair") => world.skein(command, "--data-dir", world.dataDir);

  beforeEach(async () => {
    world = new World();
    world.shards = shards;
    const server = await world.start();
    await server.createIndex("kept", SCHEMA, DOCUMENTS);
  });

  afterEach(() => world.close());

  /** The next start removes the unfinished index, even if that start also adds a shard. */
  test.each(cuts)("a creation cut short at %s, then a start with %i more shards", async (point, more) => {
    let server = world.server!;
    world.arm(point, "kill");
    const body = { name: "unanswered", schema: SCHEMA };
    await expect(server.raw("POST", "/v1/indexes", { body })).rejects.toThrow();
    await eventually(async () => !server.running, "the server is dead");
    for (const command of ["check", "repair"] as const) {
      const { code, text } = await offline(command);
      expect(text).toContain(
        'unfinished: the creation of the index "unanswered" was interrupted; the next start removes it',
      );
      expect(text).toContain("no damage found");
      expect(code).toBe(0);
    }
    world.shards += more;
    server = await world.start();
    expectStatus(await server.get("/v1/indexes/unanswered"), 404);
    await server.createIndex("unanswered", SCHEMA, DOCUMENTS);
    expect((await server.query("kept", { q: "thing" })).json.found).toBe(DOCUMENTS.length);
    expect(await server.stop()).toBe(0);
    const { code, text } = await offline("check");
    expect(text).not.toContain("unfinished");
    expect(code).toBe(0);
  });

  test("an index missing from a shard is damage, not a new index", async () => {
    const server = world.server!;
    expect(await server.stop()).toBe(0);
    const store = await LevelStore.open(join(world.dataDir, "shards", "0"));
    await store.clear(indexRange(1));
    await store.close();
    const { code, text } = await offline("check");
    expect(text).toContain("index 1, manifest: missing");
    expect(code).toBe(1);
    await server.launch();
    expectStatus(await server.raw("POST", "/v1/indexes/kept/query", { body: { q: "*" } }), 503);
    await server.stop();
    expect((await offline("check")).code).toBe(1);
    expect((await offline("repair")).code).toBe(0);
    await server.launch();
    const { found } = (await server.query("kept", { q: "*" })).json;
    expect(found).toBeLessThan(DOCUMENTS.length);
    expect(found > 0).toBe(shards > 1);
  });
});
