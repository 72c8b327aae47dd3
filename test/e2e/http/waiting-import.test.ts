// uWebSockets.js closes connections that have been idle for ten to fourteen seconds. This must not happen to
// an upload while the server, being busy, has paused its socket, however long the pause lasts.
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { expect, test } from "vitest";
import { BlockedShards } from "../world/blocked-shards.js";
import { ADMIN_KEY, sleep, TestServer } from "../world/harness.js";
import { TRANSPORTS } from "../world/transports.js";

/** How long the shard is blocked, in milliseconds; longer than the idle timeout. */
const STANDSTILL_MS = 16_000;
/**
 * About 3 and 5 MB of documents: more than a shard's queue may contain, but less than the operating system
 * buffers.
 */
const DOCUMENTS = [2_500, 4_500];

test.each(TRANSPORTS.slice(0, 1))(
  "over %s an import survives a shard that stalls for longer than the idle timeout",
  async (http) => {
    const blocked = new BlockedShards();
    const server = await TestServer.start({
      http,
      env: blocked.env,
      config: { limits: { shardHangMsMax: 3_600_000 } },
    });
    await server.createIndex("things", { fields: [{ name: "title", type: "string" }] });
    const { results } = await blocked.while(1, async () => {
      const results = DOCUMENTS.map((count) => imported(server, count));
      await Promise.race([sleep(STANDSTILL_MS), ...results]);
      return { results };
    });
    expect(await Promise.all(results)).toEqual(DOCUMENTS);
    await server.close();
    blocked.close();
  },
  120_000,
);

/** Imports `count` documents. Resolves with the number of documents that the server reports as stored. */
function imported(server: TestServer, count: number): Promise<number> {
  const lineOf = (i: number): string =>
    `{"id":"${count}-${i}","title":"streamed","text":"${"x".repeat(1000)}"}\n`;
  const bytes = Array.from({ length: count }, (_, i) => lineOf(i).length).reduce(
    (sum, length) => sum + length,
  );
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${ADMIN_KEY}`,
      "content-type": "application/x-ndjson",
      "content-length": bytes,
    };
    const url = `${server.url}/v1/indexes/things/documents/import`;
    const request = httpRequest(url, { method: "POST", headers }, async (response) => {
      let text = "";
      for await (const piece of response) text += piece;
      resolve((JSON.parse(text) as { succeeded: number }).succeeded);
    });
    request.on("error", reject);
    void send();
    async function send(): Promise<void> {
      for (let i = 0; i < count; i++) {
        if (!request.write(lineOf(i))) await once(request, "drain");
      }
      request.end();
    }
  });
}
