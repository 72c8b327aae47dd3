// Judged queries over the real catalogues: the rules must interpret them as a person would. A wrong filter
// hides the wanted documents and so is worse than none: nearly every interpretation must be right, while some
// may be missed, and titles must stay as typed. Needs the data folder.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DATA, isAbsent } from "../data-folder.js";
import { expectStatus, TestServer } from "../e2e/world/harness.js";
import { expectAsTyped } from "./as-typed.js";
import { CATALOGUES } from "./catalogues.js";
import { type AiContext, isHeldOut, judge, readJudged, type Score } from "./judged.js";

const absent = isAbsent(DATA, "golden-understanding.test.ts");

const PRECISION_MIN = 0.97;
const RECALL_MIN = 0.75;
const LINES_PER_IMPORT = 5_000;
const PREPARE_MS_MAX = 180_000;

describe.skipIf(absent)("judged queries", () => {
  let server: TestServer;
  const seen = newScore();
  const heldOut = newScore();

  beforeAll(async () => {
    server = await TestServer.start({ shards: 2 });
    for (const catalogue of CATALOGUES) {
      const { name, fields, settings } = catalogue;
      await server.createIndex(name, { fields });
      expectStatus(await server.patch(`/v1/indexes/${name}/settings`, settings), 200);
      const lines = gunzipSync(readFileSync(join(DATA, catalogue.file)))
        .toString("utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.stringify(catalogue.document(JSON.parse(line) as Record<string, unknown>)));
      for (let at = 0; at < lines.length; at += LINES_PER_IMPORT) {
        const body = lines.slice(at, at + LINES_PER_IMPORT).join("\n");
        const headers = { "content-type": "application/x-ndjson" };
        const reply = await server.raw("POST", `/v1/indexes/${name}/documents/import`, { body, headers });
        expectStatus(reply, 200);
        expect(reply.text.trim().split("\n"), "one summary line and no failures").toHaveLength(1);
      }
    }
  }, PREPARE_MS_MAX);

  afterAll(() => server?.close());

  test.each(CATALOGUES)("$name", async ({ name }) => {
    const complaints: string[] = [];
    for (const [line, judged] of readJudged(name).entries()) {
      const reply = await server.query(name, { q: judged.q, per_page: 3 });
      expectStatus(reply, 200);
      const context = reply.json.ai_context as AiContext | null;
      const wrong = judge(judged, context, isHeldOut(line) ? heldOut : seen);
      if (wrong.length > 0 && (!isHeldOut(line) || SHOW_HELD_OUT))
        complaints.push(`${judged.q}: ${wrong.join(", ")}`);
    }
    if (complaints.length > 0) console.info(`${name}\n  ${complaints.join("\n  ")}`);
  });

  test.each(CATALOGUES)("titles, idioms and model numbers stay as typed in $name", ({ name }) =>
    expectAsTyped(server, name),
  );

  test("a query without something finds as much that is free of it as the typed words", async () => {
    const queries = readFileSync(join(import.meta.dirname, "free-of.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as FreeOf);
    let [typed, understood] = [0, 0];
    for (const query of queries) {
      typed += await hitsFreeOf(server, query, false);
      understood += await hitsFreeOf(server, query, true);
    }
    console.info(`free of it: ${typed} of ${queries.length * 10} hits as typed, ${understood} understood`);
    expect(typed).toBeGreaterThan(0);
    expect(understood).toBeGreaterThanOrEqual(typed);
  });

  test.each([
    ["used to write the rules", seen],
    ["held out from them", heldOut],
  ])("queries %s are read well", (_, score) => {
    const { right, wrong, missed, texts, wrongTexts } = score;
    const precision = right / (right + wrong);
    const recall = right / (right + missed);
    const figures = { precision, recall, ...score, keptTextRight: 1 - wrongTexts / texts };
    console.info(JSON.stringify(figures));
    expect(precision).toBeGreaterThanOrEqual(PRECISION_MIN);
    expect(recall).toBeGreaterThanOrEqual(RECALL_MIN);
  });
});

interface FreeOf {
  readonly q: string;
  readonly thing: string;
}

/** Returns how many of the query's first ten hits say that they are free of the thing. */
async function hitsFreeOf(server: TestServer, { q, thing }: FreeOf, ai: boolean): Promise<number> {
  const says = new RegExp(`\\b(${thing}[ -]free|(free of|free from|without|no|non) ${thing})\\b`, "i");
  const { hits } = (await server.query("esci", { q, per_page: 10, ai })).json;
  return hits.filter(({ document }) => says.test(Object.values(document).flat().join(" "))).length;
}

/** Prints held-out queries too. Once somebody has looked at a held-out query, it is no longer held out. */
const SHOW_HELD_OUT = process.env.SKEIN_SHOW_HELD_OUT === "1";

function newScore(): Score {
  return { right: 0, wrong: 0, missed: 0, texts: 0, wrongTexts: 0 };
}
