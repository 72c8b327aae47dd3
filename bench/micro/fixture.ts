// The micro benchmarks' input: a generated catalogue as one engine segment for the kernels, and as plain
// JavaScript structures for the naive implementations that they are compared with.

import {
  FLAG_FACET,
  FLAG_INDEX,
  FLAG_SORT,
  TYPE_FLOAT,
  TYPE_INT32,
  TYPE_STRING,
} from "../../engine-wasm/assembly/layout.js";
import type { BuildDocument, BuildField } from "../../engine-wasm/host/instance/build.js";
import type { Engine } from "../../engine-wasm/host/instance/engine.js";
import { loadEngine } from "../../engine-wasm/host/instance/engine-files.js";
import type { EngineModule } from "../../engine-wasm/host/instance/engine-module.js";
import { PLAIN_ANALYSIS, type Workbench } from "../../engine-wasm/host/instance/workbench.js";
import { generateCatalogue } from "../catalogue/generate.js";
import { naiveTokens } from "./naive-text.js";

export const SLOT_TITLE = 0;
export const SLOT_DESCRIPTION = 1;
export const SLOT_BRAND = 2;
export const SLOT_PRICE = 3;
export const SLOT_RATING_COUNT = 4;

export const FIELDS: readonly BuildField[] = [
  { slot: SLOT_TITLE, name: "title", type: TYPE_STRING, flags: FLAG_INDEX, language: 0 },
  { slot: SLOT_DESCRIPTION, name: "description", type: TYPE_STRING, flags: FLAG_INDEX, language: 0 },
  { slot: SLOT_BRAND, name: "brand", type: TYPE_STRING, flags: FLAG_INDEX | FLAG_FACET, language: 0 },
  { slot: SLOT_PRICE, name: "price", type: TYPE_FLOAT, flags: FLAG_INDEX | FLAG_SORT, language: 0 },
  {
    slot: SLOT_RATING_COUNT,
    name: "rating_count",
    type: TYPE_INT32,
    flags: FLAG_INDEX | FLAG_SORT,
    language: 0,
  },
];

interface CatalogueDocument {
  readonly title: string;
  readonly description: string;
  readonly brand: string;
  readonly price: number;
  readonly rating_count: number;
}

export interface NaivePosting {
  readonly row: number;
  tf: number;
}

export interface Fixture {
  readonly module: EngineModule;
  readonly workbench: Workbench;
  readonly engine: Engine;
  readonly snapshot: number;
  readonly raw: readonly BuildDocument[];
  readonly documents: readonly CatalogueDocument[];
  /** Each description term's postings, in row order. */
  readonly postings: ReadonlyMap<string, readonly NaivePosting[]>;
  readonly lengths: Uint32Array;
  readonly averageLength: number;
  /** Description terms by descending document frequency. */
  readonly frequent: readonly string[];
}

/** Requires a build: the engine is loaded from dist/engine. */
export async function makeFixture(count: number): Promise<Fixture> {
  const module = await loadEngine("release");
  const raw = [...generateCatalogue(count, 1)].map((text, i) => ({ seq: i + 1, raw: Buffer.from(text) }));
  const documents = raw.map((document) => JSON.parse(document.raw.toString("utf8")) as CatalogueDocument);
  const workbench = module.workbench();
  const { segment, failures } = workbench.build({ fields: [...FIELDS], analysis: PLAIN_ANALYSIS }, raw);
  if (segment === null || failures.length > 0)
    throw new Error(`${failures.length} generated documents were refused`);
  const engine = module.engine();
  const snapshot = engine.setSnapshot([{ segment: engine.attach(segment), live: 0 }]);
  const lengths = new Uint32Array(count);
  const postings = naivePostings(
    documents.map((document) => document.description),
    lengths,
  );
  return {
    module,
    workbench,
    engine,
    snapshot,
    raw,
    documents,
    postings,
    lengths,
    averageLength: lengths.reduce((sum, length) => sum + length, 0) / count,
    frequent: [...postings].sort(([, a], [, b]) => b.length - a.length).map(([term]) => term),
  };
}

/** Builds a straightforward inverted index. Stores each text's token count in `lengths`. */
export function naivePostings(texts: readonly string[], lengths: Uint32Array): Map<string, NaivePosting[]> {
  const postings = new Map<string, NaivePosting[]>();
  texts.forEach((text, row) => {
    const tokens = naiveTokens(text);
    lengths[row] = tokens.length;
    for (const term of tokens) {
      const list = postings.get(term);
      const last = list?.at(-1);
      if (list === undefined) postings.set(term, [{ row, tf: 1 }]);
      else if (last?.row === row) last.tf++;
      else list.push({ row, tf: 1 });
    }
  });
  return postings;
}
