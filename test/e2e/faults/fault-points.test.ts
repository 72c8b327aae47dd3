// Visits every named fault point of a running server. When an operation reaches the point, the process is
// killed, the step fails, or the server is told to stop. Afterwards, the state must be either old or new, the
// change must still be possible, catalog and shards must agree, and nothing acknowledged may be missing.
import { readdirSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SERVER_FAULT_POINTS } from "../../../server/ground/fault.js";
import { SHARD_FAULT_POINTS } from "../../../shards/fault.js";
import { effort } from "../../effort.js";
import { eventually, expectStatus } from "../world/harness.js";
import type { Reply } from "../world/reply.js";
import { backups, SCENARIOS, type Scenario, type ServingPoint } from "./fault-scenarios.js";
import { type View, World } from "./fault-world.js";

const ELSEWHERE = /^(restore|reshard|run|audit|secrets|spread)\./;
const POINTS = [...SHARD_FAULT_POINTS, ...SERVER_FAULT_POINTS].filter(
  (point) => !ELSEWHERE.test(point),
) as ServingPoint[];
/**
 * Points inside multi-step operations, which a stop interrupts. A stop waits for all other operations to
 * finish.
 */
const STOPPED: readonly ServingPoint[] = [
  "merge.before-switch",
  "schema.after-catalog",
  "swap.after-catalog",
  "backup.after-files",
  ...effort<readonly ServingPoint[]>(
    [],
    [
      "reindex.before-build",
      "drop.after-manifest",
      "create.after-catalog",
      "schema.before-shards",
      "copy.after-catalog",
      "remove.after-catalog",
      "write.before-shards",
      "backup.after-take",
    ],
  ),
];
/**
 * Points whose failure is tested only in a long run, because failed vector work is not retried for several
 * seconds.
 */
const RARELY_THROWN = effort(/^(model|vectors|codes)\./, /^$/);
const isThrown = (point: ServingPoint): boolean =>
  SCENARIOS[point].thrown !== undefined && !RARELY_THROWN.test(point);
const isOfShards = (point: ServingPoint): boolean => SHARD_FAULT_POINTS.some((one) => one === point);
/**
 * A normal test run skips every other shard point, because test/crash already interrupts a shard at each of
 * its syncs. It also skips every other server point at which a failure is tested.
 */
const isKilled = (point: ServingPoint, i: number): boolean =>
  effort(i % 2 === 0 || (!isOfShards(point) && !isThrown(point)), true);

// Each group has its own server. The groups run concurrently because some of them wait seconds for a retry.
describe.concurrent.each([
  ["kill", "shards", POINTS.filter(isOfShards).filter(isKilled)],
  ["kill", "the server", POINTS.filter((point) => !isOfShards(point)).filter(isKilled)],
  ["throw", "all", POINTS.filter(isThrown)],
  ["stop", "all", STOPPED],
] as const)("%s, points in %s", (what, _where, points) => {
  const world = new World();

  beforeAll(async () => {
    const server = await world.start();
    await server.createIndex("bystander", { fields: [{ name: "title", type: "string" }] }, [
      { id: "here", title: "all the time" },
    ]);
  });

  afterAll(() => world.close());

  test.sequential.each(points)("at %s", async (point) => {
    const scenario = SCENARIOS[point];
    const server = world.server!;
    await removeAllBut(["bystander", scenario.found]);
    await scenario.before?.(world);
    const before = await world.view();
    world.arm(point, what);
    const reply = await scenario.act(server).catch(() => undefined);
    await eventually(async () => world.spent(point), `${point} is reached`);
    if (what === "throw") {
      expect(reply?.status, reply?.text).toBe(scenario.thrown);
      if (scenario.partial) return expectTold(reply!, scenario.after(before));
      const refused = scenario.thrown! >= 300 && scenario.kept !== true;
      await complete(scenario, before, refused ? "old" : "new");
    } else {
      await eventually(async () => !server.running, "the server is dead");
      if (what === "stop") expect(await server.stop()).toBe(0);
      await server.launch();
      await complete(scenario, before, reply !== undefined && reply.status < 300 ? "new" : "either");
      await scenario.settled?.(server);
    }
  });

  test.sequential("catalog and shards agree, no backup is half written, and a restart changes nothing", async () => {
    const server = world.server!;
    const before = await world.view();
    await eventually(
      async () => (await backups(server)).every(({ status }) => status !== "running"),
      "no backup is being written",
    );
    if (what === "throw") await eventually(async () => dropsDone() === 2, "postponed drops are done");
    expect(await server.stop()).toBe(0);
    const { code, text } = await world.skein("check", "--data-dir", world.dataDir);
    expect(code, text).toBe(0);
    await server.launch();
    expect(await world.view()).toEqual(before);
    const files = readdirSync(world.dataDir, { recursive: true, encoding: "utf8" });
    expect(files.filter((name) => name.endsWith(".partial"))).toEqual([]);
    expect((await backups(server)).filter(({ status }) => status !== "complete")).toEqual([]);
    expect(points.filter((point) => !world.passed().has(point))).toEqual([]);
  });

  /** Removes the leftovers of earlier points, so that no point affects another. */
  async function removeAllBut(kept: readonly (string | undefined)[]): Promise<void> {
    const server = world.server!;
    const indexes = (await server.get("/v1/indexes")).json.data as unknown as { name: string }[];
    for (const { name } of indexes)
      if (!kept.includes(name)) expectStatus(await server.delete(`/v1/indexes/${name}`), 200);
  }

  /** Number of times a deleted index's data was dropped after a first attempt had failed. */
  function dropsDone(): number {
    return world.server!.log.filter(({ msg }) => msg === "the data of a deleted index is dropped now").length;
  }

  /** Expects the complete new state, except for the documents that the reply lists as failed. */
  async function expectTold(reply: Reply, all: View): Promise<void> {
    const { errors, failed } = reply.json.data as unknown as {
      errors: { id: string; code: string }[];
      failed: number;
    };
    expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(["SK-SYS-503"]));
    const refused = new Set(errors.map(({ id }) => id));
    expect(refused.size).toBe(failed);
    const stored = (line: string): boolean => !refused.has((JSON.parse(line) as { id: string }).id);
    const kept = Object.entries(all).map(([name, one]) => {
      return [name, { ...one, documents: one.documents.filter(stored) }];
    });
    expect(await world.view()).toEqual(Object.fromEntries(kept));
  }

  /**
   * Expects the old or the new state; `expected` may require one of them. If the change has not been made,
   * makes it and expects the new state.
   */
  async function complete(
    scenario: Scenario,
    before: View,
    expected: "old" | "new" | "either",
  ): Promise<void> {
    const all = scenario.after(before);
    const found = await world.view();
    const isNew = isDeepStrictEqual(found, all);
    if (isNew && expected !== "old") return;
    expect(found).toEqual(before);
    expect(expected).not.toBe("new");
    const again = await scenario.act(world.server!);
    expect(again.status, again.text).toBeLessThan(300);
    expect(await world.view()).toEqual(all);
  }
});
