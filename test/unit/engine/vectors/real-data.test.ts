// The quality of embedded models on a judged collection: documents ranked only by cosine, not by the query's
// words. With 1,400 documents, unlike with the small segments in other tests, the decomposition drops
// dimensions.
import { join } from "node:path";
import { expect, test } from "vitest";
import { JUDGED_SETS, readDocuments, readQueries } from "../../../../bench/relevance/judged-sets.js";
import { ndcg, recall } from "../../../../bench/relevance/measures.js";
import * as L from "../../../../engine-wasm/assembly/layout.js";
import { PLAIN_ANALYSIS } from "../../../../engine-wasm/host/instance/workbench.js";
import { languageNumber, stem } from "../../../../engine-wasm/host/stemmer.js";
import { Embedder } from "../../../../engine-wasm/host/vectors/embedder.js";
import type { QueryTerm } from "../../../../engine-wasm/host/vectors/query-terms.js";
import { trainModel } from "../../../../engine-wasm/host/vectors/trainer.js";
import { DATA, isAbsent } from "../../../data-folder.js";
import { dot, recordVector } from "../../../oracle/vectors/model.js";
import { loadEngine } from "../load-engine.js";
import { embedAll, recordsOf } from "./texts.js";

const SET = JUDGED_SETS.find(({ name }) => name === "cranfield")!;
const ENGLISH = languageNumber("en");
const SLOTS = [
  { slot: 0, weight: 2, stemmed: true },
  { slot: 1, weight: 1, stemmed: true },
];
const FIELDS = SET.fields.map((name, slot) => ({
  slot,
  name,
  type: L.TYPE_STRING,
  flags: L.FLAG_INDEX,
  language: ENGLISH,
}));

const module = await loadEngine("release");
const bench = module.workbench();

function segmentOf(documents: readonly Record<string, unknown>[]): Uint8Array {
  const raw = documents.map((document, i) => ({ seq: i + 1, raw: Buffer.from(JSON.stringify(document)) }));
  const { segment, failures } = bench.build({ fields: FIELDS, analysis: PLAIN_ANALYSIS }, raw);
  if (segment === null || failures.length > 0) throw new Error("documents were refused");
  return segment;
}

function train(segment: Uint8Array, previous: Uint8Array | null): Uint8Array {
  return trainModel(module.instantiate(), segment, { slots: SLOTS, number: 1, termsMax: 65_536, previous });
}

function queryTerms(text: string): QueryTerm[] {
  return bench.analyse(text).map(({ term }) => ({
    term: /[0-9]/.test(term)
      ? term
      : `${String.fromCharCode(L.TERM_STEM, L.TERM_LANGUAGE + ENGLISH)}${stem(ENGLISH, term)}`,
    weight: 1,
  }));
}

/** Returns the mean nDCG@10 and recall@100, with queries embedded by one model and documents by another. */
function relevance(
  queries: Embedder,
  documents: Embedder,
  segment: Uint8Array,
  ids: string[],
): [number, number] {
  const vectors = recordsOf(embedAll(documents, segment)).map(recordVector);
  const judged = readQueries(DATA, SET);
  const sums = [0, 0] as [number, number];
  for (const { text, judgments } of judged) {
    const query = queries.query(queryTerms(text))!;
    const cosines = vectors.map((vector) => (vector === null ? -1 : dot(query, vector)));
    const order = [...ids.keys()].sort((a, b) => cosines[b]! - cosines[a]!).slice(0, 100);
    const ranking = order.map((row) => ids[row]!);
    sums[0] += ndcg(ranking, judgments, 10) / judged.length;
    sums[1] += recall(ranking, judgments, 100) / judged.length;
  }
  return sums;
}

const absent = isAbsent(join(DATA, SET.name), "the relevance of embedded models");

test.skipIf(absent)("cosines alone rank about as well as BM25, also after an aligned training", async () => {
  const documents: Record<string, unknown>[] = [];
  for await (const document of readDocuments(DATA, SET)) documents.push(document);
  const ids = documents.map(({ id }) => id as string);
  const segment = segmentOf(documents);
  const old = train(segmentOf(documents.filter((_, i) => i % 2 === 0)), null);
  const [before, after] = [old, train(segment, old)].map(
    (model) => new Embedder(module.instantiate(), model),
  );
  expect(after!.info.aligned).toBe(true);
  const [ndcg10, recall100] = relevance(after!, after!, segment, ids);
  expect(ndcg10).toBeGreaterThan(0.53);
  expect(recall100).toBeGreaterThan(0.79);
  const [acrossNdcg, acrossRecall] = relevance(after!, before!, segment, ids);
  expect(acrossNdcg).toBeGreaterThan(0.51);
  expect(acrossRecall).toBeGreaterThan(0.77);
});
