// Measures the cost of vectors in the engine and in a shard's store, without a server: scanning codes,
// comparing stored vectors, training a model, embedding documents and queries. Each function returns table
// lines.

import { join } from "node:path";
import { VECTOR_BYTES } from "../../engine-wasm/assembly/layout.js";
import { loadEngine } from "../../engine-wasm/host/instance/engine-files.js";
import type { EngineModule } from "../../engine-wasm/host/instance/engine-module.js";
import { PLAIN_ANALYSIS } from "../../engine-wasm/host/instance/workbench.js";
import { encodeNearest } from "../../engine-wasm/host/programs/nearest-program.js";
import { decodeNearestResult } from "../../engine-wasm/host/programs/nearest-result.js";
import { trainModel } from "../../engine-wasm/host/vectors/trainer.js";
import { VectorSlots } from "../../engine-wasm/host/vectors/vector-slots.js";
import { LevelStore } from "../../shards/storage/level-store.js";
import { IndexVectors } from "../../shards/vectors/index-vectors.js";
import { vectorPuts } from "../../shards/vectors/vector-record.js";
import { VECTORS_BYTES_MAX } from "../../shards/vectors/vectors-home.js";
import { generateCatalogue } from "../catalogue/generate.js";
import { FIELDS, SLOT_DESCRIPTION, SLOT_TITLE } from "../micro/fixture.js";
import { Random } from "../random.js";
import { codedRows, percentOfRows, randomVector } from "./coded-rows.js";
import { type Timed, timed } from "./timing.js";

const WANTED = 1000;
const COMPARED = 400;
const TERMS_MAX = 50_000;
const EMBEDDED_AT_ONCE = [100, 1_000, 5_000];
const QUERY_WORDS = 3;
const TRAINED_FIELDS = [
  { slot: SLOT_TITLE, weight: 2, stemmed: false },
  { slot: SLOT_DESCRIPTION, weight: 1, stemmed: false },
];
const MIB = 2 ** 20;

/** Measures scans of `rows` codes: all of them, and filtered shares. */
export async function scans(rows: number, milliseconds: number): Promise<string[]> {
  const module = await loadEngine("release");
  const { engine, snapshot, codesBytes } = codedRows(module.engine(), module.workbench(), rows);
  const random = new Random(3);
  const queries = Array.from({ length: 16 }, () => randomVector(random));
  const lines = [`| codes of ${count(rows)} rows | ${(codesBytes / rows).toFixed(1)} bytes a row |`];
  for (const percent of [100, 50, 20, 10, 1]) {
    const program = percentOfRows(percent);
    let asked = 0;
    const scan = (): void => {
      const query = queries[asked++ % queries.length]!;
      decodeNearestResult(engine.nearest(snapshot, encodeNearest(query, WANTED, program)));
    };
    lines.push(
      `| nearest ${count(WANTED)} of ${count(rows)} rows, filter of ${percent} % | ${cells(timed(scan, milliseconds))} |`,
    );
  }
  return lines;
}

/** Measures exact cosines of 400 out of `rows` stored vectors, first read from the store and then cached. */
export async function comparisons(folder: string, rows: number, milliseconds: number): Promise<string[]> {
  const module = await loadEngine("release");
  const workbench = module.workbench();
  const store = await LevelStore.open(join(folder, "vectors"), { cacheBytes: 8 * MIB });
  try {
    const home = {
      store,
      sync: false,
      vectors: new VectorSlots(() => workbench.vectorTable(), VECTORS_BYTES_MAX),
      workbench: () => workbench,
      embedder: (model: Uint8Array) => module.embedder(model),
      report: (message: string, error: unknown) => {
        throw new Error(message, { cause: error });
      },
    };
    const origin = 1;
    const vectors = await IndexVectors.open(1, home, module.engine(), { source: "pushed", origin });
    const random = new Random(5);
    const some = Array.from({ length: WANTED }, () => workbench.vectorOf(randomVector(random))!);
    for (let from = 0; from < rows; from += WANTED) {
      const seqs = Array.from({ length: Math.min(WANTED, rows - from) }, (_, i) => from + i + 1);
      const bytes = Buffer.concat(some).subarray(0, seqs.length * VECTOR_BYTES);
      await store.batch(vectorPuts(1, { origin, seqs, vectors: bytes }), { sync: false });
    }
    const query = randomVector(random);
    const drawn = Array.from({ length: 64 }, () =>
      Array.from({ length: COMPARED }, () => 1 + random.below(rows)),
    );
    let asked = 0;
    const compare = (): void => void vectors.similarities(query, drawn[asked++ % drawn.length]!);
    const read = timed(() => {
      vectors.forgetRead();
      compare();
    }, milliseconds);
    const remembered = timed(compare, milliseconds);
    return [
      `| cosines of ${COMPARED} of ${count(rows)} stored vectors, read | ${cells(read)} |`,
      `| the same, remembered | ${cells(remembered)} |`,
    ];
  } finally {
    await store.close();
  }
}

/** Measures training a model on `documents` products and embedding products and queries with it. */
export async function models(documents: number, milliseconds: number): Promise<string[]> {
  const module = await loadEngine("release");
  const { segment, memoryBytes } = productsSegment(module, 0, documents);
  const instance = module.instantiate();
  const cpu = process.cpuUsage();
  const started = performance.now();
  const model = trainModel(instance, segment, {
    slots: TRAINED_FIELDS,
    number: 1,
    termsMax: TERMS_MAX,
    previous: null,
  });
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const embedder = module.embedder(model);
  const lines = [
    `| training on ${count(documents)} documents, ${count(embedder.info.terms)} terms | ${seconds.toFixed(1)} s, ${((user + system) / 1e6).toFixed(1)} s of CPU |`,
    `| memory of the training, and of the segment's making before it | ${mib(instance.memoryBytes())}, ${mib(memoryBytes)} |`,
    `| the model | ${mib(model.length)} |`,
  ];
  for (const rows of EMBEDDED_AT_ONCE) {
    const { segment: fresh } = productsSegment(module, documents, rows);
    const embed = (): void => {
      const steps = embedder.embed(fresh);
      while (steps.next().done !== true);
    };
    const { medianMs, cpuMs } = timed(embed, milliseconds);
    lines.push(
      `| vector of a document, ${count(rows)} at a time | ${micros(medianMs / rows)}, ${micros(cpuMs / rows)} of CPU |`,
    );
  }
  const texts = Array.from(
    generateCatalogue(500, 1),
    (text) => (JSON.parse(text) as { title: string }).title,
  );
  const queries = texts.map((title) =>
    title
      .toLowerCase()
      .split(" ")
      .slice(0, QUERY_WORDS)
      .map((term) => ({ term, weight: 1 })),
  );
  const { medianMs, cpuMs } = timed(() => {
    for (const terms of queries) embedder.query(terms);
  }, milliseconds);
  lines.push(
    `| vector of a query of ${QUERY_WORDS} words | ${micros(medianMs / queries.length)}, ${micros(cpuMs / queries.length)} of CPU |`,
  );
  return lines;
}

/**
 * Builds a segment of `count` generated products, starting at product `from`. Also returns the memory that
 * the build needed.
 */
function productsSegment(
  module: EngineModule,
  from: number,
  count: number,
): { segment: Uint8Array; memoryBytes: number } {
  const documents = Array.from(generateCatalogue(from + count, 1))
    .slice(from)
    .map((text, i) => ({ seq: i + 1, raw: Buffer.from(text) }));
  const workbench = module.workbench();
  const { segment } = workbench.build({ fields: [...FIELDS], analysis: PLAIN_ANALYSIS }, documents);
  if (segment === null) throw new Error("the generated documents were refused");
  return { segment, memoryBytes: workbench.ready().memoryBytes() };
}

function cells({ medianMs, cpuMs }: Timed): string {
  return `${medianMs.toFixed(2)} ms, ${cpuMs.toFixed(2)} ms of CPU`;
}

function micros(ms: number): string {
  return `${(ms * 1000).toFixed(1)} µs`;
}

function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(0)} MiB`;
}

function count(n: number): string {
  return Math.round(n).toLocaleString("en-US");
}
