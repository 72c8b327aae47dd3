// Vector reads on the HTTP thread, with real engines and models: what the thread can compute without a shard,
// and every reason to leave a read to the shard.

import { beforeAll, expect, test } from "vitest";
import { Random } from "../../../../../bench/random.js";
import { FLAG_INDEX, TYPE_STRING } from "../../../../../engine-wasm/assembly/layout.js";
import { EngineError } from "../../../../../engine-wasm/host/engine-error.js";
import type { EngineReader } from "../../../../../engine-wasm/host/instance/engine-reader.js";
import { PLAIN_ANALYSIS } from "../../../../../engine-wasm/host/instance/workbench.js";
import type { Embedder } from "../../../../../engine-wasm/host/vectors/embedder.js";
import { LocalDocuments } from "../../../../../server/fleet/local/local-documents.js";
import { LocalReader } from "../../../../../server/fleet/local/local-reader.js";
import { LocalVectors } from "../../../../../server/fleet/local/local-vectors.js";
import { TurnBudget } from "../../../../../server/fleet/local/turn-budget.js";
import {
  type AskedSnapshot,
  embedRead,
  type ShardRead,
  type ShardReader,
  similaritiesRead,
} from "../../../../../server/fleet/shard-reader.js";
import { RequestLife } from "../../../../../server/ground/jobs/request-life.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import { LocalReadMeter } from "../../../../../server/ground/metrics/recorder.js";
import {
  type EmbedReply,
  encodeEmbedReply,
  encodeSimilaritiesReply,
  type WeightedTerm,
} from "../../../../../shards/protocol/vectors.js";
import { brokenAssertions } from "../../../../broken-assertions.js";
import { plainRecords } from "../../../../oracle/vectors/codes.js";
import { loadEngine } from "../../../engine/load-engine.js";
import { randomQuery, randomVector } from "../../../engine/vectors/random-vectors.js";
import { tableCosines } from "../../../engine/vectors/table-cosines.js";
import { makeRecord } from "../../record.js";

const module = await loadEngine();
const workbench = module.workbench();
const SNAPSHOT: AskedSnapshot = {
  record: makeRecord(),
  tenant: 1,
  slices: { next: async () => undefined },
  life: new RequestLife(),
  data: 7,
  generation: 1,
  oldestGeneration: 1,
};
const SHOE: WeightedTerm[] = [{ term: "shoe", weight: 1 }];
const random = new Random(1);
const STORED = Array.from({ length: 10 }, () => new Uint8Array(plainRecords([randomVector(random)])));
let model: Uint8Array;

beforeAll(() => {
  const documents = ["red shoe", "red lamp", "blue shoe", "blue lamp"].map((title, i) => ({
    seq: i + 1,
    raw: Buffer.from(JSON.stringify({ id: `d${i}`, title })),
  }));
  const fields = [{ slot: 0, name: "title", type: TYPE_STRING, flags: FLAG_INDEX, language: 0 }];
  const slots = [{ slot: 0, weight: 1, stemmed: false }];
  const options = { slots, number: 1, termsMax: 100, previous: null };
  model = module.train({ fields, analysis: PLAIN_ANALYSIS }, documents, options)!;
});

/** An index with a model in one shard's memory, and the HTTP thread's reads of that index. */
class World implements ShardReader {
  readonly embedder: Embedder = module.embedder(model);
  readonly reader: EngineReader;
  readonly meter = new LocalReadMeter();
  readonly budget: TurnBudget;
  readonly local: LocalReader;
  tables = 0;
  lacksMemory = false;
  readonly load = { wantsHelp: false };
  failed = 0;
  /** Data numbers of the indexes whose memory is no longer needed. */
  readonly unused: number[] = [];
  /** Requests sent to the shard. */
  readonly asked: { readonly terms: number; readonly seqs: readonly number[] }[] = [];

  constructor(turnMs = 1e9) {
    const engine = module.engine();
    this.reader = module.reader(engine.lend(4096, () => undefined)!);
    engine.showModel(3);
    this.budget = new TurnBudget(turnMs);
    const newTable = () => {
      this.tables++;
      if (this.lacksMemory) throw new EngineError("memory", "No room for another WebAssembly memory");
      return workbench.vectorTable();
    };
    this.local = new LocalReader(
      this,
      {
        reader: () => this.reader,
        readerFailed: () => this.failed++,
        readerUnused: (data) => this.unused.push(data),
      },
      new LocalDocuments(workbench, this.budget, 0),
      new LocalVectors(newTable, 2 ** 20),
      this.budget,
      this.load,
      DEFAULT_LIMITS,
      this.meter,
    );
  }

  /** Answers as the shard's thread would. */
  read<T>(read: ShardRead<T>): Promise<T>[] {
    const { kind, decode } = read;
    if (kind === "similarities")
      return [Promise.resolve(decode(encodeSimilaritiesReply(new Float32Array(read.seqs.length))))];
    if (kind !== "embed") throw new Error(`the shard is not asked for ${kind} here`);
    const { terms, seqs } = read;
    this.asked.push({ terms: terms.length, seqs });
    const vectors = Buffer.concat(seqs.map((seq) => STORED[seq]!));
    return [Promise.resolve(decode(encodeEmbedReply({ query: this.embedder.query(terms), vectors })))];
  }

  embed(terms: readonly WeightedTerm[], seqs: readonly number[] = []): Promise<EmbedReply | null> {
    return this.#unlessLeft(embedRead(SNAPSHOT, terms, seqs));
  }

  similarities(query: Float32Array, seqs: readonly number[]): Promise<Float32Array | null> {
    return this.#unlessLeft(similaritiesRead(SNAPSHOT, query, seqs));
  }

  /** Resolves with null if the read was left to the shard's thread. */
  async #unlessLeft<T>(read: ShardRead<T>): Promise<T | null> {
    const { left } = this.meter;
    const answer = await this.local.read(read, [0])[0]!;
    return this.meter.left > left ? null : answer;
  }
}

test("gives the same query vector and document vectors as the shard", async () => {
  const world = new World();
  world.reader.takeModel(3, world.embedder.lend());
  expect(await world.embed(SHOE, [2, 5])).toEqual({
    query: world.embedder.query(SHOE),
    vectors: new Uint8Array(Buffer.concat([STORED[2]!, STORED[5]!])),
  });
  expect(await world.embed([], [5])).toEqual({ query: null, vectors: STORED[5] });
  const query = randomQuery(random);
  expect(await world.similarities(query, [5, 2])).toEqual(
    tableCosines(workbench, query, Buffer.concat([STORED[5]!, STORED[2]!])),
  );
  expect(world.asked).toEqual([{ terms: 0, seqs: [2, 5] }]);
  expect([world.meter.answered, world.meter.left]).toEqual([3, 0]);
  expect((await world.embed([{ term: "unknown", weight: 1 }]))?.query).toBeNull();
});

test("larger indexes are left to the shards, sooner while this thread wants help", () => {
  const { load, local, unused } = new World();
  const taken = (): boolean[] =>
    [20_000, 20_001, 100_000, 100_001].map((documents, data) => local.takes(data, documents));
  expect(taken()).toEqual([true, true, true, false]);
  load.wantsHelp = true;
  expect(taken()).toEqual([true, false, false, false]);
  expect(unused).toEqual([3, 3]); // a busy thread keeps what it will need again
});

test("a model that has not arrived yet is left to the shard", async () => {
  const world = new World();
  let wanted = 0;
  world.reader.onModelWanted = () => wanted++;
  for (let times = 0; times < 3; times++) expect(await world.embed(SHOE)).toBeNull();
  expect([wanted, world.meter.left]).toEqual([1, 3]);
  world.reader.takeModel(2, world.embedder.lend()); // an outdated model
  expect(await world.embed(SHOE)).toBeNull();
});

test("vectors are left to the shard once the turn is over, but not in a new turn", async () => {
  const world = new World(50);
  world.reader.takeModel(3, world.embedder.lend());
  const query = randomQuery(random);
  await world.similarities(query, [1]);
  world.budget.spend(50);
  expect([await world.embed(SHOE), await world.similarities(query, [1])]).toEqual([null, null]);
  await new Promise((resolve) => setImmediate(resolve));
  world.budget.spend(-1e6); // enough budget, however busy the machine is
  expect((await world.embed(SHOE))?.query).toEqual(world.embedder.query(SHOE));
});

test("a query with more terms than fit the scratch is left to the shard, but no other query is", async () => {
  const world = new World();
  world.reader.takeModel(3, world.embedder.lend());
  const many = Array.from({ length: 3000 }, (_, i) => ({ term: `term number ${i}`, weight: 1 }));
  expect(await world.embed(many)).toBeNull();
  expect((await world.embed(SHOE))?.query).toEqual(world.embedder.query(SHOE));
  expect(world.failed).toBe(0);
});

test("a trap in the model ends the reader", async () => {
  const world = new World();
  world.reader.takeModel(3, { ...world.embedder.lend(), model: 0xfffffff0 });
  const printed = await brokenAssertions(async () => expect(await world.embed(SHOE)).toBeNull());
  expect(printed).toMatch(/assertion failed: an address lies inside what the arena has given out/);
  expect(world.failed).toBe(1);
  expect(world.embedder.query(SHOE)).not.toBeNull();
});

test("vectors are left to the shard while memory is lacking, and kept as soon as there is some", async () => {
  const world = new World();
  const query = randomQuery(random);
  world.lacksMemory = true;
  for (let times = 1; times <= 2; times++) {
    expect(await world.similarities(query, [1, 2])).toBeNull();
    expect(world.tables).toBe(times);
  }
  world.lacksMemory = false;
  const expected = tableCosines(workbench, query, Buffer.concat([STORED[1]!, STORED[2]!]));
  for (let times = 0; times < 2; times++) expect(await world.similarities(query, [1, 2])).toEqual(expected);
  expect(world.asked).toHaveLength(3);
  expect(world.failed).toBe(0);
});
