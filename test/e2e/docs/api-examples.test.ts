// The examples in docs/api.md and README.md, run in order against a fresh server, give the answers shown on
// the page.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FeedServer, startFeedServer } from "../world/feed-server.js";
import { ADMIN_KEY, TestServer } from "../world/harness.js";
import { examplesOf, page, whatDiffers } from "./page-examples.js";

const SHOP = "https://shop.example";
const FEED = `<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>
<item><g:id>10</g:id><g:title>Canvas bag</g:title><g:brand>Acme</g:brand><g:price>35.00 USD</g:price></item>
</channel></rss>`;

describe.skipIf(process.platform === "win32").each(["docs/api.md", "README.md"])("%s", (path) => {
  let server: TestServer;
  let feeds: FeedServer;
  const folder = mkdtempSync(join(tmpdir(), "skein-examples-"));

  beforeAll(async () => {
    feeds = await startFeedServer();
    feeds.route("/feed.xml", { body: FEED, headers: { "content-type": "application/xml" } });
    server = await TestServer.start({
      config: {
        feeds: { allow_private: true },
        limits: { homeDocumentsMax: 30_000 },
        plans: [{ name: "small", searches_per_month: 100_000, indexes: 10 }],
      },
    });
  });

  afterAll(async () => {
    await server.close();
    await feeds.close();
    rmSync(folder, { recursive: true });
  });

  for (const example of examplesOf(page(path)))
    test(example.name, async () => {
      const origin = new URL(feeds.url("/")).origin;
      const found = await whatDiffers(example, folder, {
        env: { URL: server.url, KEY: ADMIN_KEY },
        hosts: { [SHOP]: origin },
      });
      expect(found, example.commands).toBeNull();
    });
});
