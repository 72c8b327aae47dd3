// Programs other than the `skein` command that people run from a checkout: the demo and the load benchmark.
// Also checks that npx can run the command.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT, runProgram } from "../world/program.js";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "skein-programs-"));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test("the built command can be run by path, as npx does", () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  const answer = execFileSync(join(ROOT, "dist/server/cli/main.js"), ["--version"], { encoding: "utf8" });
  expect(answer.trim()).toBe(version);
});

test.concurrent("the demo fills a server, searches it and ends when told to", async () => {
  const env = { SKEIN_DEMO_EXIT: "1" };
  const run = await runProgram("server/cli/demo/main.js", ["--port", "0"], { folder, env });
  expect(run).toMatchObject({ code: 0, err: "" });
  const samples = run.out.split("\n$ skein search products ").slice(1);
  expect(samples.length).toBeGreaterThanOrEqual(5);
  for (const sample of samples) expect(sample, sample).toMatch(/^[1-9]\d* found/m);
  expect(run.out).toContain("100 products read, read again every hour.");
});

test("the demo explains its options and refuses unknown ones without a build", async () => {
  const script = "../scripts/demo.mjs";
  const help = await runProgram(script, ["--help"], { folder });
  expect(help).toMatchObject({ code: 0, err: "" });
  expect(help.out).toMatch(/^usage: npm run demo/);
  const mistyped = await runProgram(script, ["--prot", "1"], { folder });
  expect(mistyped).toMatchObject({ code: 2, out: "" });
  expect(mistyped.err).toContain("--prot");
});

test.concurrent("the load benchmark runs and writes its result", async () => {
  const args = [
    "--workload",
    join(ROOT, "bench/workloads/smoke.json"),
    "--server",
    join(ROOT, "dist/server/cli/main.js"),
    "--out",
    folder,
    "--durability",
    "os",
  ];
  const run = await runProgram("bench/http.js", args, { folder });
  expect(run.code, run.err).toBe(0);
  const result = JSON.parse(readFileSync(join(folder, "smoke.json"), "utf8")) as {
    alone: { failed: number; usage: { queries: number } }[];
    mixed: { failed: number; usage: { queries: number } }[];
    import: { documents: number; rejected: number };
    index: { rows: number; postings: number; bytes: number };
  };
  expect(result.import).toMatchObject({ documents: 2000, rejected: 0 });
  expect(result.alone).toHaveLength(5);
  for (const load of [...result.alone, ...result.mixed]) {
    expect(load.failed).toBe(0);
    expect(load.usage.queries).toBeGreaterThan(0);
  }
  expect(result.index.rows).toBe(2000);
  expect(result.index.postings).toBeGreaterThan(2000 * 10);
  expect(readFileSync(join(folder, "smoke.md"), "utf8")).toContain("| restart to first answer |");
});
