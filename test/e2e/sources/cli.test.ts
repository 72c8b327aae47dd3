// `skein sources` as people and scripts use it: output, exit codes, and whether the feed is imported.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FeedServer, startFeedServer } from "../world/feed-server.js";
import { documentsOf, FROM_LOOPBACK } from "../world/feeds.js";
import { ADMIN_KEY } from "../world/harness.js";
import { type ProgramRun, runProgram } from "../world/program.js";
import { sharedServer } from "../world/shared-server.js";

const FEED = "Artikel-Nr;Titel;Preis\n1;Stuhl;12,50 EUR\n2;Tisch;1.299,00 EUR\n3;Lampe;viel\n";
const MAP = ["--map", "Artikel-Nr=id", "--map", "Titel=title", "--map", "Preis=price"];
const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "price", type: "float" },
  ],
};

let feeds: FeedServer;
let folder: string;

beforeAll(async () => {
  feeds = await startFeedServer();
  folder = mkdtempSync(join(tmpdir(), "skein-sources-"));
  feeds.route("/shop.csv", { body: FEED, basicAuth: { username: "shop", password: "secret" } });
});

afterAll(async () => {
  await feeds.close();
  rmSync(folder, { recursive: true, force: true });
});

const server = sharedServer({ shards: 1, config: FROM_LOOPBACK }, (server) =>
  server.createIndex("shop", SCHEMA),
);

function skein(...args: string[]): Promise<ProgramRun> {
  const env = { SKEIN_URL: server.url, SKEIN_API_KEY: ADMIN_KEY, SKEIN_FEED_PASSWORD: "secret" };
  return runProgram("server/cli/main.js", ["sources", ...args], { folder, env });
}

test("a feed is previewed, connected and read, and its runs are shown", async () => {
  const from = ["shop", feeds.url("/shop.csv"), "--format", "csv", "--user", "shop"];
  const preview = await skein("preview", ...from, ...MAP);
  expect(preview).toMatchObject({ code: 0, err: "" });
  expect(preview.out).toMatch(/item 1: \{"id":"1","title":"Stuhl","price":12.5,"price_currency":"EUR"\}/);
  expect(preview.out).toMatch(/item 3: price must be a finite number, not "viel"/);
  const suggested = await skein("preview", ...from);
  expect(suggested.out).toContain('suggested field_map: {"Artikel-Nr":"id"}');

  const added = await skein(
    "add",
    ...from,
    ...MAP,
    "--schedule",
    "daily",
    "--mode",
    "replace",
    "--max-delete-ratio",
    "0.1",
  );
  expect(added.out).toMatch(/^Data source 1 is connected; next run 20/);
  expect((await skein("runs", "shop", "1")).out).toBe("The data source has not been read yet.\n");

  const read = await skein("sync", "shop", "1");
  expect(read.code).toBe(1);
  expect(read.out).toMatch(
    /^completed; 2 imported, 0 unchanged, 1 failed, 0 deleted\n {2}item 3 \(3\): price must/,
  );
  expect(await documentsOf(server, "shop")).toMatchObject({ 2: { title: "Tisch", price: 1299 } });

  const list = await skein("list", "shop");
  expect(list.out).toMatch(/ csv +daily +replace +completed 20/);
  expect((await skein("runs", "shop", "1")).out).toMatch(/completed .* 2 +0 +1 +0/);
  expect(JSON.parse((await skein("list", "shop", "--json")).out).data).toHaveLength(1);
});

test("a failed run ends with exit code 2, and so does a run of an unknown source", async () => {
  const added = await skein("add", "shop", feeds.url("/gone"), "--format", "json");
  const id = /^Data source (\d+)/.exec(added.out)![1]!;
  const read = await skein("sync", "shop", id);
  expect(read).toMatchObject({ code: 2, err: "" });
  expect(read.out).toMatch(/^failed: .*404.* \(SK-DS-502\)/);
  expect((await skein("remove", "shop", id)).out).toBe(`Data source ${id} is deleted.\n`);
  const gone = await skein("sync", "shop", id);
  expect(gone).toMatchObject({ code: 2, err: expect.stringContaining("SK-DS-404") });
});

test("an invalid mapping is refused before anything is sent", async () => {
  const run = await skein("add", "shop", feeds.url("/x"), "--format", "csv", "--map", "Titel");
  expect(run).toMatchObject({ code: 2, err: expect.stringContaining("--map must be <from>=<to>") });
});

test.each(["abc", "", "2", "-0.1"])("a ratio of %j is refused before anything is sent", async (ratio) => {
  const run = await skein("add", "shop", feeds.url("/x"), "--format", "csv", `--max-delete-ratio=${ratio}`);
  expect(run).toMatchObject({ code: 2, err: expect.stringContaining("it must be a number from 0 to 1") });
});
