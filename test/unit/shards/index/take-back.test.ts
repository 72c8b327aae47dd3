// Whatever a shard does between a write in doubt and the end of the server, the write can be taken back: the
// index is then as it was before the write.
import fc from "fast-check";
import { expect, test } from "vitest";
import { FLAG_INDEX, TYPE_FLOAT } from "../../../../engine-wasm/assembly/layout.js";
import { handle } from "../../../../shards/handle.js";
import { checkContents } from "../../../../shards/offline/check-index.js";
import { readContents } from "../../../../shards/offline/index-contents.js";
import { encodeTakeBack } from "../../../../shards/protocol/control.js";
import { Action } from "../../../../shards/protocol/ops.js";
import { decodeEmptyReply } from "../../../../shards/protocol/reply.js";
import { CrashDisk, CrashStore } from "../../../crash/crash-store.js";
import { effort } from "../../../effort.js";
import { engineModule, NO_VECTORS, openShard, priceBetween, SCHEMA, TestShard, UID } from "../harness.js";
import { type Body, Model } from "./model.js";

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("write" as const),
      action: fc.constantFrom(Action.UPSERT, Action.UPSERT, Action.EMPLACE, Action.DELETE),
      ids: fc.array(fc.nat(14), { minLength: 1, maxLength: 8 }),
      price: fc.nat(9),
      shards: fc.constantFrom(1, 2, 2, 3),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("deleteWhere" as const), price: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("merge" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("reindex" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("reopen" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("publish" as const), share: fc.nat(100) }) },
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** One shard and what it should have, by generation. */
class Story {
  readonly disk = new CrashDisk();
  readonly history = [new Model()];
  /** Generations of writes of several shards. */
  readonly doubtful: number[] = [];
  schema = SCHEMA;
  published = 0;

  async play(steps: readonly Step[]): Promise<void> {
    let shard = await this.open();
    for (const one of steps) {
      Object.assign(shard, { published: this.published, oldest: this.published });
      if (one.kind === "write") await this.#write(shard, one);
      else if (one.kind === "deleteWhere") await this.#deleteWhere(shard, one.price);
      else if (one.kind === "merge") await shard.settled();
      else if (one.kind === "publish") {
        const { generation } = shard;
        this.published += Math.floor(((generation - this.published) * one.share) / 100);
      } else if (one.kind === "reopen") {
        await shard.close();
        shard = await this.open();
      } else {
        const { version, fields } = this.schema;
        const added = { slot: 2, name: "weight", type: TYPE_FLOAT, flags: FLAG_INDEX, language: 0 };
        this.schema = { ...this.schema, version: version + 1, fields: [...fields.slice(0, 2), added] };
        await shard.changeSchema(this.schema);
        await shard.settled();
      }
    }
    expect(shard.reports).toEqual([]);
    await shard.close();
  }

  open(): Promise<TestShard> {
    const store = new CrashStore(this.disk);
    return TestShard.open(store, this.schema, NO_VECTORS, undefined, true, this.published);
  }

  async #write(shard: TestShard, { action, ids, price, shards }: Step & { kind: "write" }): Promise<void> {
    const documents = ids.map((i) => {
      const id = `d${i}`;
      return action === Action.DELETE ? { id } : { id, body: { id, title: `number ${i}`, price } };
    });
    shard.shards = shards;
    await shard.write(action, documents);
    const after = new Model();
    for (const [id, body] of this.history.at(-1)!.documents) after.documents.set(id, body);
    after.apply(action, documents);
    this.#add(after, shards);
  }

  async #deleteWhere(shard: TestShard, price: number): Promise<void> {
    shard.shards = 2;
    await shard.deleteWhere(priceBetween(0, price));
    const after = new Model();
    for (const [id, body] of this.history.at(-1)!.documents)
      if (Number(body.price) > price) after.documents.set(id, body);
    this.#add(after, 2);
  }

  #add(after: Model, shards: number): void {
    if (shards > 1) this.doubtful.push(this.history.length);
    this.history.push(after);
  }

  /** Takes back the writes after `generation` and returns what should be left. */
  async takeBack(generation: number): Promise<ReadonlyMap<string, Body>> {
    const store = new CrashStore(this.disk);
    const shard = await openShard(store, (await engineModule()).workbench(), []);
    decodeEmptyReply(await handle(shard, encodeTakeBack(UID, generation)));
    await shard.close();
    const first = this.doubtful.find((one) => one > generation) ?? this.history.length;
    return this.history[first - 1]!.documents;
  }
}

const sorted = (documents: ReadonlyMap<string, unknown>): unknown => [...documents].sort();

test("writes in doubt can be taken back after merges, re-indexing and restarts", async () => {
  const module = await engineModule();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 40 }), fc.nat(100), async (steps, share) => {
      const story = new Story();
      await story.play(steps);
      const last = story.history.length - 1;
      const generation = story.published + Math.floor(((last - story.published) * share) / 100);
      const expected = await story.takeBack(generation);
      const contents = await readContents(new CrashStore(story.disk), UID, module);
      expect(checkContents(contents, undefined, module.workbench()).problems).toEqual([]);
      story.published = last;
      const shard = await story.open();
      expect(sorted(await shard.documents(last))).toEqual(sorted(expected));
      expect((await shard.search({}, last)).length).toBe(expected.size);
      expect((await shard.stats()).liveDocs).toBe(expected.size);
      await shard.write(Action.UPSERT, [{ id: "d1", body: { id: "d1", title: "new", price: 1 } }]);
      await shard.settled();
      expect(await shard.get("d1")).toEqual({ id: "d1", title: "new", price: 1 });
      expect((await shard.stats()).liveDocs).toBe(expected.size + (expected.has("d1") ? 0 : 1));
      await shard.close();
    }),
    { numRuns: effort(20, 1_000) },
  );
});
