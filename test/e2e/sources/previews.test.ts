// Previews of feeds over HTTP, before a feed is connected.
import { constants, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FeedServer, startFeedServer } from "../world/feed-server.js";
import { documentsOf, FROM_LOOPBACK, makeSource, sync } from "../world/feeds.js";
import { expectStatus, sleep } from "../world/harness.js";
import { sharedServer } from "../world/shared-server.js";

const server = sharedServer({ shards: 1, config: FROM_LOOPBACK }, (server) =>
  server.createIndex("probe", { fields: [{ name: "title", type: "string" }] }),
);
let feeds: FeedServer;

beforeAll(async () => {
  feeds = await startFeedServer();
});

afterAll(() => feeds.close());

test("an integer beyond 2^53 is shown exactly", async () => {
  feeds.route("/exact", { body: '[{"id":"1","title":"chair","serial":[12345678901234567890]}]' });
  const feed = { url: feeds.url("/exact"), format: "json" };
  const looked = await server.post("/v1/indexes/probe/data-sources/preview", feed);
  expectStatus(looked, 200);
  const item = { id: "1", title: "chair", serial: [12345678901234567000] };
  expect(looked.json.data).toMatchObject({ items: [{ source: item, document: item, errors: [] }] });
  const source = await makeSource(server, "probe", feed);
  expect(await sync(server, source)).toMatchObject({ status: "completed", documents_imported: 1 });
  expect(Object.keys(await documentsOf(server, "probe"))).toEqual(["1"]);
});

/** Twenty items that a reader can recognise as complete, followed by the start of another item. */
const BEGINNINGS = {
  csv: `id,title\n${twenty((id) => `${id},chair\n`)}21,ch`,
  json: `[${twenty((id) => `{"id":"${id}","title":"chair"},`)}{"id":"21`,
  jsonl: `${twenty((id) => `{"id":"${id}","title":"chair"}\n`)}{"id":"21`,
  xml: `<products>${twenty((id) => `<product><id>${id}</id><title>chair</title></product>`)}<product>`,
};
const FORMATS = { csv: "csv", json: "json", jsonl: "json", xml: "brandx_merchant" };

function twenty(item: (id: number) => string): string {
  return Array.from({ length: 20 }, (_, i) => item(i + 1)).join("");
}

/** Sends an item every few milliseconds, indefinitely. */
async function* trickle() {
  yield Buffer.from("id,title\n");
  for (let id = 1; ; id++) {
    await sleep(10);
    yield Buffer.from(`${id},chair\n`);
  }
}

/** Sends `bytes`, then nothing more, and keeps the connection open. */
function stalling(bytes: Uint8Array) {
  return async function* () {
    yield bytes;
    await new Promise(() => undefined);
  };
}

// A preview that waited for the rest of the feed would fail after limits.feedPreviewMsMax.
describe.each(["plain", "compressed"])("a preview of a %s feed that stalls after twenty items", (how) => {
  test.each(Object.entries(BEGINNINGS))("in %s shows them and closes the connection", async (name, text) => {
    const plain = Buffer.from(text);
    const bytes = how === "plain" ? plain : gzipSync(plain, { finishFlush: constants.Z_SYNC_FLUSH });
    feeds.route("/stalls", { body: stalling(bytes) });
    const feed = { url: feeds.url("/stalls"), format: FORMATS[name as keyof typeof FORMATS] };
    const reply = await server.post("/v1/indexes/probe/data-sources/preview", feed);
    expectStatus(reply, 200);
    const { items } = reply.json.data as unknown as { items: { source: object; errors: unknown[] }[] };
    expect(items.map(({ source, errors }) => ({ source, errors }))).toEqual(
      Array.from({ length: 20 }, (_, i) => ({ source: { id: `${i + 1}`, title: "chair" }, errors: [] })),
    );
    await feeds.quiet();
  });
});

test("a preview of a feed that trickles endlessly shows its first items and closes the connection", async () => {
  feeds.route("/trickles", { body: trickle });
  const feed = { url: feeds.url("/trickles"), format: "csv" };
  const reply = await server.post("/v1/indexes/probe/data-sources/preview", feed);
  expectStatus(reply, 200);
  expect((reply.json.data as unknown as { items: unknown[] }).items).toHaveLength(20);
  await feeds.quiet();
});
