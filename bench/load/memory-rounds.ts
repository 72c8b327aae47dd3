// Whether memory comes back: an index is created, filled and dropped again and again, and many small indexes live
// side by side. Resident memory is read once the server had time to give back what it does not use.

import { open } from "node:fs/promises";
import type { ApiClient } from "../../server/cli/api.js";
import { createIndex } from "../../server/cli/index-setup.js";
import type { Schema } from "../../server/cli/schema/infer.js";
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
  /** Resident bytes after the first and after the last round. */
  readonly first: Memory;
  readonly last: Memory;
}

export interface ManyIndexes {
  readonly indexes: number;
  readonly documentsPerIndex: number;
  readonly seconds: number;
  readonly before: Memory;
  readonly after: Memory;
  /** Milliseconds of the first query on indexes that were not used since they were filled, ascending. */
  readonly firstQueryMs: readonly number[];
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

export async function measureManyIndexes(
  client: ApiClient,
  server: ServerProcess,
  file: DocumentsFile,
  indexes: number,
): Promise<ManyIndexes> {
  const body = await firstLines(file, DOCUMENTS_PER_SMALL_INDEX);
  const before = await settled(server);
  const started = performance.now();
  for (let i = 0; i < indexes; i++) await fill(client, `bench-small-${i}`, file.schema, body.lines);
  const seconds = (performance.now() - started) / 1000;
  const after = await settled(server);
  const firstQueryMs: number[] = [];
  const step = Math.max(1, Math.floor(indexes / QUERIED));
  for (let i = 0; i < indexes; i += step) {
    const asked = performance.now();
    await client.json("POST", `/v1/indexes/bench-small-${i}/query`, { q: "the", per_page: 10 });
    firstQueryMs.push(performance.now() - asked);
  }
  for (let i = 0; i < indexes; i++) await client.json("DELETE", `/v1/indexes/bench-small-${i}`);
  firstQueryMs.sort((a, b) => a - b);
  return { indexes, documentsPerIndex: body.count, seconds, before, after, firstQueryMs };
}

async function fill(client: ApiClient, name: string, schema: Schema, lines: Uint8Array): Promise<void> {
  await createIndex(client, name, schema);
  const body = { parts: [lines], contentType: "application/x-ndjson" };
  const reply = await client.exchange("POST", `/v1/indexes/${name}/documents/import`, body);
  if (reply.status !== 200)
    throw new Error(`the import into ${name} got ${reply.status}: ${reply.body.toString()}`);
}

async function settled(server: ServerProcess): Promise<Memory> {
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const memory = server.memory();
  if (memory === null) throw new Error("resident memory is only told by /proc");
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
