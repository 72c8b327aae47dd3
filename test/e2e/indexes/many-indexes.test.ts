// Many indexes on a server that may load only a few at a time. Clients write to and read from all of them
// while they are loaded and unloaded. Every answer must match a naive model, and a kill must not lose
// anything acknowledged.
import { describe, expect, test } from "vitest";
import { effort } from "../../effort.js";
import { eventually, expectStatus } from "../world/harness.js";
import { readPrometheusText } from "../world/prometheus-text.js";
import { sharedServer } from "../world/shared-server.js";

const CLIENTS = 4;
const INDEXES = 24;
const LOADED_MAX = 5;
const OPERATIONS = effort(50, 80);
const WORDS = ["amber", "birch", "cobalt", "dune"] as const;
const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "size", type: "int32" },
  ],
};

interface Stored {
  readonly title: unknown;
  readonly size: unknown;
}

/** Each index's acknowledged documents. */
const models = Array.from({ length: INDEXES }, () => new Map<string, Stored>());
/** For each index, the id of a document whose write got no reply, so it may or may not be stored. */
const unknown = new Map<number, string>();
const LIMITS = { openIndexesMax: LOADED_MAX, indexIdleMsMax: 400 };
const server = sharedServer({ config: { limits: LIMITS } }, async (server) => {
  for (let index = 0; index < INDEXES; index++) await server.createIndex(nameOf(index), SCHEMA);
});

function nameOf(index: number): string {
  return `many-${index}`;
}

/** A repeatable random number generator. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

async function metrics() {
  return readPrometheusText((await server.raw("GET", "/metrics")).text);
}

async function expectModel(index: number): Promise<void> {
  const model = models[index]!;
  const open = unknown.get(index);
  const all = await server.query(nameOf(index), { q: "*", per_page: 250 });
  expectStatus(all, 200);
  const found = new Map(
    all.json.hits.map(({ document }) => [document.id, { title: document.title, size: document.size }]),
  );
  if (open !== undefined) {
    found.delete(open);
    model.delete(open);
  }
  expect(found).toEqual(model);
  if (open !== undefined) return;
  expect(all.json.found).toBe(model.size);
  for (const word of WORDS) {
    const titled = await server.query(nameOf(index), { q: word, per_page: 0, num_typos: 0 });
    expect(titled.json.found).toBe([...model.values()].filter(({ title }) => title === word).length);
  }
  expect((await server.get(`/v1/indexes/${nameOf(index)}`)).json.data.records_count).toBe(model.size);
}

/** Runs a client on indexes that no other client uses, so that it knows their contents. */
async function work(client: number, operations: number, seed: number): Promise<void> {
  const next = numbers(seed);
  for (let i = 0; i < operations; i++) {
    const index = client + CLIENTS * next(INDEXES / CLIENTS);
    const model = models[index]!;
    const path = `/v1/indexes/${nameOf(index)}/documents`;
    const id = `d${next(30)}`;
    const kind = next(10);
    if (kind < 4) {
      const stored = { title: WORDS[next(WORDS.length)]!, size: next(100) };
      unknown.set(index, id);
      const reply = await server.post(`${path}/batch`, { documents: [{ id, ...stored }] });
      expectStatus(reply, 200);
      model.set(id, stored);
    } else if (kind === 4) {
      unknown.set(index, id);
      expectStatus(await server.delete(`${path}/${id}`), model.has(id) ? 200 : 404);
      model.delete(id);
    } else if (kind === 5) {
      const got = await server.get(`${path}/${id}`);
      expectStatus(got, model.has(id) ? 200 : 404);
    } else if (kind === 6) {
      const lines = (await server.raw("GET", `${path}/export`)).text
        .split("\n")
        .filter((line) => line !== "");
      expect(lines.length).toBe(model.size);
    } else await expectModel(index);
    unknown.delete(index);
  }
}

const everyClient = (operations: number, seed: number): Promise<PromiseSettledResult<void>[]> =>
  Promise.allSettled(
    Array.from({ length: CLIENTS }, (_, client) => work(client, operations, seed * 100 + client)),
  );

function throwFirst(results: PromiseSettledResult<void>[]): void {
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

describe("with many indexes, few of them loaded", () => {
  test("every answer matches the model, and no more indexes are loaded than allowed", async () => {
    throwFirst(await everyClient(OPERATIONS, 1));
    await eventually(
      async () => ((await metrics()).value("skein_indexes_loaded") ?? LOADED_MAX + 1) <= LOADED_MAX,
      "no more than allowed are loaded",
    );
    const scraped = await metrics();
    expect(scraped.value("skein_index_openings_total")).toBeGreaterThan(INDEXES);
    expect(scraped.value("skein_index_unloads_total")).toBeGreaterThan(INDEXES - LOADED_MAX);
    expect(scraped.value("skein_index_opening_duration_seconds_count")).toBeGreaterThan(INDEXES);
    for (let index = 0; index < INDEXES; index++) await expectModel(index);
  });

  test("unused indexes are unloaded, but their metadata stays available", async () => {
    await eventually(async () => (await metrics()).value("skein_indexes_loaded") === 0, "all are unloaded");
    for (const [index, model] of models.entries()) {
      const { data } = (await server.get(`/v1/indexes/${nameOf(index)}`)).json;
      expect(data.records_count).toBe(model.size);
    }
    expect((await metrics()).value("skein_indexes_loaded")).toBe(0);
    await expectModel(0);
  });

  test("the schema of an unloaded index can be changed", async () => {
    const fields = [...SCHEMA.fields, { name: "colour", type: "string", facet: true, optional: true }];
    expectStatus(await server.patch(`/v1/indexes/${nameOf(1)}`, { schema: { fields } }), 200);
    await eventually(
      async () => (await server.get(`/v1/indexes/${nameOf(1)}`)).json.data.status === "active",
      "re-indexed",
    );
    await expectModel(1);
  });

  test("kill -9 while indexes are loaded and unloaded loses nothing acknowledged", async () => {
    for (let round = 2; round < effort(3, 6); round++) {
      const clients = everyClient(OPERATIONS * 10, round);
      const openings = async () => (await metrics()).value("skein_index_openings_total") ?? 0;
      const before = await openings();
      await eventually(async () => (await openings()) > before + 20, "indexes are loaded and unloaded");
      await server.stop("SIGKILL");
      await clients;
      await server.launch();
      for (let index = 0; index < INDEXES; index++) await expectModel(index);
      for (const [index, id] of unknown) {
        const got = await server.get(`/v1/indexes/${nameOf(index)}/documents/${id}`);
        if (got.status === 200) {
          const { title, size } = got.json.data ?? got.json;
          models[index]!.set(id, { title, size });
        }
      }
      unknown.clear();
    }
  });
});
