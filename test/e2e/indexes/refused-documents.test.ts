// Error messages for refused documents, and which document a path refers to. Runs on each HTTP transport.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ADMIN_KEY, eventually, expectStatus, TestServer } from "../world/harness.js";
import { TRANSPORTS } from "../world/transports.js";

const SCHEMA = { fields: [{ name: "title", type: "string" }] };
const NDJSON = { "content-type": "application/x-ndjson" };
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

describe.each(TRANSPORTS)("refused documents over %s", (http) => {
  let server: TestServer;

  beforeAll(async () => {
    server = await TestServer.start({ shards: 2, http });
    await server.createIndex("docs", SCHEMA);
  });

  afterAll(() => server.close());

  test("a document nested too deep fails alone, whatever its depth", async () => {
    for (const depth of [65, 10_000, 200_000]) {
      const body = `{"documents":[{"id":"a"},{"id":"deep","x":${nested(depth)}},{"id":"c"}]}`;
      const reply = await server.raw("POST", "/v1/indexes/docs/documents/batch", { body });
      expectStatus(reply, 200);
      expect(reply.json.data).toMatchObject({
        received: 3,
        succeeded: 2,
        errors: [
          {
            index: 1,
            id: "deep",
            code: "SK-DOC-400",
            error: "the document is nested deeper than 64 levels",
          },
        ],
      });
    }
    const around = await server.raw("POST", "/v1/indexes/docs/documents/batch", {
      body: `{"x":${nested(10_000)},"documents":[{"id":"a"}]}`,
    });
    expect(around.json).toMatchObject({
      code: "SK-DOC-400",
      error: "the body is nested deeper than 64 levels",
    });
  });

  test("a refusal names the id wherever it can be read", async () => {
    const documents = [
      `{"id":"deep","x":${nested(70)}}`,
      '{"t":"\\ud800","id":"lone"}',
      '{"id":"broken \\ud800"}',
      `{"id":"wrong","title":7}`,
      `{"id":"large","x":"${"x".repeat(1024 * 1024)}"}`,
      '"only an id"',
      '{"id":7}',
    ];
    const ids = ["deep", "lone", null, "wrong", "large", "only an id", null];
    const batch = await server.raw("POST", "/v1/indexes/docs/documents/batch", {
      body: `{"documents":[${documents.join()}]}`,
    });
    expect(batch.json.data.errors.map(({ id }) => id)).toEqual(ids);
    const body = [...documents.filter((line) => line.length < 1000), '{"id":"cut","x":'].join("\n");
    const lines = await server.raw("POST", "/v1/indexes/docs/documents/import", { body, headers: NDJSON });
    const told = lines.text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { id?: string | null });
    expect(told.slice(0, -1).map(({ id }) => id)).toEqual([...ids.filter((id) => id !== "large"), "cut"]);
  });

  test("an import into an index deleted while it runs is 404", async () => {
    await server.createIndex("brief", SCHEMA);
    const socket = await server.socket();
    let reply = "";
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      reply += String(data);
    });
    const first = Array.from({ length: 1_000 }, (_, i) => `{"id":"${i}"}\n`).join("");
    const rest = '{"id":"late"}\n{"id":"later"}\n';
    socket.write(
      `POST /v1/indexes/brief/documents/import HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ADMIN_KEY}\r\n` +
        `content-type: application/x-ndjson\r\ncontent-length: ${first.length + rest.length}\r\n\r\n${first}`,
    );
    const stored = async () => (await server.get("/v1/indexes/brief")).json.data.records_count === 1_000;
    await eventually(stored, "the first lines are stored");
    expectStatus(await server.delete("/v1/indexes/brief"), 200);
    socket.write(rest);
    await eventually(async () => reply.includes("SK-"), "the import is answered");
    socket.destroy();
    expect(reply).toMatch(/^HTTP\/1\.1 404/);
    expect(reply).toContain('"code":"SK-IX-404"');
    expect(reply).not.toContain("retry");
  });

  test("a document may have the name of a route as its id", async () => {
    const documents = ["export", "import", "batch"].map((id) => ({ id, title: `the ${id}` }));
    await server.createIndex("named", SCHEMA, documents);
    const path = (id: string): string => `/v1/indexes/named/documents/${id}`;
    expect((await server.raw("GET", path("export"))).headers["content-type"]).toMatch(/ndjson/);
    for (const id of ["%65xport", "import", "batch"]) {
      expect((await server.raw("GET", path(id))).json.data.title).toBe(`the ${decodeURIComponent(id)}`);
    }
    expect((await server.raw("PATCH", path("export"), { body: { title: "changed" } })).json.data.title).toBe(
      "changed",
    );
    expect((await server.get(path("%65xport"))).json.data.title).toBe("changed");
    expect((await server.raw("DELETE", path("export"))).json.data.id).toBe("export");
    expectStatus(await server.get(path("%65xport")), 404);
  });
});
