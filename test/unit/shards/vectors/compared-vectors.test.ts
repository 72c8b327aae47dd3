// Cosines of stored vectors when the cache has few slots: they always match the stored vectors, whatever was
// compared before.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { Random } from "../../../../bench/random.js";
import { VECTOR_BYTES } from "../../../../engine-wasm/assembly/layout.js";
import { EngineError } from "../../../../engine-wasm/host/engine-error.js";
import { VectorSlots } from "../../../../engine-wasm/host/vectors/vector-slots.js";
import { vectorsOf } from "../../../../shards/storage/keyspace.js";
import { LevelStore } from "../../../../shards/storage/level-store.js";
import { IndexVectors } from "../../../../shards/vectors/index-vectors.js";
import { vectorPuts } from "../../../../shards/vectors/vector-record.js";
import { plainRecords } from "../../../oracle/vectors/codes.js";
import { loadEngine } from "../../engine/load-engine.js";
import { randomQuery, randomVector } from "../../engine/vectors/random-vectors.js";
import { tableCosines } from "../../engine/vectors/table-cosines.js";

const ROOM = 20;
const ENTRY_BYTES = 100;
const SEQS = 40;
const NO_VECTOR = new Uint8Array(VECTOR_BYTES);

const module = await loadEngine();
const workbench = module.workbench();
const folder = mkdtempSync(join(tmpdir(), "skein-compared-"));
const store = await LevelStore.open(join(folder, "db"));
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

let fails = false;
/** While `fails` is true, comparisons fail. A table that has failed once fails forever. */
const slots = new VectorSlots(
  () => {
    const table = workbench.vectorTable();
    const compare = table.similarities.bind(table);
    let failed = false;
    table.similarities = (query, places) => {
      failed ||= fails;
      if (failed) throw new EngineError("memory", "no room");
      return compare(query, places);
    };
    return table;
  },
  ROOM * (VECTOR_BYTES + ENTRY_BYTES),
);
const home = {
  store,
  sync: false,
  vectors: slots,
  workbench: () => workbench,
  embedder: (model: Uint8Array) => module.embedder(model),
  report: (message: string, error: unknown) => {
    throw new Error(message, { cause: error });
  },
};

/** An index with pushed vectors, and a copy of what its store contains. */
class Index {
  readonly stored = new Map<number, Uint8Array>();
  origin = 1;
  private constructor(
    readonly uid: number,
    readonly vectors: IndexVectors,
  ) {}

  static async open(uid: number): Promise<Index> {
    const policy = { source: "pushed", origin: 1 } as const;
    return new Index(uid, await IndexVectors.open(uid, home, module.engine(), policy));
  }

  async put(seq: number, vector: Uint8Array): Promise<void> {
    const puts = vectorPuts(this.uid, { origin: this.origin, seqs: [seq], vectors: vector });
    await store.batch(puts, { sync: false });
    this.stored.set(seq, vector);
    this.vectors.forgetRead();
  }

  /** Switches to a new origin, so that earlier vectors can no longer be compared. */
  beginAnew(): void {
    this.origin++;
    this.vectors.setPolicy({ source: "pushed", origin: this.origin });
    this.stored.clear();
  }

  async check(random: Random, seqs: readonly number[]): Promise<void> {
    const query = randomQuery(random);
    const records = Buffer.concat(seqs.map((seq) => this.stored.get(seq) ?? NO_VECTOR));
    expect(this.vectors.similarities(query, seqs)).toEqual(tableCosines(workbench, query, records));
    const some = seqs.slice(0, 3);
    const { vectors } = await this.vectors.embed({ uid: this.uid, terms: [], seqs: some });
    expect(Buffer.from(vectors)).toEqual(records.subarray(0, some.length * VECTOR_BYTES));
  }
}

test("random stories of two indexes agree with the stored vectors", async () => {
  const random = new Random(1);
  const indexes = [await Index.open(1), await Index.open(2)];
  for (let round = 0; round < 200; round++) {
    const index = random.pick(indexes);
    for (let puts = random.below(4); puts > 0; puts--) {
      const record = new Uint8Array(plainRecords([random.below(6) === 0 ? null : randomVector(random)]));
      await index.put(random.from(1, SEQS), record);
    }
    const seqs = Array.from({ length: random.from(0, SEQS) }, () => random.from(1, SEQS));
    await index.check(random, seqs);
    await index.check(random, seqs.reverse());
    if (random.below(40) === 0) index.beginAnew();
    if (random.below(40) === 0) {
      fails = true;
      expect(() => index.vectors.similarities(randomQuery(random), seqs)).toThrow("no room");
      fails = false;
    }
    if (random.below(100) === 0) {
      await index.vectors.clearVectors();
      index.stored.clear();
      for await (const _ of store.keys(vectorsOf(index.uid))) throw new Error("vectors are left");
    }
  }
});
