// An acknowledged write is visible to the next request, through any front-end. Many clients read and write
// concurrently, and their history is checked like a register's: a read returns the last completed write or a
// write in progress, and never a value older than one that an earlier read returned.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { effort } from "../../effort.js";
import { expectStatus, TestServer } from "../world/harness.js";
import { type Client, oneForEach, type Seen } from "./front-end-clients.js";

function foundOf({ status, json }: Seen): number {
  expect([status, json]).toEqual([200, expect.anything()]);
  return json.found;
}

const SCHEMA = {
  fields: [
    { name: "name", type: "string" },
    { name: "value", type: "int32", sort: true, facet: true },
  ],
};
/** The documents are written in one batch, so a read sees the same value in all of them. */
const IDS = ["a", "b", "c", "d", "e", "f"];

/** A completed read or write. Reads and writes are kept in separate lists, each in order of completion. */
interface Done {
  readonly begunMs: number;
  readonly endedMs: number;
  readonly value: number;
}

describe.each(
  effort(
    [
      [1, 2],
      [3, 3],
    ],
    [
      [1, 2],
      [3, 2],
      [2, 4],
    ],
  ),
)("with %i shards and %i front-ends", (shards, frontEnds) => {
  let server: TestServer;
  let clients: Client[];

  beforeAll(async () => {
    const config = { limits: { failedKeysPerSecondMax: 1_000 } };
    server = await TestServer.start({ shards, frontEnds, config });
    clients = await oneForEach(server, frontEnds);
  });

  afterAll(async () => {
    for (const client of clients) client.close();
    await server.close();
  });

  test("many clients read and write as if to a single register", async () => {
    await server.createIndex(
      "register",
      SCHEMA,
      IDS.map((id) => ({ id, name: "lamp", value: 0 })),
    );
    const writes: Done[] = [{ begunMs: 0, endedMs: 0, value: 0 }];
    const reads: Done[] = [];
    let writing = true;
    const write = async (): Promise<void> => {
      for (let value = 1; value <= effort(40, 60); value++) {
        const begunMs = performance.now();
        const documents = IDS.map((id) => ({ id, name: "lamp", value }));
        const writer = clients[value % clients.length]!;
        const reply = await writer.post("/v1/indexes/register/documents/batch", { documents });
        expect(reply.status).toBe(200);
        writes.push({ begunMs, endedMs: performance.now(), value });
      }
      writing = false;
    };
    const read = async (client: Client, body: object): Promise<void> => {
      while (writing) {
        const begunMs = performance.now();
        const reply = await client.post("/v1/indexes/register/query", body);
        expect(reply.status).toBe(200);
        const values = new Set(reply.json.hits.map(({ document }) => document.value));
        expect([reply.json.found, values.size]).toEqual([IDS.length, 1]);
        reads.push({ begunMs, endedMs: performance.now(), value: [...values][0]! });
      }
    };
    await Promise.all([
      write(),
      ...clients.flatMap((client) => [
        read(client, { q: "lamp" }),
        read(client, { q: "*", sort_by: "value:desc" }),
      ]),
    ]);

    let lowest = 0;
    const byBegin = reads.toSorted((one, other) => one.begunMs - other.begunMs);
    const byEnd = reads.toSorted((one, other) => one.endedMs - other.endedMs);
    let ended = 0;
    for (const { begunMs, endedMs, value } of byBegin) {
      for (; ended < byEnd.length && byEnd[ended]!.endedMs < begunMs; ended++)
        lowest = Math.max(lowest, byEnd[ended]!.value);
      const acknowledged = writes.findLast((done) => done.endedMs < begunMs)!.value;
      const begun = writes.findLast((done) => done.begunMs < endedMs)!.value;
      expect(value).toBeGreaterThanOrEqual(Math.max(lowest, acknowledged));
      expect(value).toBeLessThanOrEqual(begun);
    }
    expect(reads.length).toBeGreaterThan(writes.length / 4);
  });

  test("the next answer of every front-end has the written documents and lacks the deleted ones", async () => {
    await server.createIndex("shop", SCHEMA, [{ id: "0", name: "lamp", value: 0 }]);
    const found = async (): Promise<number[]> => {
      const replies = await Promise.all(
        clients.map((client) => client.post("/v1/indexes/shop/query", { q: "lamp" })),
      );
      return replies.map(foundOf);
    };
    for (let i = 1; i <= 20; i++) {
      const documents = [{ id: String(i), name: "lamp", value: i }];
      expectStatus(await server.post("/v1/indexes/shop/documents/batch", { documents }), 200);
      expect(new Set(await found())).toEqual(new Set([i + 1]));
    }
    for (let i = 1; i <= 20; i++) {
      expectStatus(await server.delete(`/v1/indexes/shop/documents/${i}`), 200);
      expect(new Set(await found())).toEqual(new Set([21 - i]));
    }
  });

  test("an answered change of rules, synonyms, settings, names or keys is in force everywhere", async () => {
    await server.createIndex("old", SCHEMA, [{ id: "1", name: "lamp", value: 1 }]);
    await server.createIndex("new", SCHEMA, [
      { id: "2", name: "lamp", value: 2 },
      { id: "3", name: "lantern", value: 3 },
    ]);
    const everywhere = async (index: string, body: object, key?: string): Promise<Seen[]> =>
      Promise.all(clients.map((client) => client.post(`/v1/indexes/${index}/query`, body, key)));
    const foundBy = async (index: string, q: string): Promise<number[]> =>
      (await everywhere(index, { q })).map(foundOf);
    for (let round = 0; round < 5; round++) {
      expect(new Set(await foundBy("new", "torch"))).toEqual(new Set([0]));
      const group = { type: "multi_way", synonyms: ["torch", "lantern"] };
      const made = await server.post("/v1/indexes/new/synonyms", group);
      expectStatus(made, 201);
      expect(new Set(await foundBy("new", "torch"))).toEqual(new Set([1]));
      expectStatus(await server.delete(`/v1/indexes/new/synonyms/${made.json.data.id}`), 200);

      const swap = { target_index: "new" };
      const before = (await everywhere("old", { q: "lamp" })).map(({ json }) => json.hits[0]!.document.id);
      expectStatus(await server.post("/v1/indexes/old/swap-with", swap), 200);
      const after = (await everywhere("old", { q: "lamp" })).map(({ json }) => json.hits[0]!.document.id);
      expect([new Set(before).size, new Set(after).size, after[0] === before[0]]).toEqual([1, 1, false]);
      expectStatus(await server.post("/v1/indexes/old/swap-with", swap), 200);

      const key = await server.post("/v1/keys", { name: `k${round}`, scopes: ["search"], indexes: ["*"] });
      expectStatus(key, 201);
      const { id, key: value } = key.json.data;
      for (const { status } of await everywhere("new", { q: "lamp" }, value)) expect(status).toBe(200);
      expectStatus(await server.delete(`/v1/keys/${id}`), 200);
      for (const { status } of await everywhere("new", { q: "lamp" }, value)) expect(status).toBe(401);
    }
    expectStatus(await server.delete("/v1/indexes/new"), 200);
    for (const { status } of await everywhere("new", { q: "lamp" })) expect(status).toBe(404);
  });
});
