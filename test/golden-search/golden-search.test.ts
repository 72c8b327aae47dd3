// Golden searches over the real catalogues: what a person would expect from a query, written from the data
// rather than from the server's answers. Needs the data folder.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DATA, isAbsent } from "../data-folder.js";
import { expectStatus, TestServer } from "../e2e/world/harness.js";
import { CATALOGUES } from "./catalogues.js";
import { type Answer, complaints, readGolden } from "./golden.js";

const absent = isAbsent(DATA, "golden-search.test.ts");

const HITS_SHOWN = 3;
const LINES_PER_IMPORT = 5_000;
const IMPORT_MS_MAX = 180_000;

describe.skipIf(absent).each(CATALOGUES)("$name", (catalogue) => {
  let server: TestServer;

  beforeAll(async () => {
    const lines = gunzipSync(readFileSync(join(DATA, catalogue.file)))
      .toString("utf8")
      .trim()
      .split("\n");
    server = await TestServer.start({ shards: 2 });
    await server.createIndex(catalogue.name, { fields: catalogue.fields });
    const settings = { ...catalogue.settings, embedder: { source: "none" } }; // searches by words only
    expectStatus(await server.patch(`/v1/indexes/${catalogue.name}/settings`, settings), 200);
    const headers = { "content-type": "application/x-ndjson" };
    for (let at = 0; at < lines.length; at += LINES_PER_IMPORT) {
      const body = lines.slice(at, at + LINES_PER_IMPORT).join("\n");
      const path = `/v1/indexes/${catalogue.name}/documents/import`;
      const reply = await server.raw("POST", path, { body, headers });
      expectStatus(reply, 200);
      expect(reply.text.trim().split("\n"), "one summary line and no failures").toHaveLength(1);
    }
  }, IMPORT_MS_MAX);

  afterAll(() => server?.close());

  test.each(readGolden(catalogue.name))("$query: $why", async (search) => {
    const reply = await server.query(catalogue.name, {
      q: search.query,
      search_mode: "keyword",
      ...search.options,
    });
    expectStatus(reply, 200);
    const answer = reply.json as Answer;
    const shown = answer.hits
      .slice(0, HITS_SHOWN)
      .map(({ document }) => `${document.id}: ${document.title ?? document.name}`.slice(0, 110));
    expect(complaints(search, answer), `${answer.found} found, first:\n  ${shown.join("\n  ")}`).toEqual([]);
  });
});
