// The HTTP thread's cache of stored vectors, with real engines: each vector is fetched only once until the
// stored vectors change, and the cache stays within a size limit.
import { expect, test } from "vitest";
import { Random } from "../../../../../bench/random.js";
import { VECTOR_BYTES } from "../../../../../engine-wasm/assembly/layout.js";
import type { Engine } from "../../../../../engine-wasm/host/instance/engine.js";
import type { EngineReader } from "../../../../../engine-wasm/host/instance/engine-reader.js";
import { type FetchVectors, LocalVectors } from "../../../../../server/fleet/local/local-vectors.js";
import { run } from "../../../../../server/ground/jobs/work.js";
import { plainRecords } from "../../../../oracle/vectors/codes.js";
import { loadEngine } from "../../../engine/load-engine.js";
import { randomQuery, randomVector } from "../../../engine/vectors/random-vectors.js";
import { tableCosines } from "../../../engine/vectors/table-cosines.js";

const module = await loadEngine();
const workbench = module.workbench();
const MIB = 2 ** 20;
const NO_VECTOR = new Uint8Array(VECTOR_BYTES);

/** An index in one shard. */
class Index {
  readonly engine: Engine = module.engine();
  reader: EngineReader = this.#lent();
  readonly stored = new Map<number, Uint8Array>();
  fetched: number[] = [];
  beforeReply: () => void = () => undefined;

  #lent(): EngineReader {
    return module.reader(this.engine.lend(4096, () => undefined)!);
  }

  renew(): void {
    this.engine.renew([]);
    this.reader = this.#lent();
  }

  readonly fetch: FetchVectors = function* (this: Index, seqs: readonly number[]) {
    this.fetched.push(...seqs);
    const reply = this.records(seqs);
    yield new Promise((resolve) => setImmediate(resolve));
    this.beforeReply();
    return { vectors: reply };
  }.bind(this);

  records(seqs: readonly number[]): Uint8Array {
    return Buffer.concat(seqs.map((seq) => this.stored.get(seq) ?? NO_VECTOR));
  }

  async compare(local: LocalVectors, query: Float32Array, seqs: readonly number[]): Promise<boolean> {
    const use = (slots: Int32Array): Float32Array => local.similarities(query, slots);
    const cosines = await run(local.with(this.reader, seqs, this.fetch, use));
    if (cosines !== null) expect(cosines).toEqual(tableCosines(workbench, query, this.records(seqs)));
    return cosines !== null;
  }
}

function newRecord(random: Random): Uint8Array {
  return new Uint8Array(plainRecords([random.below(5) === 0 ? null : randomVector(random)]));
}

test("a vector is fetched once, and again when stored vectors have changed", async () => {
  const random = new Random(1);
  const local = new LocalVectors(() => workbench.vectorTable(), MIB);
  const index = new Index();
  for (let seq = 1; seq <= 10; seq++) index.stored.set(seq, newRecord(random));
  const query = randomQuery(random);
  expect(await index.compare(local, query, [1, 2, 3, 99])).toBe(true);
  expect(await index.compare(local, query, [3, 4, 99])).toBe(true);
  expect(index.fetched).toEqual([1, 2, 3, 99, 4]);
  index.stored.set(99, newRecord(random));
  index.engine.vectorsChanged();
  expect(await index.compare(local, query, [3, 99])).toBe(true);
  expect(index.fetched).toEqual([1, 2, 3, 99, 4, 3, 99]);
  index.renew();
  index.stored.set(3, newRecord(random));
  expect(await index.compare(local, query, [3, 99])).toBe(true);
  const use = (slots: Int32Array): Uint8Array => local.records(slots);
  const records = await run(local.with(index.reader, [99, 3], index.fetch, use));
  expect(records).toEqual(new Uint8Array(index.records([99, 3])));
});

test("vectors that change while being fetched are left to the shard", async () => {
  const random = new Random(2);
  const local = new LocalVectors(() => workbench.vectorTable(), MIB);
  const query = randomQuery(random);
  for (const change of [(index: Index) => index.engine.vectorsChanged(), (index: Index) => index.renew()]) {
    const index = new Index();
    index.beforeReply = () => change(index);
    expect(await index.compare(local, query, [1])).toBe(false);
    index.beforeReply = () => undefined;
    expect(await index.compare(local, query, [1])).toBe(true);
  }
  const ended = new Index();
  ended.engine.end();
  expect(await ended.compare(local, query, [1])).toBe(false);
});

test("many concurrent queries with little memory see the stored vectors", async () => {
  const random = new Random(3);
  const local = new LocalVectors(() => workbench.vectorTable(), 60 * (VECTOR_BYTES + 100));
  const indexes = [new Index(), new Index(), new Index()];
  let answered = 0;
  for (let round = 0; round < 300; round++) {
    const asked = Array.from({ length: random.from(1, 5) }, async () => {
      const seqs = Array.from({ length: random.from(0, 25) }, () => random.from(1, 80));
      return random.pick(indexes).compare(local, randomQuery(random), [...new Set(seqs)]);
    });
    answered += (await Promise.all(asked)).filter(Boolean).length;
    const changed = random.pick(indexes);
    if (random.below(3) === 0) {
      changed.stored.set(random.from(1, 80), newRecord(random));
      changed.engine.vectorsChanged();
    }
    if (random.below(20) === 0) local.clear();
  }
  expect(answered).toBeGreaterThan(300);
  const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
  expect(await new Index().compare(local, randomQuery(random), upTo(60))).toBe(true);
  expect(await new Index().compare(local, randomQuery(random), upTo(61))).toBe(false);
});
