// A short torture run (`npm run torture` is the long version), and a check that a loss would be detected.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Random } from "../../bench/random.js";
import { TestServer } from "../e2e/world/harness.js";
import { checkQueries, createLane, LossError, recoveredState } from "./check.js";
import type { Document, Table } from "./documents.js";
import { type Operation, START, type State } from "./operation.js";
import { tortureRound } from "./round.js";

const SEED = 20_241;

test.each([0, 1, 2])("round %i loses nothing", async (round) => {
  const { loss, acknowledged, queries } = await tortureRound(round, SEED, 1);
  expect(loss).toBeNull();
  expect(acknowledged).toBeGreaterThan(5);
  expect(queries).toBeGreaterThan(30);
});

describe("the check", () => {
  let server: TestServer;
  const documents = Array.from({ length: 20 }, (_, i) => ({
    id: `d${i}`,
    title: "red shoe",
    stock: i,
    rank: i,
    on: true,
  }));
  const table: Table = new Map(documents.map((document) => [document.id, document]));
  const stored: State = { ...START, tables: { live: table, next: new Map() } };
  const withLive = (live: State["tables"]["live"]): State => ({
    ...stored,
    tables: { live, next: new Map() },
  });
  const pending = (kind: string, after: State): Operation => ({
    kind,
    request: { method: "POST", path: "documents/batch", index: "live" },
    status: 200,
    after,
  });

  beforeAll(async () => {
    server = await TestServer.start({ shards: 2 });
    await createLane(server, 0);
    const reply = await server.post("/v1/indexes/lane0-live/documents/batch", { documents });
    expect(reply.json.data.failed).toBe(0);
  });

  afterAll(() => server.close());

  test("accepts a state without losses", async () => {
    expect(await recoveredState(server, 0, stored, null)).toEqual(stored);
    await checkQueries(server, 0, stored, new Random(1), 10);
  });

  test("notices a lost document, a mixed one and one that came back", async () => {
    const lost = withLive(new Map<string, Document>([...table, ["d99", { id: "d99" }]]));
    await expect(recoveredState(server, 0, lost, null)).rejects.toThrow(LossError);
    const mixed = withLive(new Map<string, Document>([...table, ["d3", { id: "d3", title: "blue" }]]));
    await expect(recoveredState(server, 0, mixed, null)).rejects.toThrow(LossError);
    const removed = withLive(new Map([...table].filter(([id]) => id !== "d4")));
    await expect(recoveredState(server, 0, removed, null)).rejects.toThrow(LossError);
  });

  test("notices half a swap, batch and deletion by filter, but accepts a half-finished import", async () => {
    const halfDone = withLive(new Map([...table].slice(0, 10)));
    expect(await recoveredState(server, 0, halfDone, pending("import", stored))).toEqual(stored);
    const more = withLive(new Map<string, Document>([...table, ["d99", { id: "d99" }]]));
    for (const kind of ["upsert", "remove where"]) {
      expect(await recoveredState(server, 0, halfDone, pending(kind, stored))).toEqual(stored);
      const half = recoveredState(server, 0, halfDone, pending(kind, more));
      await expect(half).rejects.toThrow(LossError);
    }
    const turned = { ...stored, tables: { live: new Map(), next: new Map([...table].slice(1)) } };
    const half = recoveredState(server, 0, withLive(new Map([...table].slice(2))), pending("swap", turned));
    await expect(half).rejects.toThrow(LossError);
  });

  test("notices a wrong count", async () => {
    const fewer = withLive(new Map([...table].slice(0, 5)));
    await expect(checkQueries(server, 0, fewer, new Random(1), 20)).rejects.toThrow(LossError);
  });
});
