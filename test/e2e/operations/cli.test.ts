// The `skein` command as people and scripts use it: the compiled program in its own process, talking to a
// running server. Checks output, exit codes and imported documents.
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ADMIN_KEY, TestServer } from "../world/harness.js";
import { type ProgramRun, runProgram } from "../world/program.js";

let server: TestServer;
let folder: string;

beforeAll(async () => {
  server = await TestServer.start();
  folder = mkdtempSync(join(tmpdir(), "skein-cli-"));
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

function skein(args: string[], input?: Uint8Array): Promise<ProgramRun> {
  const env = { SKEIN_URL: server.url, SKEIN_API_KEY: ADMIN_KEY };
  return runProgram("server/cli/main.js", args, { folder, env, input });
}

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const SHOES = Array.from({ length: 60 }, (_, i) => ({
  id: i % 2 === 0 ? `shoe-${i}` : i,
  title: `${["Trail", "Road", "Track"][i % 3]} running shoe model ${i}`,
  brand: ["Norrvane", "Tarnwick"][i % 2],
  price: 40 + i + (i % 4 === 0 ? 0.5 : 0),
  barcode: 9007199254740993n + BigInt(i),
}));
const toJson = (value: unknown) =>
  JSON.stringify(value, (_, v) => (typeof v === "bigint" ? `#${v}#` : v)).replace(/"#(\d+)#"/g, "$1");

test("output read by another program is not truncated", async () => {
  const title = "a title that is much longer than any terminal is wide ".repeat(5).trim();
  await server.createIndex("wide", { fields: [{ name: "title", type: "string", facet: true }] }, [
    { id: "w".repeat(200), title },
  ]);
  const { out } = await skein(["search", "wide", "*", "--facets", "title"]);
  expect(out).toContain("w".repeat(200));
  expect(out.split(title)).toHaveLength(3); // split at two occurrences: the hit and the facet
  expect(out).not.toContain("…");
});

describe("import", () => {
  test("JSON lines into a new index: shows the schema it creates, and the documents can be searched", async () => {
    const path = file("shoes.jsonl", SHOES.map(toJson).join("\n"));
    const run = await skein(["import", path, "--index", "shoes", "--batch-size", "7", "--parallel", "3"]);
    expect(run).toMatchObject({ code: 0, err: "" });
    expect(run.out).toMatch(/^Created index shoes/);
    expect(run.out).toMatch(/^brand +string +yes/m);
    expect(run.out).toMatch(/^price +float +yes/m);
    expect(run.out).toMatch(/^barcode +int64 +yes/m);
    expect(run.out).toMatch(/60 documents in shoes, none rejected/);
    const reply = await server.query("shoes", {
      q: "trail",
      filter_by: "barcode:=9007199254740996",
      facets: ["brand"],
    });
    expect(reply.json.found).toBe(1);
    expect(reply.text).toContain('"barcode":9007199254740996');
    expect(reply.json.hits[0]!.document.id).toBe("3");
  });

  test("a gzipped JSON array on standard input, with a summary for programs", async () => {
    const bytes = gzipSync(`[\n${SHOES.map(toJson).join(",\n")}\n]`);
    const run = await skein(["import", "-", "--index", "piped", "--json"], bytes);
    expect(run).toMatchObject({ code: 0, err: "" });
    expect(JSON.parse(run.out)).toMatchObject({ index: "piped", format: "json", succeeded: 60, rejected: 0 });
    expect((await server.query("piped", { q: "*" })).json.found).toBe(60);
  });

  test("CSV with an id column; errors are listed, the remaining rows arrive, the exit code reports it", async () => {
    const rows = Array.from({ length: 50 }, (_, i) => `A-${i}/1;Lamp ${i};${i},yes`.replace(",", ";"));
    rows.splice(10, 0, "B-1/1;Lamp;not a number;yes", "B-2/1;too few");
    const path = file("lamps.csv", `sku;name;stock;dimmable\n${rows.join("\n")}\n`);
    const schema = file(
      "lamps.json",
      JSON.stringify({
        fields: [
          { name: "name", type: "string" },
          { name: "stock", type: "int32" },
        ],
      }),
    );
    const rejected = join(folder, "rejected.jsonl");
    const run = await skein([
      "import",
      path,
      "--index",
      "lamps",
      "--id",
      "sku",
      "--schema",
      schema,
      "--rejected",
      rejected,
    ]);
    expect(run.code).toBe(1);
    expect(run.out).toMatch(/50 documents in lamps, 2 rejected/);
    expect(run.err).toMatch(/^rejected: line 13: 2 cells where the header has 4$/m);
    expect(run.err).toMatch(/^rejected: line 12, id B-1\/1: .*stock/m);
    const written = readFileSync(rejected, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { at: number });
    expect(written.map((entry) => entry.at).sort()).toEqual([12, 13]);
    expect((await server.get("/v1/indexes/lamps/documents/A-7%2F1")).json.data).toMatchObject({
      id: "A-7/1",
      stock: 7,
    });
  });

  test("a broken line in the middle of a batch costs only that line", async () => {
    const lines = SHOES.map(toJson);
    lines[20] = '{"id":"x","title":tru}';
    lines[40] = '{"id":"y"';
    lines[41] = `{"title":"no id"}`;
    const run = await skein([
      "import",
      file("broken.jsonl", lines.join("\n")),
      "--index",
      "broken",
      "--json",
    ]);
    expect(run.code).toBe(1);
    const summary = JSON.parse(run.out) as { succeeded: number; rejections: { at: number }[] };
    expect(summary.succeeded).toBe(57);
    expect(summary.rejections.map((rejection) => rejection.at).sort()).toEqual([21, 41, 42]);
  });

  test("an existing index keeps its schema; an inferred schema can be previewed", async () => {
    const path = file("more.csv", "id,title,price\nnew-1,Another shoe,55\n");
    const dry = await skein(["import", path, "--index", "shoes", "--dry-run", "--json"]);
    expect(JSON.parse(dry.out)).toEqual({
      fields: [
        { name: "title", type: "string" },
        { name: "price", type: "float" },
      ],
    });
    const run = await skein(["import", path, "--index", "shoes"]);
    expect(run.code).toBe(0);
    expect(run.out).toContain("Index shoes exists with 60 documents");
    expect((await server.query("shoes", { q: "another" })).json.found).toBe(1);
  });
});

describe("an import that fails midway", () => {
  // Random titles, because these do not fit into a single gzip block: some batches must precede the position
  // at which the input is cut off.
  const lines = Array.from(
    { length: 3000 },
    (_, i) => `{"id":"${i}","title":"${randomBytes(150).toString("hex")}"}`,
  );
  const bytes = gzipSync(lines.join("\n"));
  const torn = bytes.subarray(0, Math.floor(bytes.length * 0.8));
  const stored = async () => (await server.query("torn", { q: "*", per_page: 0 })).json.found;

  test("says how many documents are stored and how to continue", async () => {
    const run = await skein(["import", "-", "--index", "torn", "--batch-size", "100"], torn);
    expect(run.code).toBe(2);
    expect(run.out).not.toContain("documents in torn");
    const told =
      /^skein: standard input is damaged: .*; ([\d,]+) documents are known to be stored; (.*)\n$/.exec(
        run.err,
      );
    expect(told, run.err).not.toBeNull();
    expect(Number(told![1]!.replace(",", ""))).toBe(await stored());
    expect(await stored()).toBeGreaterThan(1000);
    expect(told![2]).toBe("once the cause is fixed, run the same command again: nothing is stored twice");
  });

  test("tells programs the same, and rerunning the command with the complete file finishes it", async () => {
    const args = ["import", "-", "--index", "torn", "--batch-size", "100", "--json"];
    const broken = await skein(args, torn);
    expect(broken.code).toBe(2);
    expect(JSON.parse(broken.out)).toMatchObject({
      succeeded: await stored(),
      error: expect.stringContaining("damaged"),
    });
    const whole = await skein(args, bytes);
    expect(whole).toMatchObject({ code: 0, err: "" });
    expect(JSON.parse(whole.out)).not.toHaveProperty("error");
    expect(await stored()).toBe(3000);
  });
});

describe("search, indexes, keys", () => {
  test("a readable table with facets and the count", async () => {
    const run = await skein([
      "search",
      "piped",
      "trial",
      "running",
      "--filter",
      "price:<60",
      "--facets",
      "brand",
      "--sort",
      "price:asc",
    ]);
    expect(run).toMatchObject({ code: 0, err: "" });
    const lines = run.out.trim().split("\n");
    expect(lines[0]).toMatch(/^id +title +/);
    expect(lines[2]).toMatch(/^shoe-0 +Trail running shoe model 0/);
    expect(run.out).toMatch(/^brand: \w+ \(\d+\)/m);
    expect(lines.at(-1)).toMatch(/^\d+ found.*, \d+ ms$/);
    expect(run.out).toContain("9007199254740993");
  });

  test("a score that compares hits, an explanation in words, and the figures behind it for programs", async () => {
    const run = await skein(["search", "piped", "trail", "shoe", "--per-page", "2", "--explain"]);
    expect(run).toMatchObject({ code: 0, err: "" });
    const lines = run.out.split("\n");
    expect(lines[0]).toMatch(/ score$/);
    expect(lines[2]).toMatch(/ 100$/);
    expect(lines.slice(5, 8)).toEqual([
      expect.stringMatching(/^\S+:$/),
      expect.stringMatching(/^ {2}"trail" was found as written in title: [\d.]+ points\.$/),
      expect.stringMatching(/^ {2}"shoe" was found as written in title: [\d.]+ points\.$/),
    ]);
    const raw = await skein(["search", "piped", "trail", "--per-page", "1", "--explain", "--json"]);
    const [hit] = (JSON.parse(raw.out) as { hits: { text_match: number; explanation: object }[] }).hits;
    expect(hit!.text_match).toBeGreaterThan(2 ** 51);
    expect(hit!.explanation).toMatchObject({ full: true, place: "normal" });
  });

  test("the requested mode, and documents similar to a given one", async () => {
    const modes = ["keyword", "semantic", "hybrid", "auto"];
    for (const mode of modes)
      expect(await skein(["search", "piped", "trail", "--mode", mode])).toMatchObject({ code: 0, err: "" });
    expect((await skein(["search", "piped", "trail", "--mode", "near"])).err).toMatch(
      /allowed choices are auto/,
    );
    const run = await skein(["similar", "piped", "shoe-0", "--per-page", "3", "--fields", "title"]);
    expect(run).toMatchObject({ code: 0, err: "" });
    expect(run.out).toMatch(/^id +title *\n/);
    expect(run.out).toMatch(/\n3 similar, \d+ ms\n$/);
    const raw = await skein(["similar", "piped", "shoe-0", "--filter", "price:<0", "--json"]);
    expect(JSON.parse(raw.out)).toMatchObject({ data: { hits: [] } });
    expect(await skein(["similar", "piped", "nobody"])).toMatchObject({ code: 2, out: "" });
  });

  test("the complete reply for programs; global options may come anywhere", async () => {
    const run = await skein(["--json", "search", "piped", "trail", "--per-page", "1"]);
    expect(JSON.parse(run.out)).toMatchObject({ found: 20, per_page: 1 });
    const listed = await skein(["indexes", "--json"]);
    const names = (JSON.parse(listed.out) as { data: { name: string }[] }).data.map((entry) => entry.name);
    expect(names).toContain("piped");
    expect((await skein(["indexes"])).out).toMatch(/^piped +60 /m);
  });

  test("a key is shown once, works within its scopes, and stops working when deleted", async () => {
    const made = await skein(["keys", "create", "web", "--scopes", "search", "--indexes", "piped"]);
    expect(made.code).toBe(0);
    const key = made.out.trim();
    expect((await skein(["search", "piped", "trail", "--key", key])).code).toBe(0);
    expect((await skein(["indexes", "--key", key])).code).toBe(2);
    const listed = await skein(["keys", "list", "--json"]);
    const { id } = (JSON.parse(listed.out) as { data: { id: number; name: string }[] }).data.find(
      (k) => k.name === "web",
    )!;
    expect(listed.out).not.toContain(key);
    expect((await skein(["keys", "list"])).out).toMatch(/web/);
    expect((await skein(["keys", "delete", String(id)])).code).toBe(0);
    expect(await skein(["search", "piped", "trail", "--key", key])).toMatchObject({ code: 2, out: "" });
  });
});

describe("a failure is one line on standard error", () => {
  const oneLine = /^skein: [^\n]+\n$/;

  test.each([
    [["search", "no-such-index", "x"], /index .*does not exist/],
    [["search", "piped", "x", "--filter", "price:<"], /filter/],
    [
      ["search", "piped", "x", "--per-page", "many"],
      /^skein: option '--per-page <n>' argument 'many' is invalid; it must be a whole number\n$/,
    ],
    [["import", "no-such-file.csv", "--index", "x"], /there is no file/],
    [["import", "no-such-file.csv"], /--index/],
    [
      ["import", "no-such-file.csv", "--index", "x", "--action", "replace"],
      /is invalid; allowed choices are upsert, .*, delete\n$/,
    ],
    [
      ["synonyms", "piped", "more"],
      /^skein: too many arguments for 'synonyms'; expected 1 argument but got 2\n$/,
    ],
    [["serch", "piped"], /search/],
    [["nope", "--help"], /unknown command 'nope'/],
    [["--json", "serch", "-h"], /unknown command 'serch'.*search/],
    [["help", "nope"], /unknown command 'nope'/],
    [["keys", "nope", "--help"], /unknown command 'nope'/],
    [["search", "piped", "--url", "ftp://x"], /--url/],
    [["search", "piped", "--url", "http://127.0.0.1:1"], /no server answers/],
    [["search", "piped", "--key", "wrong-key-wrong"], /key/],
    [["serve", "--port", "many"], /--port/],
  ])("%j", async (args, text) => {
    const run = await skein(args);
    expect(run).toMatchObject({ code: 2, out: "" });
    expect(run.err).toMatch(oneLine);
    expect(run.err).toMatch(text);
  });

  test("an https address for an http server", async () => {
    const run = await skein(["indexes", "--url", server.url.replace("http:", "https:")]);
    expect(run).toMatchObject({ code: 2, out: "" });
    expect(run.err).toMatch(
      /^skein: the server at 127\.0\.0\.1:\d+ speaks HTTP, not HTTPS; use http:[^\n]+\n$/,
    );
  });

  test("help explains with examples and is not an error", async () => {
    const top = (await skein(["--help"])).out;
    const commands = [...top.slice(top.indexOf("\nCommands:\n")).matchAll(/^ {2}([a-z-]+)/gm)]
      .map(([, name]) => name!)
      .filter((name) => name !== "help" && name !== "skein");
    expect(commands.length).toBeGreaterThan(15);
    for (const args of [["--help"], ["help", "keys"], ...commands.map((name) => [name, "--help"])]) {
      const run = await skein(args);
      expect(run).toMatchObject({ code: 0, err: "" });
      expect(run.out).toMatch(/Examples:\n/);
    }
    for (const offline of ["check", "repair", "restore", "rotate-secrets"])
      expect((await skein([offline, "--help"])).out).not.toMatch(/--url|--key/);
    expect((await skein(["--version"])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

test("rules and synonyms are listed, synonym groups are added from a file", async () => {
  await server.createIndex("curated", { fields: [{ name: "title", type: "string" }] });
  expect((await skein(["rules", "curated"])).out).toBe("The index has no ranking rules.\n");
  expect((await skein(["synonyms", "curated"])).out).toBe("The index has no synonym groups.\n");
  const rule = { type: "boost", name: "shoes", effect: { weight: 5, filter_by: "title:shoe" } };
  await server.post("/v1/indexes/curated/ranking-rules", rule);
  expect((await skein(["rules", "curated"])).out).toMatch(/shoes +boost 5 +always +title:shoe +0 +on\n/);
  const lines = ['{"synonyms": ["tv", "telly"]}', '{"synonyms": ["alone"]}', "", "{oops"];
  const root = '{"type": "one_way", "root": "shoe", "synonyms": ["boot"]}';
  const added = await skein([
    "synonyms",
    "curated",
    "--import",
    file("groups.jsonl", [...lines, root].join("\n")),
  ]);
  expect(added).toMatchObject({ code: 1, out: "2 groups added, 2 refused\n" });
  expect(added.err).toMatch(/^skein: group 2: synonyms must have at least 2 .*\nskein: group 4: .*JSON.*\n$/);
  const listed = (await skein(["synonyms", "curated"])).out;
  expect(listed).toMatch(/multi_way +tv = telly +on\n.*one_way +shoe -> boot +on\n/);
  const array = Buffer.from('[{"synonyms": ["sofa", "couch"]}]');
  const piped = await skein(["synonyms", "curated", "--import", "-", "--json"], array);
  expect(piped).toMatchObject({ code: 0, out: '{"added":1,"refused":0}\n', err: "" });
  expect(await skein(["synonyms", "none", "--import", file("one.jsonl", root)])).toMatchObject({ code: 2 });
  await server.delete("/v1/indexes/curated");
});
