// A thread that has borrowed an index's memory finds the same nearest documents and computes the same query
// vectors as the shard, at every moment of random stories in which vectors are added, replaced by another
// source or model, and removed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Random } from "../../../../bench/random.js";
import type { EngineReader } from "../../../../engine-wasm/host/instance/engine-reader.js";
import { encodeNearest } from "../../../../engine-wasm/host/programs/nearest-program.js";
import { decodeNearestResult } from "../../../../engine-wasm/host/programs/nearest-result.js";
import { EVERY_DOCUMENT, encodeSearch } from "../../../../engine-wasm/host/programs/search-program.js";
import { type FetchVectors, LocalVectors } from "../../../../server/fleet/local/local-vectors.js";
import { run, settled } from "../../../../server/ground/jobs/work.js";
import { handle } from "../../../../shards/handle.js";
import { encodeInUse } from "../../../../shards/protocol/control.js";
import { Action } from "../../../../shards/protocol/ops.js";
import { decodeResult, encodeNearestRequest } from "../../../../shards/protocol/program.js";
import {
  decodeEmbedReply,
  decodeSimilaritiesReply,
  encodeEmbed,
  encodeSimilarities,
  type NumberedModel,
  type WeightedTerm,
} from "../../../../shards/protocol/vectors.js";
import { LevelStore } from "../../../../shards/storage/level-store.js";
import { effort } from "../../../effort.js";
import { engineModule, NO_VECTORS, SCHEMA, TestShard, UID } from "../harness.js";
import { DOCUMENTS, ENDPOINT, numbers, PUSHED, trainedModel, VectorShard } from "./vector-shard.js";

const TOPICS = ["red shoe leather", "blue lamp light", "green tea cup", "black phone case"];
const IDS = 60;
const TERMS: WeightedTerm[][] = [
  [{ term: "lamp", weight: 1 }],
  [
    { term: "tea", weight: 2 },
    { term: "phone", weight: 0.5 },
  ],
  [{ term: "unknown", weight: 1 }],
  [],
];
const NEVER = Number.POSITIVE_INFINITY;
const module = await engineModule();
const workbench = module.workbench();

function documentOf(i: number, random: Random): { id: string; body: object } {
  const embedding = random.below(3) > 0 ? { embedding: numbers(random.below(1000)) } : {};
  return { id: `d${i}`, body: { id: `d${i}`, title: `${TOPICS[i % 4]} ${i % 7}`, price: i, ...embedding } };
}

/** An index in a shard, with a reader of its memory like that of another thread. */
class Lent {
  readonly shard: VectorShard;
  readonly #local = new LocalVectors(() => workbench.vectorTable(), 2 ** 20);
  #reader: EngineReader | null = null;
  /** How often each case has been compared, to make sure that a story covers all of them. */
  readonly seen = { cosines: 0, fetched: 0, compared: 0, vectors: 0, unknown: 0, models: 0, readers: 0 };

  constructor(shard: VectorShard) {
    this.shard = shard;
  }

  get #index() {
    return this.shard.test.shard.index(UID);
  }

  get reader(): EngineReader {
    if (this.#reader !== null && !this.#reader.ended) return this.#reader;
    const reader = module.reader(this.#index.lend(() => undefined)!);
    reader.onModelWanted = () =>
      void this.#index.lendModel().then((model) => {
        if (model === null) return;
        reader.takeModel(model.number, model.lent);
        this.seen.models++;
      });
    this.#reader = reader;
    this.seen.readers++;
    return reader;
  }

  /**
   * Compares the shard's cosines with those that another thread computes from its cached vectors, fetching
   * missing ones. Call only while no work is in progress.
   */
  async compareStored(random: Random): Promise<void> {
    const { test } = this.shard;
    const there = await test.seqs();
    const seqs = there.filter(() => random.below(2) === 0);
    const query = this.shard.query(random.below(1000));
    const fetch: FetchVectors = (missing) => {
      this.seen.fetched += missing.length;
      return settled(this.shard.embed([], missing));
    };
    const use = (slots: Int32Array): Float32Array => this.#local.similarities(query, slots);
    const cosines = await run(this.#local.with(this.reader, seqs, fetch, use));
    const expected = handle(test.shard, encodeSimilarities({ uid: UID, query, seqs })) as Uint8Array;
    expect(cosines).toEqual(decodeSimilaritiesReply(expected));
    this.seen.cosines += seqs.length;
  }

  /** Compares the reader with the shard at this moment. */
  compare(random: Random): void {
    const { test } = this.shard;
    const oldestGeneration = test.oldest ?? test.generation;
    const query = this.shard.query(random.below(1000));
    const program = encodeNearest(query, 100, encodeSearch({ ...EVERY_DOCUMENT, k: 0 }));
    for (const generation of new Set([test.generation, oldestGeneration])) {
      const request = { uid: UID, generation, oldestGeneration, program };
      const expected = handle(test.shard, encodeNearestRequest(request)) as Uint8Array;
      const answer = this.reader.answer("nearest", generation, oldestGeneration, program, NEVER);
      if (answer === null) continue; // the reader can see only the newest snapshots
      expect(new Uint8Array(answer)).toEqual(new Uint8Array(decodeResult(expected)));
      this.seen.compared += decodeNearestResult(answer).compared;
    }
    const terms = random.pick(TERMS);
    const vector = this.reader.queryVector(terms);
    const expected = handle(test.shard, encodeEmbed({ uid: UID, terms, seqs: [] }));
    if (vector === undefined || expected instanceof Promise) {
      this.seen.unknown++;
      return;
    }
    expect(vector).toEqual(decodeEmbedReply(expected).query);
    if (vector !== null) this.seen.vectors++;
  }
}

/**
 * Trains four models, each on more documents than the one before. Some are aligned with the previous model.
 */
async function models(random: Random): Promise<NumberedModel[]> {
  const made: NumberedModel[] = [];
  for (let number = 1; number <= 4; number++) {
    const bodies = Array.from({ length: 40 * number }, (_, i) => documentOf(i, random).body);
    const since = number > 1 && random.below(2) === 0 ? made.at(-1)!.since : number;
    made.push(await trainedModel(number, since, bodies));
  }
  return made;
}

async function story(seed: number, seen: Record<string, number>): Promise<void> {
  const random = new Random(seed);
  const directory = mkdtempSync(join(tmpdir(), "skein-lent-"));
  const test = await TestShard.open(await LevelStore.open(directory), SCHEMA, DOCUMENTS);
  const lent = new Lent(new VectorShard(test));
  const toCome = await models(random);
  const some = (): number[] => Array.from({ length: random.from(1, 20) }, () => random.below(IDS));
  try {
    for (let step = 0; step < effort(40, 200); step++) {
      const ids = [...new Set(some())];
      const under: Promise<unknown>[] = [];
      switch (random.pick(["write", "write", "delete", "model", "policy", "put", "wait", "older"])) {
        case "write":
          under.push(
            test.write(
              Action.UPSERT,
              ids.map((i) => documentOf(i, random)),
            ),
          );
          break;
        case "delete":
          under.push(
            test.write(
              Action.DELETE,
              ids.map((i) => ({ id: `d${i}` })),
            ),
          );
          break;
        case "model":
          if (toCome.length > 0) under.push(lent.shard.setModel(toCome.shift()!));
          break;
        case "policy":
          under.push(lent.shard.setPolicy(random.pick([DOCUMENTS, DOCUMENTS, PUSHED, ENDPOINT, NO_VECTORS])));
          break;
        case "put":
          under.push(
            lent.shard
              .pending(5)
              .then((waiting) => lent.shard.put(new Map(waiting.map(({ seq }) => [seq, seq])))),
          );
          break;
        case "wait":
          under.push(test.settled());
          break;
        default:
          test.oldest = test.oldest === null ? test.generation : null;
          under.push(test.ask(encodeInUse(UID, test.oldest ?? test.generation)));
      }
      let isOver = false;
      void Promise.all(under).finally(() => {
        isOver = true;
      });
      while (!isOver) {
        await new Promise((resolve) => setImmediate(resolve));
        lent.compare(random);
      }
      await Promise.all(under);
      lent.compare(random);
      await test.settled();
      await lent.compareStored(random);
    }
  } finally {
    await test.close();
    rmSync(directory, { recursive: true, force: true });
  }
  for (const [what, count] of Object.entries(lent.seen)) seen[what] = (seen[what] ?? 0) + count;
}

test("a reader in another thread finds what the shard finds", async () => {
  const seen: Record<string, number> = {};
  for (let seed = 1; seed <= effort(4, 40); seed++) await story(seed, seen);
  expect(seen.fetched).toBeLessThan(seen.cosines! / 2);
  for (const what of ["compared", "vectors", "models", "readers"])
    expect(seen[what], what).toBeGreaterThan(3);
});
