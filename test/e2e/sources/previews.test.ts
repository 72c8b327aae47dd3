// Previews of feeds over HTTP: what they show of a feed before it is connected.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FeedServer, startFeedServer } from "../world/feed-server.js";
import { documentsOf, FROM_LOOPBACK, makeSource, sync } from "../world/feeds.js";
import { expectStatus } from "../world/harness.js";
import { sharedServer } from "../world/shared-server.js";

const server = sharedServer({ shards: 1, config: FROM_LOOPBACK }, (server) =>
  server.createIndex("probe", { fields: [{ name: "title", type: "string" }] }),
);
let feeds: FeedServer;

beforeAll(async () => {
  feeds = await startFeedServer();
});

afterAll(() => feeds.close());

test("an integer beyond 2^53 is shown, too", async () => {
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
