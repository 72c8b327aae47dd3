// Other users of the machine cannot read the data: neither the files of a server, a snapshot or a restore,
// nor files that an earlier version left readable.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually, expectStatus, MAIN, TestServer } from "../world/harness.js";

let server: TestServer;
const place = mkdtempSync(join(tmpdir(), "skein-test-private-"));
const dataDir = join(place, "data");

beforeAll(async () => {
  server = await TestServer.start({ dataDir });
  const documents = [{ id: "a", title: "red shoe" }];
  await server.createIndex("things", { fields: [{ name: "title", type: "string" }] }, documents);
  expectStatus(await server.post("/v1/snapshots"), 202);
  const taken = async () => !(await server.get("/v1/snapshots")).text.includes('"running"');
  await eventually(taken, "the snapshot is taken");
});

afterAll(async () => {
  await server.close();
  rmSync(place, { recursive: true });
});

/** The paths in `directory` that other users can access, and the total number of paths. */
function openToOthers(directory: string): { open: string[]; all: number } {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" });
  const paths = [directory, ...names.map((name) => join(directory, name))];
  return { open: paths.filter((path) => (statSync(path).mode & 0o077) !== 0), all: paths.length };
}

function expectPrivate(directory: string): void {
  const { open, all } = openToOthers(directory);
  expect(open).toEqual([]);
  expect(all).toBeGreaterThan(10);
}

test("a new data directory with a snapshot is private", () => expectPrivate(dataDir));

test("a directory left open to others is made private by the next start", async () => {
  await server.stop();
  execFileSync("chmod", ["-R", "go+rX", dataDir]);
  await server.launch();
  expectPrivate(dataDir);
});

test("a directory restored from an open snapshot is private", async () => {
  const snapshots = join(dataDir, "snapshots");
  const [id] = readdirSync(snapshots);
  execFileSync("chmod", ["-R", "go+rX", snapshots]);
  const restored = join(place, "restored");
  const { status, stderr } = spawnSync(
    process.execPath,
    [MAIN, "restore", join(snapshots, id as string), "--data-dir", restored],
    { encoding: "utf8" },
  );
  expect(status, stderr).toBe(0);
  expectPrivate(restored);
});
