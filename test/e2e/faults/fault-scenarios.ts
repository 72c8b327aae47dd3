// How to reach each fault point of a running server and what to expect there: the requests that make a
// change, and the state once the change is complete.

import { setTimeout as sleep } from "node:timers/promises";
import type { ServerFaultPoint } from "../../../server/ground/fault.js";
import type { ShardFaultPoint } from "../../../shards/fault.js";
import { eventually, expectStatus, type TestServer } from "../world/harness.js";
import type { Reply } from "../world/reply.js";
import type { View, World } from "./fault-world.js";

export type OfflinePoint = Extract<ServerFaultPoint, `restore.${string}` | `reshard.${string}`>;
/** Fault points of feed runs, which have their own test. */
export type RunPoint = Extract<ServerFaultPoint, `run.${string}`>;
/** Fault points of the audit log; they have their own test, as do those of secret key rotation. */
export type AuditPoint = Extract<ServerFaultPoint, `audit.${string}`>;
export type SecretsPoint = Extract<ServerFaultPoint, `secrets.${string}`>;
/** Fault points of index spreading, which have their own test. */
export type SpreadPoint = Extract<ServerFaultPoint, `spread.${string}`>;
export type ServingPoint =
  | ShardFaultPoint
  | Exclude<ServerFaultPoint, OfflinePoint | RunPoint | AuditPoint | SecretsPoint | SpreadPoint>;

export interface Scenario {
  /** Runs before the test arms the point. */
  readonly before?: (world: World) => Promise<void>;
  /** Sends a request that makes the server pass the point, either immediately or later in the background. */
  readonly act: (server: TestServer) => Promise<Reply>;
  /** The state once the change is complete. */
  readonly after: (before: View) => View;
  /** Name of an index that may be left over from the previous point. */
  readonly found?: string;
  /**
   * The status a client sees if the point throws: an error status if the request is refused, or the usual
   * status if the failure is only logged. Omitted if no step can fail at the point, so that only a kill can
   * interrupt the operation.
   */
  readonly thrown?: number;
  /** True if the reply lists the documents that were not stored. */
  readonly partial?: true;
  /**
   * True if the request is refused although the catalog already has the change; the shards catch up later.
   */
  readonly kept?: true;
  /** Waits for the server to finish the work that follows a restart. */
  readonly settled?: (server: TestServer) => Promise<void>;
}

const SCHEMA = { fields: [{ name: "title", type: "string" }] };

interface Document {
  id: string;
  title: string;
}

function documents(from: number, count: number, word = "thing"): Document[] {
  return Array.from({ length: count }, (_, i) => ({
    id: `d${from + i}`,
    title: `${word} number${from + i}`,
  }));
}

const NUMBERS = Array.from({ length: 500 }, (_, i) => `number${i}`);
const WIDE_SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    ...NUMBERS.map((name) => ({ name, type: "int64", optional: true })),
  ],
};
const WIDE_DOCUMENTS = 3000;

/**
 * Only one in a hundred of these documents has all fields, so they are cheap to send and to index. Still,
 * they take six MiB in each of two shards, because a segment has a column for every field that occurs in any
 * of its rows.
 */
function wideDocuments(): object[] {
  const all = Object.fromEntries(NUMBERS.map((name, i) => [name, i]));
  return documents(0, WIDE_DOCUMENTS).map((document, i) =>
    i % 100 === 0 ? { ...document, ...all } : document,
  );
}

const lines = (list: readonly Document[]): string[] => list.map((one) => JSON.stringify(one));
const same = (view: View): View => view;

async function send(
  server: TestServer,
  index: string,
  list: readonly object[],
  action = "upsert",
): Promise<Reply> {
  const body = { action, documents: list };
  return server.raw("POST", `/v1/indexes/${index}/documents/batch`, { body });
}

/** Replaces the index with a new one that contains exactly these documents. */
async function remade(
  world: World,
  name: string,
  list: readonly Document[] = documents(0, 30),
): Promise<void> {
  await world.server!.raw("DELETE", `/v1/indexes/${name}`);
  await world.server!.createIndex(name, SCHEMA, [...list]);
}

const creation: Scenario = {
  before: async ({ server }) => void (await server!.raw("DELETE", "/v1/indexes/made")),
  act: (server) => server.raw("POST", "/v1/indexes", { body: { name: "made", schema: SCHEMA } }),
  after: (view) => ({ ...view, made: { documents: [], symbols: [], typos: 2 } }),
};

const removal: Scenario = {
  before: (world) => remade(world, "doomed"),
  act: (server) => server.raw("DELETE", "/v1/indexes/doomed"),
  after: ({ doomed: _gone, ...rest }) => rest,
};

const batch: Scenario = {
  before: (world) => remade(world, "written"),
  act: (server) => send(server, "written", documents(100, 40)),
  after: (view) => {
    const { documents: stored, ...rest } = view.written!;
    return { ...view, written: { ...rest, documents: [...stored, ...lines(documents(100, 40))].sort() } };
  },
};

/** A settings change that re-analyses all documents. */
function analysis(index: string, before?: Scenario["before"]): Scenario {
  return {
    before: before ?? ((world) => remade(world, index)),
    act: async (server) => {
      const { data } = (await server.get(`/v1/indexes/${index}/settings`)).json;
      const symbols = (data.symbols_to_index as string[]).length === 0 ? ["+"] : [];
      return server.raw("PATCH", `/v1/indexes/${index}/settings`, { body: { symbols_to_index: symbols } });
    },
    after: (view) => {
      const { symbols, ...rest } = view[index]!;
      return { ...view, [index]: { ...rest, symbols: symbols.length === 0 ? ["+"] : [] } };
    },
  };
}

/** A segment too large to be written in the same batch as its manifest. */
const large: Scenario = {
  ...analysis("large", async ({ server }) => {
    if ((await server!.get("/v1/indexes/large")).status === 200) return; // left by the previous point
    await server!.createIndex("large", WIDE_SCHEMA, wideDocuments());
  }),
};

const copy: Scenario = {
  before: async (world) => {
    await remade(world, "source");
    await remade(world, "target", documents(50, 30));
    const settings = { num_typos: 1, symbols_to_index: ["+"] };
    expectStatus(await world.server!.patch("/v1/indexes/source/settings", settings), 200);
  },
  act: (server) =>
    server.raw("POST", "/v1/indexes/target/copy-settings-from", { body: { source_index: "source" } }),
  after: (view) => ({ ...view, target: { ...view.target!, typos: 1, symbols: ["+"] } }),
};

const swap: Scenario = {
  before: async (world) => {
    await remade(world, "live");
    await remade(world, "next", documents(50, 45, "newer"));
  },
  act: (server) => {
    const body = { target_index: "next", drop_source_after: true };
    return server.raw("POST", "/v1/indexes/live/swap-with", { body });
  },
  after: ({ next, live: _displaced, ...rest }) => ({ ...rest, live: next! }),
};

/** Writes more small segments than may exist at once, so that they are merged. */
const merging: Scenario = {
  before: (world) => remade(world, "merged", documents(0, 60)),
  act: async (server) => {
    let reply: Reply | undefined;
    for (let part = 0; part < 6; part++) reply = await send(server, "merged", documents(part * 10, 10));
    return reply!;
  },
  after: same,
};

/** Replaces documents with identical ones; the old copies are purged once no reader needs them. */
const purging: Scenario = {
  before: (world) => remade(world, "purged"),
  act: (server) => send(server, "purged", documents(0, 30)),
  after: same,
};

/**
 * Pause in milliseconds between the requests of `turns`, which query more indexes in turn than may be loaded.
 * In total, the pauses are longer than a shard keeps an index loaded for background work.
 */
const TURN_MS = 60;

const turns: Scenario = {
  before: async (world) => {
    for (const name of ["one", "two", "three"]) await remade(world, name);
  },
  act: async (server) => {
    for (let turn = 0; ; turn++) {
      const reply = await server.raw("POST", `/v1/indexes/${["one", "two", "three"][turn % 3]}/query`, {
        body: { q: "thing" },
      });
      if (reply.status !== 200 || turn === 30) return reply;
      await sleep(TURN_MS); // lets merges end, because they keep their index loaded
    }
  },
  after: same,
};

const TOPICS = ["red shoe leather", "blue lamp light", "green tea cup", "black phone case"];

/**
 * An index gets vectors: a model is trained, documents are embedded, and codes are stored once the index is
 * quiet.
 */
const embedding: Scenario = {
  before: (world) =>
    remade(
      world,
      "embedded",
      TOPICS.flatMap((words, i) => documents(i * 10, 10, words)),
    ),
  act: async (server) => {
    const body = { embedder: { source: "documents" } };
    const reply = await server.raw("PATCH", "/v1/indexes/embedded/settings", { body });
    // Loads the index, unless the server is dead.
    await server.query("embedded", { q: "thing" }).catch(() => undefined);
    return reply;
  },
  after: same,
  settled: (server) => embedded(server, "embedded"),
};

/**
 * Waits until every document has its vector. The index may be unloaded meanwhile, so each query loads it
 * again.
 */
async function embedded(server: TestServer, index: string): Promise<void> {
  await eventually(async () => {
    expectStatus(await server.query(index, { q: "thing" }), 200);
    const { data } = (await server.get(`/v1/indexes/${index}/stats`)).json;
    const { state, pending } = data.embedder as { state: string; pending: number };
    return state === "ready" && pending === 0;
  }, "every document has its vector");
}

const backup: Scenario = {
  before: ({ server }) => noneRunning(server!),
  act: (server) => server.raw("POST", "/v1/snapshots"),
  after: same,
};

const backupRemoval: Scenario = {
  before: async ({ server }) => {
    await noneRunning(server!); // the backup of the point before this one may still be running
    expectStatus(await server!.post("/v1/snapshots"), 202);
    await noneRunning(server!);
  },
  act: async (server) => {
    const [oldest] = await backups(server);
    return server.raw("DELETE", `/v1/snapshots/${oldest!.id}`);
  },
  after: same,
};

function noneRunning(server: TestServer): Promise<void> {
  return eventually(
    async () => (await backups(server)).every(({ status }) => status !== "running"),
    "no backup is being written",
  );
}

export async function backups(server: TestServer): Promise<{ id: string; status: string; path: string }[]> {
  return (await server.get("/v1/snapshots")).json.data as unknown as {
    id: string;
    status: string;
    path: string;
  }[];
}

export const SCENARIOS: Record<ServingPoint, Scenario> = {
  "commit.before-batch": { ...batch, thrown: 200, partial: true },
  "commit.after-batch": batch,
  "commit.publish": batch,
  "merge.before-pieces": { ...large, thrown: 200 },
  "merge.after-pieces": { ...large, thrown: 200, found: "large" },
  "merge.before-switch": { ...merging, thrown: 200 },
  "merge.after-switch": merging,
  "reindex.before-build": { ...analysis("analysed"), thrown: 200 },
  "purge.before-batch": { ...purging, thrown: 200 },
  "drop.after-manifest": { ...removal, thrown: 200 },
  "model.before-switch": { ...embedding, thrown: 200 },
  "model.after-switch": { ...embedding, thrown: 200 },
  "vectors.before-store": { ...embedding, thrown: 200 },
  "vectors.after-store": { ...embedding, thrown: 200 },
  "codes.before-store": { ...embedding, thrown: 200 },
  "catalog.before-batch": { ...creation, thrown: 503 },
  "catalog.after-batch": creation,
  "create.after-catalog": { ...creation, thrown: 503 },
  "create.after-shards": creation,
  "schema.after-catalog": analysis("analysed"),
  "schema.before-shards": { ...analysis("analysed"), thrown: 503, kept: true },
  "schema.after-shards": analysis("analysed"),
  "copy.after-catalog": copy,
  "swap.after-catalog": swap,
  "remove.after-catalog": removal,
  "remove.after-shards": { ...removal, thrown: 200 },
  "write.before-shards": { ...batch, thrown: 503 },
  "write.after-shards": batch,
  "open.after-shards": { ...turns, thrown: 503 },
  "unload.before-shards": { ...turns, thrown: 200 },
  "backup.after-take": { ...backup, thrown: 503 },
  "backup.after-files": { ...backup, thrown: 202 },
  "backup.after-manifest": { ...backup, thrown: 202 },
  "backup.after-rename": backup,
  "backup.during-removal": { ...backupRemoval, thrown: 500 },
};
