// Many updates to one large document in a batch. Each update needs a copy of the document, so the total size
// of a batch's copies is limited.
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestServer } from "../world/harness.js";

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ shards: 2 });
  const fields = [
    { name: "title", type: "string" },
    { name: "stock", type: "int32" },
  ];
  await server.createIndex("things", { fields });
});

afterAll(() => server.close());

test("hundreds of small changes to one large document are stored as one small batch", async () => {
  const large = { id: "large", title: "word ".repeat(180_000) };
  expect((await server.post("/v1/indexes/things/documents/batch", { documents: [large] })).status).toBe(200);
  const documents = Array.from({ length: 250 }, (_, stock) => ({ id: "large", stock }));
  const reply = await server.post("/v1/indexes/things/documents/batch", { action: "update", documents });
  expect(reply.status, reply.text.slice(0, 300)).toBe(200);
  expect((await server.query("things", { q: "*", filter_by: "stock:=249" })).json.found).toBe(1);
  const endless = Array.from({ length: 2000 }, (_, stock) => ({ id: "large", stock }));
  const cut = await server.post("/v1/indexes/things/documents/batch", {
    action: "update",
    documents: endless,
  });
  expect(cut.json.data.errors[0]).toMatchObject({ code: "SK-DOC-413", id: "large" });
  expect(cut.json.data.succeeded).toBeGreaterThan(250);
  await server.delete("/v1/indexes/things/documents/large");
});
