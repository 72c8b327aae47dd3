// Plans' disk and memory limits over HTTP: which requests are refused above a limit, for which tenants, and
// until when.
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { startFeedServer } from "../world/feed-server.js";
import { documentsOf, FROM_LOOPBACK, makeSource, sync } from "../world/feeds.js";
import { eventually, expectStatus } from "../world/harness.js";
import type { Reply } from "../world/reply.js";
import { sharedServer } from "../world/shared-server.js";

const SCHEMA = { fields: [{ name: "n", type: "int32" }] };
/** Text that is stored but not indexed. */
const LARGE = "x".repeat(1_000_000);
const TEN_GIB = 10 * 1024 ** 3;

const server = sharedServer({ shards: 1, config: { ...FROM_LOOPBACK, plans: [{ name: "small" }] } });

const limitTo = (limits: { disk_bytes?: number; memory_bytes?: number }): Promise<string[]> =>
  server.reload({ ...FROM_LOOPBACK, plans: [{ name: "small", ...limits }] });
afterEach(() => limitTo({}));

interface BytesUsed {
  readonly disk_bytes: { readonly used: number; readonly limit: number | null };
  readonly memory_bytes: { readonly used: number; readonly limit: number | null };
}

let tenants = 0;

/** Creates a tenant with an index `a` that contains one document. Returns the tenant's operations. */
async function makeTenant(plan: string) {
  const made = await server.post("/v1/tenants", { name: `tenant-${++tenants}`, plan });
  const { key } = made.json.data.admin_key as { key: string };
  const createIndex = async (name: string): Promise<void> =>
    expectStatus(await server.post("/v1/indexes", { name, schema: SCHEMA }, { key }), 201);
  const push = async (documents: object[], action = "upsert"): Promise<Reply["json"]["data"]> => {
    const reply = await server.post("/v1/indexes/a/documents/batch", { action, documents }, { key });
    expectStatus(reply, 200);
    return reply.json.data;
  };
  await createIndex("a");
  expect(await push([{ id: "first", n: 1 }])).toMatchObject({ failed: 0 });
  return {
    key,
    createIndex,
    push,
    taken: async (): Promise<boolean> => (await push([{ id: "another", n: 2 }])).failed === 0,
    usage: async (): Promise<BytesUsed> => {
      const reply = await server.get("/v1/usage", { key });
      return (reply.json.data.tenants as unknown as BytesUsed[])[0]!;
    },
  };
}

type Tenant = Awaited<ReturnType<typeof makeTenant>>;

/**
 * Expects every kind of write to be refused with a matching error message, and searches and deletions to
 * succeed.
 */
async function expectRefusals({ key, push }: Tenant, sentence: RegExp): Promise<void> {
  const failed = { code: "SK-SYS-429", error: expect.stringMatching(sentence) };
  for (const action of ["upsert", "create", "emplace", "update"]) {
    const data = await push([{ id: "first", n: 2 }, { id: "new", n: 2 }, { n: 1 }], action);
    expect(data).toMatchObject({ received: 3, succeeded: 0, failed: 3 });
    expect(data.errors).toMatchObject([
      { index: 0, id: "first", ...failed },
      { index: 1, id: "new", ...failed },
      { index: 2, code: "SK-DOC-400" },
    ]);
  }
  const imported = await server.raw("POST", "/v1/indexes/a/documents/import", {
    key,
    headers: { "content-type": "application/x-ndjson" },
    body: '{"id":"new","n":1}\n{"id":"more","n":1}\n',
  });
  const lines = imported.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  expect(lines).toMatchObject([
    { line: 1, id: "new", ...failed },
    { line: 2, id: "more", ...failed },
    { received: 2, succeeded: 0, failed: 2 },
  ]);
  const patched = await server.patch("/v1/indexes/a/documents/first", { n: 2 }, { key });
  expect([patched.status, patched.json]).toMatchObject([429, failed]);
  expect(Number(patched.headers["retry-after"])).toBeGreaterThan(0);
  const found = await server.post("/v1/indexes/a/query", { q: "*", filter_by: "n:=1" }, { key });
  expect(found.json).toMatchObject({ hits: [{ document: { id: "first", n: 1 } }] });
  expect(await push([{ id: "first" }], "delete")).toMatchObject({ failed: 0 });
  expectStatus(await server.get("/v1/indexes/a/documents/first", { key }), 404);
}

describe("a plan's byte limits", () => {
  test("on disk: documents are refused until some are deleted or the plan allows more", async () => {
    const [small, other] = [await makeTenant("small"), await makeTenant("default")];
    for (let batch = 0; batch < 2; batch++) {
      const documents = Array.from({ length: 6 }, (_, i) => ({ id: `${batch}-${i}`, n: 5, text: LARGE }));
      expect(await small.push(documents)).toMatchObject({ failed: 0 });
    }
    // The other documents may still be in the database's write-ahead log, which is not counted.
    const onDisk = async () => (await small.usage()).disk_bytes.used > 5_000_000;
    await eventually(onDisk, "the documents are stored in tables");
    expect((await small.usage()).disk_bytes.limit).toBeNull();

    await limitTo({ disk_bytes: 1_000_000 });
    expect((await small.usage()).disk_bytes.limit).toBe(1_000_000);
    await expectRefusals(
      small,
      /^the plan allows 1000000 bytes of disk, of which about \d{7,8} are used; delete documents/,
    );
    expect(await other.taken()).toBe(true);

    await limitTo({ disk_bytes: TEN_GIB });
    expect(await small.taken()).toBe(true);
    await limitTo({ disk_bytes: 1_000_000 });
    expect(await small.taken()).toBe(false);
    const all = "/v1/indexes/a/documents?filter_by=n%3A%3E%3D0";
    expect((await server.delete(all, { key: small.key })).json.data.deleted).toBe(13);
    await eventually(small.taken, "the deleted documents' disk space is freed");
    expect((await small.usage()).disk_bytes.used).toBeLessThan(1_000_000);
  });

  test("in memory: as on disk, and deleted indexes use none", async () => {
    const [small, other] = [await makeTenant("small"), await makeTenant("default")];
    const { used: alone } = (await small.usage()).memory_bytes;
    expect(alone).toBeGreaterThan(0);
    await small.createIndex("b");
    const { used: both } = (await small.usage()).memory_bytes;
    expect(both).toBeGreaterThan(alone);

    await limitTo({ memory_bytes: both });
    expect((await small.usage()).memory_bytes.limit).toBe(both);
    await expectRefusals(
      small,
      new RegExp(`^the plan allows ${both} bytes of memory, of which about \\d+ are used; delete documents`),
    );
    expect(await other.taken()).toBe(true);

    await limitTo({ memory_bytes: TEN_GIB });
    expect(await small.taken()).toBe(true);
    await limitTo({ memory_bytes: 1 });
    expect(await small.taken()).toBe(false);
    await limitTo({ memory_bytes: both });
    expectStatus(await server.delete("/v1/indexes/b", { key: small.key }), 200);
    await eventually(small.taken, "the deleted index's memory is freed");
  });
});

test("a feed over the byte limit changes no document, and still deletes those missing from the feed", async () => {
  const feeds = await startFeedServer();
  onTestFinished(() => feeds.close());
  await server.createIndex("fed", SCHEMA);
  const source = await makeSource(server, "fed", {
    url: feeds.url("/fed"),
    format: "json",
    sync_mode: "replace",
    max_delete_ratio: 0.9,
  });
  const feed = (...list: object[]): void => feeds.route("/fed", { body: JSON.stringify(list) });
  const [a, b, c] = ["a", "b", "c"].map((id) => ({ id, n: 1 }));
  feed(a!, b!, c!);
  expect(await sync(server, source)).toMatchObject({ status: "completed", documents_imported: 3 });

  await server.reload({ ...FROM_LOOPBACK, plans: [{ name: "default", memory_bytes: 1 }] });
  feed(a!, { id: "b", n: 2 }, { id: "d", n: 2 });
  const run = await sync(server, source);
  expect(run).toMatchObject({
    status: "completed",
    documents_imported: 0,
    documents_failed: 3,
    documents_deleted: 1,
  });
  expect(run.errors[0]!.error).toMatch(/^the plan allows 1 bytes of memory/);
  expect(await documentsOf(server, "fed")).toEqual({ a, b });

  await limitTo({});
  expect(await sync(server, source)).toMatchObject({ documents_imported: 2, documents_unchanged: 1 });
});
