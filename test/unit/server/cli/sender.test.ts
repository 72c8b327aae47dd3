// When and how the command line sends documents again. The test decides the server's replies.
import http from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { ApiClient } from "../../../../server/cli/api.js";
import { type UploadOptions, upload } from "../../../../server/cli/upload/sender.js";

const BUSY_MS = 50;

test("documents refused by a busy shard are sent again after a pause", async () => {
  const happened: string[] = [];
  const server = http.createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += String(chunk);
    });
    request.on("end", () => {
      const ids = (JSON.parse(body) as { documents: { id: string }[] }).documents.map(({ id }) => id);
      happened.push(`sent ${ids.join()}`);
      const errors = ids.length === 1 ? [] : [{ index: 1, id: "b", code: "SK-SYS-503", error: "busy" }];
      if (errors.length > 0) setTimeout(() => happened.push("the shard is free"), BUSY_MS);
      response.end(JSON.stringify({ data: { received: ids.length, errors } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = new ApiClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, null);
  const options: UploadOptions = {
    index: "products",
    action: "upsert",
    batchSize: 10,
    parallel: 1,
    onProgress: () => undefined,
    onRejected: () => undefined,
  };
  async function* documents() {
    yield ["a", "b", "c"].map((id, i) => ({ at: i + 1, bytes: Buffer.from(`{"id":"${id}"}`) }));
  }
  try {
    expect(await upload(client, documents(), options)).toMatchObject({ succeeded: 3, rejected: 0 });
    expect(happened).toEqual(["sent a,b,c", "the shard is free", "sent b"]);
  } finally {
    client.close();
    server.close();
  }
});
