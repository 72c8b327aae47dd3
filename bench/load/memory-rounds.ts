// Checks that the server releases memory. Repeatedly creates, fills and drops an index, and also keeps many
// small indexes open at once. Resident memory is read after the server has had time to release unused memory.

import { open } from "node:fs/promises";
import type { ApiClient } from "../../server/cli/api.js";
import { createIndex } from "../../server/cli/commands/index-setup.js";
import type { InferredSchema } from "../../server/documents/formats/infer.js";
import type { DocumentsFile } from "./documents-file.js";
import type { Memory, ServerProcess } from "./server-process.js";

const DOCUMENTS_PER_ROUND = 10_000;
const DOCUMENTS_PER_SMALL_INDEX = 100;
const SETTLE_MS = 3_000;
const QUERIED = 100;
const HEAD_BYTES = 8 * 1024 * 1024;

export interface Rounds {
  readonly rounds: number;
  readonly documentsPerRound: number;
  /** Resident bytes after the first round (`first`) and after the last (`last`). */
  readonly first: Memory;
  readonly last: Memory;
}

export interface ManyIndexes {
  readonly indexes: number;
  readonly documentsPerIndex: number;
  readonly seconds: number;
  /** 95th percentile of the time to create and fill one index. */
  readonly slowFillMs: number;
  readonly before: Memory;
  readonly after: Memory;
  /** Number of indexes loaded when `after` was measured. */
  readonly loaded: number;
  /** Duration (ms) of the first query on each unloaded index, ascending. */
  readonly firstQueryMs: readonly number[];
  /** Number of indexes that had to be loaded for these queries. */
  readonly openings: number;
  /** Milliseconds from starting another server on the same data to its first answer. */
  readonly restartMs: number;
  /** The restarted server's memory and its number of loaded indexes, once it has checked all indexes. */
  readonly restarted: Memory & { readonly loaded: number };
}

export async function measureRounds(
  client: ApiClient,
  server: ServerProcess,
  file: DocumentsFile,
  rounds: number,
): Promise<Rounds> {
  const body = await firstLines(file, DOCUMENTS_PER_ROUND);
  let first: Memory | null = null;
  for (let round = 0; round < rounds; round++) {
    await fill(client, "bench-round", file.schema, body.lines);
    await client.json("POST", "/v1/indexes/bench-round/query", { q: "the", per_page: 1 });
    await client.json("DELETE", "/v1/indexes/bench-round");
    first ??= await settled(server);
  }
  if (first === null) throw new Error("at least one round is needed");
  return { rounds, documentsPerRound: body.count, first, last: await settled(server) };
}

/**
 * Queries the indexes in order of creation, which is also the order of unloading. So if there are more
 * indexes than a server keeps loaded, every query has to load its index. `restart` starts another server on
 * the same data and returns a client.
 */
export async function measureManyIndexes(
  client: ApiClient,
  server: ServerProcess,
  file: DocumentsFile,
  indexes: number,
  restart: () => Promise<{ client: ApiClient; server: ServerProcess }>,
): Promise<ManyIndexes> {
  const body = await firstLines(file, DOCUMENTS_PER_SMALL_INDEX);
  const before = await settled(server);
  const fillMs: number[] = [];
  for (let i = 0; i < indexes; i++) {
    const started = performance.now();
    await fill(client, smallIndex(i), file.schema, body.lines);
    fillMs.push(performance.now() - started);
  }
  const after = await settled(server);
  const loaded = await metric(client, "skein_indexes_loaded");
  const openedBefore = await metric(client, "skein_index_openings_total");
  const firstQueryMs: number[] = [];
  for (let i = 0; i < Math.min(indexes, QUERIED); i++) {
    const asked = performance.now();
    await query(client, i);
    firstQueryMs.push(performance.now() - asked);
  }
  const openings = (await metric(client, "skein_index_openings_total")) - openedBefore;
  await server.stop();
  const stopped = performance.now();
  const next = await restart();
  await query(next.client, indexes >> 1);
  const restartMs = performance.now() - stopped;
  await lookedAtAll(next.client);
  const memory = await settled(next.server);
  const restarted = { ...memory, loaded: await metric(next.client, "skein_indexes_loaded") };
  next.client.close();
  await next.server.stop();
  return {
    indexes,
    documentsPerIndex: body.count,
    seconds: fillMs.reduce((sum, ms) => sum + ms, 0) / 1000,
    slowFillMs: ascending(fillMs)[Math.floor(indexes * 0.95)] as number,
    before,
    after,
    loaded,
    firstQueryMs: ascending(firstQueryMs),
    openings,
    restartMs,
    restarted,
  };
}

function smallIndex(i: number): string {
  return `bench-small-${i}`;
}

function ascending(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b);
}

async function query(client: ApiClient, i: number): Promise<void> {
  await client.json("POST", `/v1/indexes/${smallIndex(i)}/query`, { q: "the", per_page: 10 });
}

/** Reads an unlabelled metric. */
async function metric(client: ApiClient, name: string): Promise<number> {
  const { body } = await client.exchange("GET", "/metrics");
  const value = new RegExp(`^${name} (\\S+)$`, "m").exec(body.toString())?.[1];
  if (value === undefined) throw new Error(`the server does not report ${name}`);
  return Number(value);
}

/** Resolves once the restarted server has opened every index to check it. */
async function lookedAtAll(client: ApiClient): Promise<void> {
  for (;;) {
    const { body } = await client.exchange("GET", "/health/ready");
    if (JSON.parse(body.toString()).data.unseen === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function fill(
  client: ApiClient,
  name: string,
  schema: InferredSchema,
  lines: Uint8Array,
): Promise<void> {
  await createIndex(client, name, schema);
  const body = { parts: [lines], contentType: "application/x-ndjson" };
  const reply = await client.exchange("POST", `/v1/indexes/${name}/documents/import`, body);
  if (reply.status !== 200)
    throw new Error(`the import into ${name} got ${reply.status}: ${reply.body.toString()}`);
}

async function settled(server: ServerProcess): Promise<Memory> {
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const memory = server.memory();
  if (memory === null) throw new Error("resident memory is only available from /proc");
  return memory;
}

async function firstLines(file: DocumentsFile, wanted: number): Promise<{ lines: Buffer; count: number }> {
  const handle = await open(file.path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    let end = 0;
    let count = 0;
    for (; count < wanted; count++) {
      const next = buffer.subarray(0, bytesRead).indexOf(0x0a, end);
      if (next < 0) break;
      end = next + 1;
    }
    return { lines: buffer.subarray(0, end), count };
  } finally {
    await handle.close();
  }
}
