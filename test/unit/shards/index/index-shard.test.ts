// One index over a real database and the real engine: after any writes, deletes, merges and reopens, its
// contents equal those of a map, and every generation in use stays readable.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  FLAG_INDEX,
  FLAG_REQUIRED,
  TYPE_FLOAT,
  TYPE_INT32,
} from "../../../../engine-wasm/assembly/layout.js";
import { armShardFault } from "../../../../shards/fault.js";
import { Action, DOC_EXISTS, DOC_MISSING, DOC_TOO_LARGE } from "../../../../shards/protocol/ops.js";
import { decodeWriteReply, encodeWrite } from "../../../../shards/protocol/write.js";
import { LevelStore } from "../../../../shards/storage/level-store.js";
import { effort } from "../../../effort.js";
import { filterOf } from "../../../oracle/filter-operations.js";
import { priceBetween, SCHEMA, type TestDocument, TestShard, UID } from "../harness.js";
import { type Body, Model } from "./model.js";

let location = "";
beforeEach(async () => {
  location = await mkdtemp(join(tmpdir(), "skein-shard-"));
});
afterEach(() => rm(location, { recursive: true }));

async function open(schema = SCHEMA): Promise<TestShard> {
  return TestShard.open(await LevelStore.open(location), schema);
}

const doc = (id: string, price: unknown = 1, title = `title of ${id}`): TestDocument => {
  return { id, body: { id, title, price } };
};

/** Expects every kind of request to return the model's contents. */
async function expectModel(shard: TestShard, model: Model, ids: readonly string[]): Promise<void> {
  const stored = await shard.documents();
  expect(new Map([...stored].sort())).toEqual(new Map([...model.documents].sort()));
  expect((await shard.stats()).liveDocs).toBe(model.documents.size);
  const seqs = await shard.seqs();
  expect(await shard.search()).toEqual(seqs);
  const found = await shard.search(priceBetween(3, 6));
  const bySeq = new Map([...stored.keys()].map((id, i) => [seqs[i], id]));
  expect(found.map((seq) => bySeq.get(seq)).sort()).toEqual(model.priced(3, 6).sort());
  for (const id of ids) expect(await shard.get(id)).toEqual(model.documents.get(id) ?? null);
}

describe("actions", () => {
  test("do what they say and report each failure", async () => {
    const shard = await open();
    const codes = async (action: Action, documents: TestDocument[]) =>
      (await shard.write(action, documents)).failures.map(({ index, code }) => [index, code]);
    expect(await codes(Action.CREATE, [doc("a"), doc("b"), doc("a")])).toEqual([[2, DOC_EXISTS]]);
    expect(await codes(Action.UPDATE, [{ id: "c", body: { price: 2 } }])).toEqual([[0, DOC_MISSING]]);
    expect(
      await codes(Action.UPDATE, [{ id: "a", body: '{"price": null, "big": 9007199254740993}' }]),
    ).toEqual([]);
    expect(await codes(Action.EMPLACE, [{ id: "d", body: { id: "d", price: 4 } }])).toEqual([]);
    expect(await codes(Action.DELETE, [{ id: "b" }, { id: "x" }, { id: "b" }])).toEqual([
      [1, DOC_MISSING],
      [2, DOC_MISSING],
    ]);
    expect(await shard.get("a")).toMatchObject({ id: "a", price: null, title: "title of a" });
    expect(await shard.get("b")).toBeNull();
    expect(await shard.get("d")).toEqual({ id: "d", price: 4 });
    const lines = await shard.documents();
    expect([...lines.keys()]).toEqual(["a", "d"]);
    await shard.close();
  });

  test("repeated updates cannot build a document above the limit", async () => {
    const shard = await open();
    const half = "x".repeat(600_000);
    const codes = async (action: Action, body: object) =>
      (await shard.write(action, [{ id: "a", body }])).failures.map(({ code }) => code);
    expect(await codes(Action.EMPLACE, { id: "a", price: 1, first: half })).toEqual([]);
    expect(await codes(Action.UPDATE, { second: half })).toEqual([DOC_TOO_LARGE]);
    expect(await codes(Action.EMPLACE, { second: half, price: 2 })).toEqual([DOC_TOO_LARGE]);
    expect(await codes(Action.UPDATE, { first: "", second: half })).toEqual([]);
    expect(await shard.get("a")).toEqual({ id: "a", price: 1, first: "", second: half });
    await shard.close();
  });

  test("a bad document fails alone, and later operations on its id see that", async () => {
    const shard = await open();
    const { failures, liveDocs } = await shard.write(Action.CREATE, [
      doc("a", "oops"),
      doc("a", 5),
      doc("b", "oops"),
      { id: "c", body: "{" },
    ]);
    expect(failures.map(({ index, slot }) => [index, slot])).toEqual([
      [0, 1],
      [2, 1],
      [3, 0xffff],
    ]);
    expect(liveDocs).toBe(1);
    expect(await shard.get("a")).toMatchObject({ price: 5 });
    await shard.close();
  });

  test("internal members are stored but never shown", async () => {
    const shard = await open();
    const body = { id: "a", _note: "x", title: "t", "\u005f_proto__": 1, price: 3 };
    await shard.write(Action.UPSERT, [{ id: "a", body }]);
    expect(await shard.get("a")).toEqual({ id: "a", title: "t", price: 3 });
    await shard.write(Action.UPDATE, [{ id: "a", body: '{"\\u005fnew": 1, "price": 4}' }]);
    expect(await shard.get("a")).toEqual({ id: "a", title: "t", price: 4 });
    await shard.close();
  });

  test("delete by query", async () => {
    const shard = await open();
    await shard.write(
      Action.UPSERT,
      Array.from({ length: 20 }, (_, i) => doc(`d${i}`, i)),
    );
    expect(await shard.deleteWhere(priceBetween(5, 14))).toEqual({ deleted: 10, liveDocs: 10 });
    expect(await shard.deleteWhere(priceBetween(5, 14))).toEqual({ deleted: 0, liveDocs: 10 });
    expect((await shard.documents()).size).toBe(10);
    await shard.close();
  });
});

describe("generations", () => {
  test("writes that share a commit become visible one by one", async () => {
    const shard = await open();
    shard.oldest = 0;
    await shard.write(Action.UPSERT, [doc("a", 1), doc("b", 1)]);
    await Promise.all([
      shard.write(Action.UPSERT, [doc("a", 2)]),
      shard.write(Action.UPSERT, [doc("a", 3), doc("c", 3)]),
      shard.write(Action.DELETE, [{ id: "b" }]),
      shard.write(Action.UPDATE, [{ id: "c", body: { price: 5 } }]),
    ]);
    const expected = [
      {},
      { a: 1, b: 1 },
      { a: 2, b: 1 },
      { a: 3, b: 1, c: 3 },
      { a: 3, c: 3 },
      { a: 3, c: 5 },
    ];
    for (const [generation, prices] of expected.entries()) {
      const documents = await shard.documents(generation);
      const found = Object.fromEntries([...documents].map(([id, body]) => [id, (body as Body).price]).sort());
      expect(found).toEqual(prices);
      expect(await shard.search({}, generation)).toEqual(await shard.seqs(generation));
    }
    await shard.close();
  });

  test("replaced documents are removed once no read needs them", async () => {
    const shard = await open();
    shard.oldest = 0;
    await shard.write(Action.UPSERT, [doc("a", 1)]);
    await shard.write(Action.UPSERT, [doc("a", 2)]);
    expect([...(await shard.documents(1)).values()]).toMatchObject([{ price: 1 }]);
    shard.oldest = null;
    await shard.search();
    await shard.settled();
    expect([...(await shard.documents(1)).values()]).toMatchObject([{ price: 2 }]);
    await shard.close();
  });
});

describe("background work", () => {
  test("merges many small segments during writes and deletes; answers stay the same", async () => {
    const shard = await open();
    const model = new Model();
    const ids = Array.from({ length: 120 }, (_, i) => `d${i % 80}`);
    for (const [i, id] of ids.entries()) {
      const documents = [doc(id, i % 9), doc(`x${i}`, i % 5)];
      model.apply(Action.UPSERT, documents);
      await shard.write(Action.UPSERT, documents);
      if (i % 10 === 9) {
        const gone = [{ id: `x${i - 3}` }, { id }];
        model.apply(Action.DELETE, gone);
        await shard.write(Action.DELETE, gone);
      }
    }
    await shard.settled();
    expect((await shard.stats()).segments).toBeLessThan(10);
    await expectModel(shard, model, ids);
    expect(shard.reports).toEqual([]);
    await shard.close();
    const again = await open();
    await expectModel(again, model, ids);
    await again.close();
  });

  test("a new schema re-indexes stored documents, even values that do not fit it", async () => {
    const shard = await open();
    const model = new Model();
    const documents = Array.from({ length: 60 }, (_, i) => ({
      id: `d${i}`,
      body: { id: `d${i}`, title: "t", price: i, weight: i % 3 === 0 ? "heavy" : i / 2 },
    }));
    for (let i = 0; i < 60; i += 20) {
      model.apply(Action.UPSERT, documents.slice(i, i + 20));
      await shard.write(Action.UPSERT, documents.slice(i, i + 20));
    }
    const fields = [
      ...SCHEMA.fields,
      { slot: 2, name: "weight", type: TYPE_FLOAT, flags: FLAG_INDEX, language: 0 },
      { slot: 3, name: "stock", type: TYPE_INT32, flags: FLAG_INDEX | FLAG_REQUIRED, language: 0 },
    ];
    await shard.changeSchema({ ...SCHEMA, version: 2, fields });
    model.apply(Action.DELETE, [{ id: "d5" }]);
    await shard.write(Action.DELETE, [{ id: "d5" }]);
    await shard.settled();
    expect((await shard.stats()).staleSegments).toBe(0);
    await expectModel(shard, model, []);
    const range = { op: "floatRange" as const, slot: 2, lowExclusive: false, highExclusive: false };
    const heavy = await shard.search({ filter: filterOf({ ...range, low: 20, high: 1000 }) });
    expect(heavy.length).toBe(
      documents.filter(({ body: { weight } }) => typeof weight === "number" && weight >= 20).length,
    );
    expect(shard.reports).toEqual([]);
    await shard.close();
  });

  test("re-indexed segments merge with later ones, even if a field is required", async () => {
    const shard = await open();
    const stock = {
      slot: 3,
      name: "stock",
      type: TYPE_INT32,
      flags: FLAG_INDEX | FLAG_REQUIRED,
      language: 0,
    };
    const stocked = (i: number) => ({ id: `d${i}`, body: { id: `d${i}`, stock: i } });
    await shard.write(Action.UPSERT, [stocked(0)]);
    await shard.changeSchema({ ...SCHEMA, version: 2, fields: [...SCHEMA.fields, stock] });
    await shard.settled();
    for (let i = 1; i < 40; i++) await shard.write(Action.UPSERT, [stocked(i)]);
    await shard.settled();
    expect((await shard.stats()).segments).toBeLessThan(10);
    expect((await shard.search()).length).toBe(40);
    expect(shard.reports).toEqual([]);
    await shard.close();
  });
});

describe("an index", () => {
  test("leaves nothing behind when it is dropped", async () => {
    const shard = await open();
    await shard.write(Action.UPSERT, [doc("a")]);
    await shard.drop();
    await shard.close();
    const store = await LevelStore.open(location);
    for await (const key of store.keys({ from: new Uint8Array(), to: Buffer.alloc(9, 0xff) })) {
      expect.unreachable(`key ${Buffer.from(key).toString("hex")} is left`);
    }
    await store.close();
  });

  test("splits a large document set into several segments, and reopens", async () => {
    const shard = await open();
    const filler = "lorem ipsum dolor ".repeat(2000);
    const documents = Array.from({ length: 300 }, (_, i) => doc(`d${i}`, i, filler));
    const { failures } = await shard.write(Action.UPSERT, documents);
    expect(failures).toEqual([]);
    await shard.settled();
    await shard.close();
    const again = await open();
    expect((await again.documents()).size).toBe(300);
    expect((await again.search()).length).toBe(300);
    await again.close();
  });

  test("answers reads while a batch is being built, without showing any of it", async () => {
    const shard = await open();
    await shard.write(Action.UPSERT, [doc("first", 1)]);
    const { generation } = shard;
    let built = false;
    armShardFault("commit.before-batch", () => {
      built = true;
    });
    const filler = Array.from({ length: 4000 }, (_, i) => `word${i}`).join(" ");
    const written = shard.write(
      Action.UPSERT,
      Array.from({ length: 40 }, (_, i) => doc(`d${i}`, i, filler)),
    );
    let answered = 0;
    for (await yieldToEventLoop(); !built; await yieldToEventLoop()) {
      expect((await shard.search({}, generation)).length).toBe(1);
      answered++;
    }
    armShardFault("commit.before-batch", null);
    expect(answered).toBeGreaterThan(1);
    expect((await written).failures).toEqual([]);
    expect((await shard.search()).length).toBe(41);
    await shard.close();
  });

  test("exports a few large documents per message, or all small ones", async () => {
    const shard = await open();
    await shard.write(Action.UPSERT, [
      ...Array.from({ length: 8 }, (_, i) => ({
        id: `l${i}`,
        body: { id: `l${i}`, text: "x".repeat(900_000) },
      })),
      ...Array.from({ length: 500 }, (_, i) => ({ id: `s${i}`, body: { id: `s${i}` } })),
    ]);
    const seqs = await shard.seqs();
    const large = await shard.export(seqs);
    expect(large.count).toBe(4);
    expect(Buffer.from(large.lines).toString().trimEnd().split("\n")).toHaveLength(4);
    expect((await shard.export(seqs.slice(8))).count).toBe(500);
    expect([...(await shard.documents()).keys()]).toHaveLength(508);
    await shard.close();
  });

  test("refuses only the write whose bytes end too early", async () => {
    const shard = await open();
    const document = { index: 0, seq: 1, id: "a", hash: 1n, raw: Buffer.from('{"id":"a"}') };
    const head = { uid: UID, generation: 1, oldestGeneration: 0, published: 0, shards: 1 };
    const message = encodeWrite({ ...head, action: Action.UPSERT, documents: [document] });
    const [cut, whole] = await Promise.all([
      shard.ask(message.subarray(0, message.length - 3)),
      shard.ask(message),
    ]);
    expect(() => decodeWriteReply(cut)).toThrow("message ends");
    const reply = { recorded: true, failures: [], unchanged: 0, kept: [], liveDocs: 1 };
    expect(decodeWriteReply(whole)).toEqual(reply);
    await shard.close();
  });
});

test("random writes equal a map, across merges and reopens", async () => {
  const id = fc.integer({ min: 0, max: 30 }).map((n) => `id${n}`);
  const body = fc.record(
    {
      title: fc.string({ maxLength: 12 }),
      price: fc.oneof({ weight: 9, arbitrary: fc.nat(9) }, { weight: 1, arbitrary: fc.constant("x") }),
    },
    { requiredKeys: [] },
  );
  const one = fc
    .tuple(id, body)
    .map(([name, members]): TestDocument => ({ id: name, body: { id: name, ...members } }));
  const write = fc.record({ action: fc.nat(4), documents: fc.array(one, { maxLength: 12 }) });
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.array(write, { minLength: 1, maxLength: 4 }) },
    { weight: 1, arbitrary: fc.constant("reopen" as const) },
    { weight: 1, arbitrary: fc.constant("settle" as const) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 25 }), async (steps) => {
      await rm(location, { recursive: true });
      let shard = await open();
      const model = new Model();
      try {
        for (const one of steps) {
          if (one === "reopen") {
            await shard.close();
            shard = await open();
          } else if (one === "settle") {
            await shard.settled();
          } else {
            const replies = one.map(({ action, documents }) => shard.write(action as Action, documents));
            for (const [i, { action, documents }] of one.entries()) {
              const failures = model.apply(action as Action, documents);
              expect((await replies[i]!).failures.map(({ index, code }) => [index, code])).toEqual(failures);
            }
          }
        }
        await expectModel(shard, model, ["id1", "id2", "id3"]);
        expect(shard.reports).toEqual([]);
      } finally {
        await shard.close();
      }
    }),
    { numRuns: effort(15, 200) },
  );
});
