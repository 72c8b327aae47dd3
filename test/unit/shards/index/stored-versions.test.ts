// Looking up many ids takes several steps; each id still gets its own stored version.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Action } from "../../../../shards/protocol/ops.js";
import { LevelStore } from "../../../../shards/storage/level-store.js";
import { type TestDocument, TestShard } from "../harness.js";

let location = "";
beforeEach(async () => {
  location = await mkdtemp(join(tmpdir(), "skein-shard-"));
});
afterEach(() => rm(location, { recursive: true }));

const NUMBERS = Array.from({ length: 1100 }, (_, i) => i);

function documents(numbers: readonly number[], price: number): TestDocument[] {
  return numbers.map((i) => ({ id: `d${i}`, body: { id: `d${i}`, title: `title of ${i}`, price } }));
}

test("a write finds the stored version of each of its ids", async () => {
  const shard = await TestShard.open(await LevelStore.open(location));
  const even = NUMBERS.filter((i) => i % 2 === 0);
  await shard.write(Action.UPSERT, documents(even, 1));
  const { failures } = await shard.write(Action.CREATE, documents(NUMBERS, 2));
  expect(failures.map(({ index }) => index)).toEqual(even);
  await shard.write(Action.UPSERT, documents(NUMBERS, 3));
  expect((await shard.stats()).liveDocs).toBe(NUMBERS.length);
  const stored = [...(await shard.documents()).values()] as { price: number }[];
  expect(new Set(stored.map(({ price }) => price))).toEqual(new Set([3]));
  await shard.close();
});
