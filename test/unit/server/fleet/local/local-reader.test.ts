// Vector reads on the HTTP thread, with real engines and models: what the thread can compute without a shard,
// and every reason to leave a read to the shard.

import { beforeAll, expect, test } from "vitest";
import { Random } from "../../../../../bench/random.js";
import { ALT_EXACT, FLAG_INDEX, TYPE_STRING } from "../../../../../engine-wasm/assembly/layout.js";
import { EngineError } from "../../../../../engine-wasm/host/engine-error.js";
import type { EngineReader } from "../../../../../engine-wasm/host/instance/engine-reader.js";
import { PLAIN_ANALYSIS } from "../../../../../engine-wasm/host/instance/workbench.js";
import { EVERY_DOCUMENT, type SearchWord } from "../../../../../engine-wasm/host/programs/search-program.js";
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
import { DEFAULT_LIMITS, type Limits } from "../../../../../server/ground/limits.js";
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
  documents: 1,
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
  readonly load = { wantsHelp: false, begins: () => false };
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
    [20_000, 20_001, 100_000, 100_001].map((documents, data) => local.begins(data, 1, documents));
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

type Answer = EngineReader["answer"];

/** A thread's reads of an index in several shards, whose memories answer as `readers` say. */
class Shards implements ShardReader {
  readonly meter = new LocalReadMeter();
  readonly local: LocalReader;
  readonly load = { wantsHelp: false, isQuiet: true, begins: () => this.load.isQuiet };
  /** The shards whose threads were asked. */
  readonly asked: number[] = [];
  readonly unused: number[] = [];

  constructor(turnMs: number, readers: readonly Answer[], limits: Partial<Limits> = {}) {
    const budget = new TurnBudget(turnMs);
    this.local = new LocalReader(
      this,
      {
        reader: (shard) => ({ answer: readers[shard]! }) as unknown as EngineReader,
        readerFailed: () => undefined,
        readerUnused: (data) => this.unused.push(data),
      },
      new LocalDocuments(workbench, budget, 0),
      new LocalVectors(() => workbench.vectorTable(), 0),
      budget,
      this.load,
      { ...DEFAULT_LIMITS, localUnwrittenMsMin: 1, ...limits },
      this.meter,
    );
  }

  read<T>(_: ShardRead<T>, shards: readonly number[]): Promise<T>[] {
    this.asked.push(...shards);
    return shards.map((shard) => Promise.resolve(`thread ${shard}` as T));
  }

  search(): Promise<string[]> {
    const read: ShardRead<string> = {
      kind: "search",
      of: SNAPSHOT,
      asked: null,
      program: new Uint8Array(0),
      deadline: Number.POSITIVE_INFINITY,
      decode: ([shard]) => `here ${shard}`,
    };
    return Promise.all(this.local.read(read, [0, 1, 2]));
  }
}

test("a quiet thread takes large indexes that are not being written", () => {
  const { local, load, unused } = new Shards(1e9, []);
  const takes = (generation: number): boolean => local.begins(7, generation, 1_000_000);
  const wait = (): void => {
    for (const end = performance.now() + 2; performance.now() < end; );
  };
  expect(takes(1)).toBe(false);
  wait();
  expect(takes(1)).toBe(true);
  expect(unused).toEqual([7]);
  expect(takes(2)).toBe(false);
  expect(unused).toEqual([7, 7]);
  wait();
  load.isQuiet = false;
  expect(takes(2)).toBe(false);
  load.isQuiet = true;
  expect(takes(2)).toBe(true);
  expect(unused).toEqual([7, 7]);
});

test("1 for either limit leaves large indexes to the shards", () => {
  for (const limits of [{ localDocumentsMax: 1 }, { localDocumentsQuietMax: 1 }]) {
    const { local } = new Shards(1e9, [], limits);
    local.begins(7, 1, 1_000_000);
    for (const end = performance.now() + 2; performance.now() < end; );
    expect(local.begins(7, 1, 1_000_000)).toBe(false);
  }
});

test("whether a thread is quiet is judged by its queries of small indexes too", () => {
  const { local, load } = new Shards(1e9, []);
  let queries = 0;
  load.begins = () => ++queries > 0;
  local.begins(7, 1, 10);
  local.begins(7, 1, 1_000_000);
  expect(queries).toBe(2);
});

const MILLION: AskedSnapshot = { ...SNAPSHOT, documents: 1_000_000 };

type Kind = "search" | "expand" | "page";

/** A search word with one alternative. `postings`: see SearchWord. */
function wordIn(postings?: number): SearchWord {
  const terms = [{ term: "red", prefix: false }];
  const way = { typos: 0, exact: true, sequence: false, useForProximity: true, boost: 1 };
  return { weight: 1, alternatives: [{ kind: ALT_EXACT, ...way, terms }], postings };
}

/** A read of an index with a million documents. */
function millionRead(kind: Kind, words: readonly SearchWord[]): ShardRead<string> {
  const asked = { ...EVERY_DOCUMENT, words };
  const read = { of: MILLION, asked, program: new Uint8Array(0), deadline: Number.POSITIVE_INFINITY };
  if (kind !== "page") return { ...read, kind, decode: () => "here" };
  const wanted = () => ({ offset: 0, count: 0, options: {} });
  return { ...read, kind, wanted, decode: () => "here" };
}

test("of a large index, only reads that touch few documents are done on this thread", async () => {
  const { local } = new Shards(1e9, [answersAfter(0, 0)]);
  const isDone = async (kind: Kind, words: readonly SearchWord[]): Promise<boolean> =>
    (await local.read(millionRead(kind, words), [0])[0]) === "here";
  const done = (kind: Kind, postings: readonly number[]): Promise<boolean> =>
    isDone(kind, postings.map(wordIn));
  expect(await isDone("page", [{ weight: 0, alternatives: [] }])).toBe(true);
  expect(await isDone("page", [wordIn(undefined)])).toBe(false);
  expect(await done("page", [150_000, 49_000])).toBe(true);
  expect(await done("page", [150_000, 51_000])).toBe(false);
  expect(await done("page", [1_000_000])).toBe(false);
  expect(await done("page", [])).toBe(false);
  expect(await done("search", [1])).toBe(false);
  expect(await done("expand", [1])).toBe(true);
});

test("reads of a large index take no more of a longer turn than localReadMsMax", async () => {
  const left: number[] = [];
  const answer: Answer = (...[, , , , , work]) => {
    left.push(work!.leftMs);
    for (const end = performance.now() + 3; performance.now() < end; );
    return new Uint8Array([0]);
  };
  const { local } = new Shards(1_000, [answer], { localReadMsMax: 4 });
  const search = (): Promise<string> =>
    Promise.resolve(local.read(millionRead("page", [wordIn(5)]), [0])[0] as string | Promise<string>);
  expect(await search()).toBe("here");
  expect(await search()).toBe("thread 0");
  expect(left).toEqual([4]);
});

function answersAfter(shard: number, ms: number): Answer {
  return () => {
    for (const end = performance.now() + ms; performance.now() < end; );
    return new Uint8Array([shard]);
  };
}

test("the threads of the other shards help once the first took more than is left of the turn", async () => {
  const slow = new Shards(50, [answersAfter(0, 30), answersAfter(1, 0), answersAfter(2, 0)]);
  expect(await slow.search()).toEqual(["here 0", "thread 1", "thread 2"]);
  expect([slow.meter.answered, slow.meter.left]).toEqual([0, 1]);
  const fast = new Shards(1e9, [answersAfter(0, 30), answersAfter(1, 0), answersAfter(2, 0)]);
  expect(await fast.search()).toEqual(["here 0", "here 1", "here 2"]);
  expect([fast.meter.answered, fast.meter.left]).toEqual([1, 0]);
});

test("what the first shards answered is kept if another shard's memory cannot answer", async () => {
  const withoutSnapshot = new Shards(1e9, [answersAfter(0, 0), () => null, answersAfter(2, 0)]);
  expect(await withoutSnapshot.search()).toEqual(["here 0", "thread 1", "thread 2"]);
  const late = () => {
    throw new EngineError("late", "The time for this is up");
  };
  const withoutTime = new Shards(1e9, [answersAfter(0, 0), answersAfter(1, 0), late]);
  expect(await withoutTime.search()).toEqual(["here 0", "here 1", "thread 2"]);
});
