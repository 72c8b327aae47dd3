// Fault points in offline operations: a change to the number of shards, and a restore. After a kill or
// failure at any of these points, `skein check` and `skein repair` recognise the unfinished work and leave
// its files alone, and the next start finds either all of the old data or all of the new data.
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SERVER_FAULT_POINTS } from "../../../server/ground/fault.js";
import { effort } from "../../effort.js";
import { eventually, expectStatus } from "../world/harness.js";
import { backups, type OfflinePoint } from "./fault-scenarios.js";
import { type View, World } from "./fault-world.js";

const SCHEMA = { fields: [{ name: "title", type: "string" }] };

/** Exit code and output of `skein check` and `skein repair` after an interruption at each point. */
const SAYS: Record<OfflinePoint, [code: number, text: RegExp]> = {
  "reshard.after-plan": [0, /unfinished: a change to \d shards is unfinished/],
  "reshard.after-index": [0, /unfinished: a change to \d shards is unfinished/],
  "reshard.after-complete": [0, /unfinished: a change to \d shards is unfinished/],
  "reshard.after-catalog": [2, /the change to \d shards is not finished: .* start the server once/],
  "reshard.after-aside": [2, /the change to \d shards is not finished: .* start the server once/],
  "reshard.after-switch": [0, /unfinished: .*shards\.old has been replaced/],
  "restore.after-shard": [0, /unfinished: .*restore\.new is left over from an interrupted restore/],
  "restore.after-build": [0, /unfinished: .*restore\.new is left over from an interrupted restore/],
  "restore.after-rename": [2, /a restore into .* is not finished; start the server once/],
  "restore.after-part": [2, /a restore into .* is not finished; start the server once/],
  "restore.before-end": [2, /a restore into .* is not finished; start the server once/],
};
/** Maps each expected output to the first point that produces it. */
const FIRST_TO_SAY = new Map(
  (Object.keys(SAYS) as OfflinePoint[]).reverse().map((point) => [String(SAYS[point]), point]),
);

/**
 * A failing step ends the process just as a kill does, only in an orderly way. A normal test run therefore
 * tests a failure at only the last point of each operation.
 */
const points = (kind: string, what: "kill" | "throw"): OfflinePoint[] =>
  SERVER_FAULT_POINTS.filter((point): point is OfflinePoint => point.startsWith(`${kind}.`)).slice(
    what === "kill" ? 0 : effort(-1, 0),
  );

const world = new World();
const whole = join(world.place, "whole");
const backup = join(world.place, "backup");
let old: View;
let restored: View;

function documents(from: number, count: number) {
  return Array.from({ length: count }, (_, i) => ({ id: `d${from + i}`, title: `thing number${from + i}` }));
}

beforeAll(async () => {
  const server = await world.start();
  for (const name of ["one", "two"]) await server.createIndex(name, SCHEMA, documents(0, 60));
  expectStatus(await server.post("/v1/snapshots"), 202);
  await eventually(async () => (await backups(server))[0]?.status === "complete", "the backup is written");
  restored = await world.view();
  cpSync((await backups(server))[0]!.path, backup, { recursive: true });
  expectStatus(await server.delete("/v1/indexes/two"), 200);
  await server.createIndex("three", SCHEMA, documents(50, 70));
  old = await world.view();
  await server.stop();
  cpSync(world.dataDir, whole, { recursive: true });
});

afterAll(() => world.close());

/** Starts a server with `shards` shards and stops it again. Returns the client's view in between. */
async function started(shards: number): Promise<View> {
  world.shards = shards;
  const server = await world.start();
  const view = await world.view();
  expect(await server.stop()).toBe(0);
  return view;
}

/**
 * If several points have the same expected output, a normal test run checks the commands at only the first of
 * them, after a kill.
 */
const isChecked = (point: OfflinePoint, what: "kill" | "throw"): boolean =>
  effort(FIRST_TO_SAY.get(String(SAYS[point])) === point && what === "kill", true);

async function expectNamed(point: OfflinePoint, what: "kill" | "throw"): Promise<void> {
  if (!isChecked(point, what)) return;
  const before = readdirSync(world.dataDir).sort();
  for (const command of ["check", "repair"]) {
    const { code, text } = await world.skein(command, "--data-dir", world.dataDir);
    expect([code, text], `${command} at ${point}`).toEqual([
      SAYS[point][0],
      expect.stringMatching(SAYS[point][1]),
    ]);
  }
  expect(readdirSync(world.dataDir).sort()).toEqual(before);
}

async function expectClean(point: OfflinePoint, what: "kill" | "throw"): Promise<void> {
  if (!isChecked(point, what)) return;
  const { code, text } = await world.skein("check", "--data-dir", world.dataDir);
  expect([code, text]).toEqual([0, expect.not.stringContaining("unfinished")]);
}

describe.each(["kill", "throw"] as const)("%s", (what) => {
  test.each(points("reshard", what))("at %s", async (point) => {
    rmSync(world.dataDir, { recursive: true });
    cpSync(whole, world.dataDir, { recursive: true });
    world.arm(point, what);
    const { code, text } = await world.startAndEnd(1);
    expect(world.spent(point)).toBe(true);
    expect(code === null || code > 0, text).toBe(true);
    await expectNamed(point, what);
    // nothing is missing, whether the next start uses the requested number of shards or the former one
    expect(await started(what === "kill" ? 1 : 2)).toEqual(old);
    await expectClean(point, what);
  });

  test.each(points("restore", what))("at %s", async (point) => {
    rmSync(world.dataDir, { recursive: true });
    cpSync(whole, world.dataDir, { recursive: true });
    world.arm(point, what);
    const { code, text } = await world.skein("restore", backup, "--data-dir", world.dataDir, "--force");
    expect(world.spent(point)).toBe(true);
    expect(code === null || code > 0, text).toBe(true);
    await expectNamed(point, what);
    const [says] = SAYS[point];
    expect(await started(2)).toEqual(says === 0 ? old : restored);
    if (says === 0) {
      const again = await world.skein("restore", backup, "--data-dir", world.dataDir, "--force");
      expect(again.code, again.text).toBe(0);
      expect(await started(2)).toEqual(restored);
    }
    await expectClean(point, what);
  });
});
