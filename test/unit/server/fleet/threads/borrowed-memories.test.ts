// How a thread borrows indexes' memories from the shards, with both ends of the channel and real engines:
// when a reader is created and removed, and that every memory is returned.
import { MessageChannel } from "node:worker_threads";
import { afterEach, expect, test } from "vitest";
import { FLAG_INDEX, TYPE_STRING } from "../../../../../engine-wasm/assembly/layout.js";
import type { Engine } from "../../../../../engine-wasm/host/instance/engine.js";
import type { EngineReader } from "../../../../../engine-wasm/host/instance/engine-reader.js";
import type { LentMemory } from "../../../../../engine-wasm/host/instance/sharing.js";
import { PLAIN_ANALYSIS } from "../../../../../engine-wasm/host/instance/workbench.js";
import type { LentModel } from "../../../../../engine-wasm/host/vectors/model-reader.js";
import { BorrowedMemories } from "../../../../../server/fleet/threads/borrowed-memories.js";
import { MemoryLoans } from "../../../../../shards/memory-loans.js";
import { loadEngine } from "../../../engine/load-engine.js";

const module = await loadEngine();
const open: BorrowedMemories[] = [];
afterEach(() => {
  for (const memories of open.splice(0)) memories.close();
});

interface Line {
  readonly memories: BorrowedMemories;
  readonly engines: Map<number, Engine>;
  /** Lent memories that have not been returned. */
  readonly lent: Set<LentMemory>;
}

function line(
  indexes: number,
  readerOf = (lent: LentMemory): EngineReader | null => module.reader(lent),
): Line {
  const engines = new Map(Array.from({ length: indexes }, (_, uid) => [uid, module.engine()]));
  const lent = new Set<LentMemory>();
  const { port1, port2 } = new MessageChannel();
  new MemoryLoans(port2, (uid) => {
    const engine = engines.get(uid);
    if (engine === undefined) throw new Error("no such index");
    return {
      lend: (onEnd) => {
        const memory = engine.lend(4096, onEnd);
        if (memory !== null) lent.add(memory);
        return memory;
      },
      lendModel: async () => modelOf(engine),
      takeBack: (memory) => {
        for (const one of lent)
          if (one.scratch === memory.scratch && one.memory === memory.memory) lent.delete(one);
        engine.takeBack(memory);
      },
    };
  });
  const memories = new BorrowedMemories(port1, readerOf);
  open.push(memories);
  return { memories, engines, lent };
}

/** The model that each engine currently publishes. */
const models = new Map<Engine, { readonly number: number; readonly lent: LentModel }>();

function modelOf(engine: Engine): { readonly number: number; readonly lent: LentModel } | null {
  return models.get(engine) ?? null;
}

/** Waits until messages in both directions have arrived. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Reads the index until it has a reader. Returns the number of reads; null if a hundred were not enough. */
async function readsUntilReader({ memories }: Line, uid: number): Promise<number | null> {
  for (let reads = 1; reads <= 100; reads++) {
    if (memories.reader(uid) !== null) return reads;
    await settled();
  }
  return null;
}

test("an index gets a reader once it is read often, and a new one at once when it has moved", async () => {
  const one = line(2);
  expect(await readsUntilReader(one, 0)).toBe(9);
  expect(one.memories.reader(1)).toBeNull();
  const reader = one.memories.reader(0)!;
  one.engines.get(0)!.renew([]);
  expect(reader.ended).toBe(true);
  await settled();
  expect(await readsUntilReader(one, 0)).toBe(2);
  expect(one.memories.reader(0)!.ended).toBe(false);
});

test("what is lent of an index that has grown too large is returned, and lent again if it shrinks", async () => {
  const one = line(2);
  await readsUntilReader(one, 0);
  await readsUntilReader(one, 1);
  expect(one.lent.size).toBe(2);
  one.memories.unused(0);
  one.memories.unused(0);
  await settled();
  expect(one.lent.size).toBe(1);
  expect(one.memories.reader(1)).not.toBeNull();
  expect(await readsUntilReader(one, 0)).toBe(9);
  expect(one.lent.size).toBe(2);
});

test("when an engine leaves its memory, this thread discards the memory as well", async () => {
  const discarded: EngineReader[] = [];
  const one = line(2, (lent) => {
    const reader = module.reader(lent);
    reader.discard = () => discarded.push(reader);
    return reader;
  });
  await readsUntilReader(one, 0);
  await readsUntilReader(one, 1);
  const readers = [0, 1].map((uid) => one.memories.reader(uid));
  one.engines.get(0)!.renew([]);
  await settled();
  expect(discarded).toEqual([readers[0]]);
  one.memories.close();
  expect(discarded).toEqual(readers);
});

test("a failed reader is given back, and its index gets none for a while", async () => {
  const one = line(1);
  await readsUntilReader(one, 0);
  one.memories.failed(0);
  await settled();
  expect(one.lent.size).toBe(0);
  expect(await readsUntilReader(one, 0)).toBeNull();
});

test("refused or unusable memories are not requested again and again", async () => {
  expect(await readsUntilReader(line(0), 7)).toBeNull();
  let made = 0;
  const none = line(1, () => {
    made++;
    return null;
  });
  expect(await readsUntilReader(none, 0)).toBeNull();
  expect([made, none.lent.size]).toEqual([1, 0]);
});

test("reads are counted for a bounded number of indexes; the ones read longest ago start again", async () => {
  /** Reads index 0 until one more read would borrow its memory, then `others` other indexes once each. */
  const readAmong = (others: number): Line => {
    const one = line(1);
    for (let reads = 1; reads < 8; reads++) one.memories.reader(0);
    for (let uid = 1; uid <= others; uid++) one.memories.reader(uid);
    return one;
  };
  expect(await readsUntilReader(readAmong(999), 0)).toBe(2);
  expect(await readsUntilReader(readAmong(2_000), 0)).toBe(9);
});

test("among many indexes, the least recently used lose their readers", async () => {
  const many = line(1_010);
  for (let reads = 1; reads < 9; reads++) for (let uid = 0; uid < 500; uid++) many.memories.reader(uid);
  await settled();
  for (let reads = 1; reads < 9; reads++) for (let uid = 500; uid < 1_010; uid++) many.memories.reader(uid);
  for (let uid = 0; uid < 5; uid++) expect(many.memories.reader(uid)?.ended).toBe(false);
  while (many.memories.reader(1_009) === null) await settled();
  await settled();
  expect(many.lent.size).toBe(1_000);
  expect([0, 4, 5, 14, 15, 499].map((uid) => many.memories.reader(uid) !== null)).toEqual([
    true,
    true,
    false,
    false,
    true,
    true,
  ]);
});

test("a closing line gives everything back", async () => {
  const one = line(3);
  for (const uid of [0, 1, 2]) await readsUntilReader(one, uid);
  expect(one.lent.size).toBe(3);
  one.memories.close();
  while (one.lent.size > 0) await settled();
  expect(one.memories.reader(0)).toBeNull();
});

test("the model in force is borrowed once, on demand, and so is each later one", async () => {
  const documents = ["red shoe", "red lamp", "blue shoe", "blue lamp"].map((title, i) => ({
    seq: i + 1,
    raw: Buffer.from(JSON.stringify({ id: `d${i}`, title })),
  }));
  const fields = [{ slot: 0, name: "title", type: TYPE_STRING, flags: FLAG_INDEX, language: 0 }];
  const trained = module.train({ fields, analysis: PLAIN_ANALYSIS }, documents, {
    slots: [{ slot: 0, weight: 1, stemmed: false }],
    number: 1,
    termsMax: 100,
    previous: null,
  })!;
  const terms = [{ term: "shoe", weight: 1 }];
  const one = line(1);
  await readsUntilReader(one, 0);
  const engine = one.engines.get(0)!;
  const reader = one.memories.reader(0)!;
  expect(reader.queryVector(terms)).toBeNull();
  for (const number of [3, 4]) {
    const embedder = module.embedder(trained);
    engine.showModel(number);
    expect(reader.queryVector(terms)).toBeUndefined();
    await settled(); // no model to lend yet
    expect(reader.queryVector(terms)).toBeUndefined();
    models.set(engine, { number, lent: embedder.lend() });
    engine.showModel(number + 10);
    models.set(engine, { number: number + 10, lent: embedder.lend() });
    expect(reader.queryVector(terms)).toBeUndefined();
    await settled();
    expect(reader.queryVector(terms)).toEqual(embedder.query(terms));
    expect(embedder.query(terms)).not.toBeNull();
  }
  engine.showModel(0);
  expect(reader.queryVector(terms)).toBeNull();
});
