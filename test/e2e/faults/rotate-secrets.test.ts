// `skein rotate-secrets`, killed or failing at each step. Afterwards, a single key opens every stored secret,
// whether the server is started or the rotation is repeated, and users keep their identity in the query log.
import { cpSync, existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { effort } from "../../effort.js";
import { type EmbeddingServer, startEmbeddingServer } from "../world/embedding-server.js";
import { type FeedServer, startFeedServer } from "../world/feed-server.js";
import { ended, makeSource, type Source, sync, syncNow } from "../world/feeds.js";
import { eventually, expectStatus, type TestServer } from "../world/harness.js";
import type { SecretsPoint } from "./fault-scenarios.js";
import { World } from "./fault-world.js";

const API_KEY = "key-of-the-model";
const basicAuth = { username: "shop", password: "password-of-the-feed" };
const SCHEMA = { fields: [{ name: "title", type: "string" }] };

type Point = SecretsPoint | "catalog.before-batch" | "catalog.after-batch";
/** Fault points in the order they are passed, each with the key that is valid after an interruption there. */
const POINTS: Readonly<Record<Point, "old" | "new">> = {
  "secrets.after-key": "old",
  "catalog.before-batch": "old",
  "catalog.after-batch": "new",
  "secrets.after-catalog": "new",
  "secrets.after-rename": "new",
};

/**
 * Points where, after the interruption, the test not only starts a server but also repeats the rotation. A
 * normal test run includes one point where the old key is valid and one where the new key is.
 */
const CHANGED_AGAIN = effort<readonly Point[]>(
  ["secrets.after-key", "catalog.after-batch"],
  Object.keys(POINTS) as Point[],
);

const world = new World({ feeds: { allow_hosts: ["127.0.0.1"] }, ai: { allow_hosts: ["127.0.0.1"] } });
const whole = join(world.place, "whole");
const keyFile = join(world.dataDir, "secrets.key");
const nextFile = `${keyFile}.next`;
let feeds: FeedServer;
let models: EmbeddingServer;
let source: Source;
let oldKey = "";

beforeAll(async () => {
  feeds = await startFeedServer();
  feeds.route("/feed.json", { body: '[{"id":"1","title":"shoe"}]', basicAuth });
  models = await startEmbeddingServer({ apiKey: API_KEY });
  const server = await world.start();
  await server.createIndex("shop", SCHEMA);
  const embedder = { source: "endpoint", url: models.url(), model: "small", api_key: API_KEY };
  expectStatus(await server.patch("/v1/indexes/shop/settings", { embedder }), 200);
  source = await makeSource(server, "shop", {
    url: feeds.url("/feed.json"),
    format: "json",
    schedule: "manual",
    basic_auth: basicAuth,
  });
  await expectOpened(server);
  expect(await server.stop()).toBe(0);
  cpSync(world.dataDir, whole, { recursive: true });
  oldKey = readFileSync(keyFile, "utf8");
});

afterAll(async () => {
  await world.close();
  await feeds.close();
  await models.close();
});

/** Expects the feed's and the model's servers to receive their secrets, and the log to recognise the user. */
async function expectOpened(server: TestServer): Promise<void> {
  expect(await sync(server, source)).toMatchObject({ status: "completed", error: null });
  await eventually(async () => {
    const asked = { q: `shoe ${Math.random()}`, search_mode: "semantic", user_id: "ann" };
    return (await server.query("shop", asked)).json.search_mode === "semantic";
  }, "the model answers");
  await eventually(async () => {
    const { data } = (await server.get("/v1/indexes/shop/analytics/summary")).json;
    return data.searches !== 0 && data.users === 1;
  }, "the log has one user");
}

async function expectAllWell(): Promise<void> {
  const server = await world.start();
  expect(existsSync(nextFile)).toBe(false);
  await expectOpened(server);
  expect(await server.stop()).toBe(0);
}

function asBefore(): void {
  rmSync(world.dataDir, { recursive: true });
  cpSync(whole, world.dataDir, { recursive: true });
}

const rotate = () => world.skein("rotate-secrets", "--data-dir", world.dataDir);

/**
 * A failing step ends the command just as a kill does, only in an orderly way. A normal test run therefore
 * tests a failure at only the last point.
 */
const points = (what: "kill" | "throw"): Point[] =>
  (Object.keys(POINTS) as Point[]).slice(what === "kill" ? 0 : effort(-1, 0));

describe.each(["kill", "throw"] as const)("%s", (what) => {
  test.each(points(what))("at %s", async (point) => {
    asBefore();
    world.arm(point, what);
    const { code, text } = await rotate();
    expect(world.spent(point)).toBe(true);
    expect(code === null || code === 2, text).toBe(true);
    const unfinished = existsSync(nextFile);
    expect(unfinished).toBe(point !== "secrets.after-rename");
    const check = await world.skein("check", "--data-dir", world.dataDir);
    expect(check.code, check.text).toBe(0);
    expect(check.text.includes("a replacement of the key of secrets was interrupted")).toBe(unfinished);
    const left = join(world.place, "left");
    cpSync(world.dataDir, left, { recursive: true });

    await expectAllWell();
    // a failure after the batch was stored is reported, but the batch stays stored, as after a kill
    expect(readFileSync(keyFile, "utf8") === oldKey).toBe(POINTS[point] === "old");

    if (!CHANGED_AGAIN.includes(point)) return;
    rmSync(world.dataDir, { recursive: true });
    cpSync(left, world.dataDir, { recursive: true });
    rmSync(left, { recursive: true });
    const again = await rotate();
    expect([again.code, again.text]).toEqual([
      0,
      expect.stringContaining("2 secrets are encrypted with the new one"),
    ]);
    await expectAllWell();
  });
});

test("the key can be changed repeatedly, and old keys open nothing", async () => {
  asBefore();
  for (let i = 0; i < 2; i++) {
    const { code, text } = await rotate();
    expect([code, text]).toEqual([0, expect.stringContaining("2 secrets are encrypted with the new one")]);
  }
  await expectAllWell();
  const lines = readFileSync(keyFile, "utf8");
  expect(lines).toMatch(/^([0-9a-f]{64}\n){2}$/);
  expect(lines).not.toContain(oldKey.trim());
  expect(statSync(keyFile).mode & 0o777).toBe(0o600);
  cpSync(join(whole, "secrets.key"), keyFile);
  const server = await world.start();
  const run = await ended(server, source, await syncNow(server, source));
  expect(run).toMatchObject({ status: "auth_failed", error: expect.stringContaining("cannot be read") });
  expect(await server.stop()).toBe(0);
});

test("a rotation names secrets that the old key cannot open, and leaves them", async () => {
  asBefore();
  rmSync(keyFile);
  const none = await rotate();
  expect(none).toEqual({ code: 2, text: expect.stringContaining("no secret is encrypted") });
  const server = await world.start(); // a new start creates another key
  expect(await server.stop()).toBe(0);
  const { code, text } = await rotate();
  expect([code, text]).toEqual([0, expect.stringContaining("0 secrets are encrypted with the new one")]);
  expect(text).toContain("The old key cannot decrypt the basic_auth of the data source 1; set it again.");
  expect(text).toContain('The old key cannot decrypt the embedder.api_key of the index "shop" of tenant 1;');
});

test("a rotation is refused while a server runs, and outside a Skein data directory", async () => {
  asBefore();
  const server = await world.start();
  expect(await rotate()).toEqual({
    code: 2,
    text: expect.stringMatching(/another server \(pid \d+\) is running/),
  });
  expect(await server.stop()).toBe(0);
  const elsewhere = await world.skein("rotate-secrets", "--data-dir", world.place);
  expect(elsewhere).toEqual({ code: 2, text: expect.stringContaining("is not a data directory of Skein") });
});
