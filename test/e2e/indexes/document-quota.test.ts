// A plan's document quota over HTTP: exact within a batch, for every kind of write, with any number of
// concurrent writers.
import { describe, expect, test } from "vitest";
import { expectStatus } from "../world/harness.js";
import { sharedServer } from "../world/shared-server.js";

const LIMIT = 100;
const SCHEMA = { fields: [{ name: "n", type: "int32" }] };

describe("a plan's document limit", () => {
  const server = sharedServer({ shards: 3, config: { plans: [{ name: "small", documents: LIMIT }] } });
  let tenants = 0;

  /** Creates a tenant with the indexes `a` and `b`. Returns its write operations. */
  async function freshTenant() {
    const made = await server.post("/v1/tenants", { name: `tenant-${++tenants}`, plan: "small" });
    const { key } = made.json.data.admin_key as { key: string };
    for (const name of ["a", "b"])
      expectStatus(await server.post("/v1/indexes", { name, schema: SCHEMA }, { key }), 201);
    const batch = async (index: string, documents: unknown[], action = "upsert") => {
      const reply = await server.post(`/v1/indexes/${index}/documents/batch`, { action, documents }, { key });
      expectStatus(reply, 200);
      return reply.json.data;
    };
    const count = async (): Promise<number> => {
      const list = (await server.get("/v1/indexes", { key })).json.data as unknown as {
        records_count: number;
      }[];
      return list.reduce((sum, { records_count }) => sum + records_count, 0);
    };
    return { key, batch, count };
  }

  const numbered = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => ({ id: `d${from + i}`, n: 1 }));
  const overQuota = (data: { errors: { id: string | null; code: string }[] }): (string | null)[] => {
    expect(new Set(data.errors.map(({ code }) => code))).toEqual(new Set(["SK-SYS-429"]));
    return data.errors.map(({ id }) => id);
  };

  test("rejects surplus documents one by one, after the first ones that fit", async () => {
    const { batch, count } = await freshTenant();
    await batch("a", numbered(0, 60));
    expect(overQuota(await batch("b", numbered(0, 50)))).toEqual(numbered(40, 50).map(({ id }) => id));
    expect(await count()).toBe(LIMIT);
    const mixed = await batch("a", [...numbered(58, 62), ...numbered(61, 63)]);
    expect(overQuota(mixed)).toEqual(["d60", "d61", "d61", "d62"]);
    expect(await count()).toBe(LIMIT);
    await batch("b", [{ id: "d0" }], "delete");
    expect(overQuota(await batch("b", [{ id: "x" }, { id: "y" }, { id: "x" }], "emplace"))).toEqual(["y"]);
    expect(await count()).toBe(LIMIT);
  });

  test("never rejects an overwrite, and bad documents do not count", async () => {
    const { batch, count } = await freshTenant();
    await batch("a", numbered(0, LIMIT - 1));
    const documents = [
      { id: "bad", n: "x" },
      { id: "d0", n: 7 },
      { id: "new" },
      { id: "more" },
      { id: "bad too", n: 1.5 },
    ];
    const { errors, succeeded } = await batch("a", documents);
    expect(errors.map(({ id, code }) => [id, code])).toEqual([
      ["bad", "SK-DOC-400"],
      ["more", "SK-SYS-429"],
      ["bad too", "SK-DOC-400"],
    ]);
    expect(succeeded).toBe(2);
    expect(await batch("a", numbered(0, LIMIT - 1))).toMatchObject({ failed: 0 });
    expect(await batch("a", [{ id: "d0", n: 8 }], "update")).toMatchObject({ failed: 0 });
    const made = await batch("a", [{ id: "d0" }, { id: "other" }], "create");
    expect(made.errors.map(({ code }) => code)).toEqual(["SK-DOC-409", "SK-SYS-429"]);
    expect(await count()).toBe(LIMIT);
  });

  test("applies to large batches as to small ones, and a malformed batch is reported as malformed", async () => {
    const { key, batch, count } = await freshTenant();
    await batch("a", numbered(0, LIMIT));
    const text = "x".repeat(2_000);
    const documents = [...numbered(0, 50), ...numbered(LIMIT, LIMIT + 200)].map((one) => ({ ...one, text }));
    expect(await batch("a", documents)).toMatchObject({ received: 250, succeeded: 50, failed: 200 });
    const broken = await server.raw("POST", "/v1/indexes/a/documents/batch", { key, body: '{"documents":[' });
    expect(broken.json.code).toBe("SK-DOC-400");
    expect(await count()).toBe(LIMIT);
  });

  test("is filled exactly by many concurrent writes, imports included", async () => {
    const { key, batch, count } = await freshTenant();
    const imported = (index: string, from: number) =>
      server.raw("POST", `/v1/indexes/${index}/documents/import`, {
        key,
        headers: { "content-type": "application/x-ndjson" },
        body: numbered(from, from + 40)
          .map((one) => JSON.stringify(one))
          .join("\n"),
      });
    const batches = Array.from({ length: 8 }, (_, i) =>
      batch(i % 2 === 0 ? "a" : "b", numbered(i * 15, i * 15 + 30)),
    );
    await Promise.all([...batches, imported("a", 300), imported("b", 320)]);
    expect(await count()).toBe(LIMIT);
    const late = await imported("a", 1_000);
    const lines = late.text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.at(-1)).toMatchObject({ received: 40, succeeded: 0, failed: 40 });
    expect(lines[0]).toMatchObject({ line: 1, id: "d1000", code: "SK-SYS-429" });
  });
});
