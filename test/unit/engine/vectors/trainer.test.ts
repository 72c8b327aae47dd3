// Model training compared with an exact decomposition of small segments, and properties for any segment:
// valid models, the same bytes for the same input, no trap on damaged bytes.
import { describe, expect, test } from "vitest";
import { EngineError } from "../../../../engine-wasm/host/engine-error.js";
import { Embedder } from "../../../../engine-wasm/host/vectors/embedder.js";
import { type TrainOptions, trainModel } from "../../../../engine-wasm/host/vectors/trainer.js";
import { effort } from "../../../effort.js";
import { readSegment } from "../../../oracle/segments/segment-reader.js";
import { plainTermVectors, vocabulary } from "../../../oracle/vectors/lsa.js";
import {
  decodeModel,
  dot,
  normalised,
  type PlainModel,
  plainRows,
  recordVector,
  rowFeatures,
} from "../../../oracle/vectors/model.js";
import { loadEngine } from "../load-engine.js";
import { type Pick, picker } from "../segments/catalogue.js";
import { embedAll, recordsOf, TEXT_SLOTS, type TextDocument, textDocument, textSegment } from "./texts.js";

const module = await loadEngine();
const bench = module.workbench();

const OPTIONS: TrainOptions = { slots: TEXT_SLOTS, number: 3, termsMax: 65_536, previous: null };

function train(segment: Uint8Array, options: Partial<TrainOptions> = {}): Uint8Array {
  return trainModel(module.instantiate(), segment, { ...OPTIONS, ...options });
}

function segmentOf(pick: Pick, count: number, vocabulary?: string[][]): Uint8Array {
  return textSegment(
    bench,
    Array.from({ length: count }, (_, i) => textDocument(i, pick, vocabulary)),
  );
}

/** Returns `topics` lists of `words` made-up words each. */
function madeTopics(topics: number, words: number): string[][] {
  return Array.from({ length: topics }, (_, topic) =>
    Array.from({ length: words }, (_, word) => `t${"abcdefghijklmnopqrstuvwxyz"[topic]}w${word}`),
  );
}

/** Returns each term's vector: its integers times its factor. */
function products(model: PlainModel): number[][] {
  return model.terms.map(({ factor, numbers }) => numbers.map((x) => x * factor));
}

function sample(count: number, pick: Pick, most: number): number[] {
  const all = Array.from({ length: count }, (_, i) => i);
  return count <= most ? all : Array.from({ length: most }, () => pick(all));
}

describe("a model", () => {
  test("is that of an exact decomposition, up to rotation and rounding", () => {
    for (let seed = 1; seed <= 6; seed++) {
      const pick = picker(seed);
      const segment = segmentOf(pick, pick([12, 30, 70]), seed % 2 === 0 ? madeTopics(5, 30) : undefined);
      const expected = plainTermVectors(readSegment(segment), TEXT_SLOTS, 65_536);
      const model = decodeModel(train(segment));
      const weighted = new Map(
        expected.map(({ term, weight, vector }) => [term, vector.map((x) => x * weight)]),
      );
      const longest = Math.max(...[...weighted.values()].map((vector) => Math.sqrt(dot(vector, vector))));
      const known = new Set(model.terms.map(({ term }) => term));
      for (const [term, vector] of weighted)
        if (!known.has(term)) expect(Math.sqrt(dot(vector, vector))).toBeLessThan(1e-3 * longest);
      const got = products(model);
      const places = sample(got.length, pick, 60);
      for (const i of places) {
        for (const j of places) {
          const exact = dot(weighted.get(model.terms[i]!.term)!, weighted.get(model.terms[j]!.term)!);
          expect(Math.abs(dot(got[i]!, got[j]!) - exact)).toBeLessThan(0.01 * longest * longest);
        }
      }
    }
  });

  test("gives documents the same cosines as an exact decomposition", () => {
    const pick = picker(12);
    const segment = segmentOf(pick, 60);
    const plain = readSegment(segment);
    const vectors = plainTermVectors(plain, TEXT_SLOTS, 65_536);
    const exact = rowFeatures(plain, TEXT_SLOTS).map((row) =>
      normalised(
        (vectors[0]?.vector ?? []).map((_, i) =>
          vectors.reduce(
            (sum, { term, weight, vector }) => sum + Math.log(1 + (row.get(term) ?? 0)) * weight * vector[i]!,
            0,
          ),
        ),
      ),
    );
    const model = train(segment);
    const got = recordsOf(embedAll(new Embedder(module.instantiate(), model), segment)).map(recordVector);
    const inPlainNumbers = plainRows(decodeModel(model), plain);
    for (const [i, a] of exact.entries()) {
      expect(got[i] === null).toBe(a === null);
      if (a === null) continue;
      expect(dot(got[i]!, inPlainNumbers[i]!)).toBeGreaterThan(0.9999);
      for (const [j, b] of exact.entries())
        if (b !== null) expect(Math.abs(dot(got[i]!, got[j]!) - dot(a, b))).toBeLessThan(0.02);
    }
  });

  test("has the terms that most documents contain, and the first of equally frequent ones", () => {
    const segment = segmentOf(picker(2), 80);
    const rows = rowFeatures(readSegment(segment), TEXT_SLOTS);
    for (const termsMax of [0, 1, 7, 20, 33]) {
      const model = decodeModel(train(segment, { termsMax }));
      const allowed = vocabulary(rows, termsMax).map(({ term }) => term);
      const terms = model.terms.map(({ term }) => term);
      expect(terms.filter((term) => !allowed.includes(term))).toEqual([]);
      // A term that occurs in all documents may have no vector.
      expect(terms.length).toBeGreaterThanOrEqual(allowed.length - 2);
    }
  });

  test("is the same for the same segment, and records what it was trained on", () => {
    const segment = segmentOf(picker(5), 100);
    const bytes = train(segment);
    expect(Buffer.from(train(segment, { slots: [...TEXT_SLOTS].reverse() })).equals(bytes)).toBe(true);
    const { slots, documents, number, aligned } = decodeModel(bytes);
    expect({ slots, documents, number, aligned }).toEqual({
      slots: TEXT_SLOTS,
      documents: 100,
      number: 3,
      aligned: false,
    });
  });

  test("with more documents than directions keeps similar documents together", () => {
    const pick = picker(31);
    const topics = madeTopics(6, 120);
    const segment = segmentOf(pick, 700, topics);
    const embedder = new Embedder(module.instantiate(), train(segment));
    const vector = (word: string): Float32Array => embedder.query([{ term: word, weight: 1 }])!;
    const mean = (words: string[], others: string[]): number =>
      words.reduce((sum, a) => sum + others.reduce((part, b) => part + dot(vector(a), vector(b)), 0), 0) /
      (words.length * others.length);
    for (const topic of topics) {
      const others = topics.filter((other) => other !== topic).flatMap((other) => other.slice(0, 10));
      const own = topic.slice(0, 10);
      expect(mean(own, topic.slice(10, 60))).toBeGreaterThan(0.01 + mean(own, others));
    }
  });
});

describe("a training", () => {
  const blank: TextDocument = { id: "", title: "", labels: [], text: "", code: "" };
  const repeated = (count: number, document: Partial<TextDocument>): Uint8Array =>
    textSegment(
      bench,
      Array.from({ length: count }, (_, i) => ({ ...blank, ...document, id: `d${i}` })),
    );

  test.each([
    ["one document", () => repeated(1, { title: "red shoe", text: "a red shoe" }), 0],
    ["empty documents", () => repeated(9, {}), 0],
    ["equal documents", () => repeated(20, { title: "red shoe", text: "blue sock" }), 0],
    [
      "two documents, one word in common",
      () =>
        textSegment(bench, [
          { ...blank, id: "a", title: "red shoe" },
          { ...blank, id: "b", title: "red sock" },
        ]),
      0,
    ],
    ["no rows", noRows, 0],
    [
      "pairs of equal documents",
      () =>
        textSegment(
          bench,
          ["red", "red", "blue", "blue"].map((title, i) => ({
            ...blank,
            id: `d${i}`,
            title,
          })),
        ),
      2,
    ],
    [
      "one word of two in each document",
      () =>
        textSegment(
          bench,
          Array.from({ length: 30 }, (_, i) => ({
            ...blank,
            id: `d${i}`,
            title: i % 3 === 0 ? "red" : "blue",
            text: i % 5 === 0 ? "" : "green",
          })),
        ),
      3,
    ],
  ])("on %s gives a valid model", (_, make, terms) => {
    const segment = make();
    const embedder = new Embedder(module.instantiate(), train(segment));
    expect(embedder.info.terms).toBe(terms);
    for (const record of recordsOf(embedAll(embedder, segment))) {
      const vector = recordVector(record);
      if (vector !== null) expect(dot(vector, vector)).toBeCloseTo(1, 5);
    }
  });

  test("on slots without values gives a model without terms", () => {
    const segment = segmentOf(picker(1), 10);
    expect(decodeModel(train(segment, { slots: [] })).terms).toEqual([]);
    expect(decodeModel(train(segment, { slots: [{ slot: 99, weight: 1, stemmed: true }] })).terms).toEqual(
      [],
    );
    expect(() => train(segment, { slots: [TEXT_SLOTS[0]!, TEXT_SLOTS[0]!] })).toThrow("malformed");
    expect(() => train(segment, { slots: [{ ...TEXT_SLOTS[0]!, weight: Number.NaN }] })).toThrow("malformed");
  });

  test("on damaged bytes ends with a model or an error", () => {
    const pick = picker(6);
    const segment = segmentOf(pick, 150);
    const outcomes = new Set<string>();
    const places = Array.from({ length: segment.length }, (_, i) => i);
    for (let i = 0; i < effort(80, 300); i++) {
      const bad = Buffer.from(segment);
      const at = pick([pick(places.slice(0, 64)), pick(places), pick(places)]);
      bad[at] = pick([bad[at]! ^ (1 << pick([0, 3, 7])), 0, 255]);
      const instance = module.instantiate();
      try {
        const model = trainModel(instance, bad, OPTIONS);
        expect(new Embedder(module.instantiate(), model).info.bytes).toBe(model.length);
        outcomes.add("trained");
      } catch (error) {
        if (!(error instanceof EngineError) || !instance.usable) throw error;
        outcomes.add(error.code);
      }
    }
    expect([...outcomes].sort()).toEqual(["damaged", "trained"]);
  });

  /** Returns the result of a merge without live rows. */
  function noRows(): Uint8Array {
    const engine = module.engine();
    const segment = engine.attach(repeated(2, { title: "red" }));
    const live = engine.liveAll(2);
    engine.kill(live, 0);
    engine.kill(live, 1);
    const merge = engine.beginMerge([{ segment, live }]);
    while (!merge.step(1000));
    return new Uint8Array(engine.segmentView(merge.finish()));
  }
});

describe("alignment", () => {
  const pick = picker(40);
  const topics = madeTopics(12, 70);
  const [first, second] = [segmentOf(pick, 420, topics), segmentOf(pick, 420, topics)];
  const before = train(first);
  const old = decodeModel(before);
  const fresh = decodeModel(train(second));
  const turned = decodeModel(train(second, { previous: before }));

  const meanCosine = (a: PlainModel, b: PlainModel): number => {
    const others = new Map(b.terms.map(({ term, numbers }) => [term, normalised(numbers)!]));
    const cosines = a.terms.flatMap(({ term, numbers }) =>
      others.has(term) ? [dot(normalised(numbers)!, others.get(term)!)] : [],
    );
    return cosines.reduce((sum, x) => sum + x, 0) / cosines.length;
  };

  test("moves terms close to their former positions", () => {
    expect(turned.aligned).toBe(true);
    expect(Math.abs(meanCosine(fresh, old))).toBeLessThan(0.3);
    expect(meanCosine(turned, old)).toBeGreaterThan(0.6);
    expect(meanCosine(decodeModel(train(first, { previous: before })), old)).toBeGreaterThan(0.999);
  });

  test("preserves lengths and cosines", () => {
    expect(turned.terms.map(({ term }) => term)).toEqual(fresh.terms.map(({ term }) => term));
    const [a, b] = [products(fresh), products(turned)];
    const longest = Math.max(...a.map((vector) => dot(vector, vector)));
    for (const i of sample(a.length, pick, 50))
      for (const j of sample(a.length, pick, 50))
        expect(Math.abs(dot(a[i]!, a[j]!) - dot(b[i]!, b[j]!))).toBeLessThan(0.01 * longest);
  });

  test("is skipped, and reported as such, if few terms are shared", () => {
    const few = train(segmentOf(picker(1), 50));
    const model = decodeModel(train(second, { previous: few }));
    expect(model).toEqual(fresh);
    expect(decodeModel(train(segmentOf(picker(2), 50), { previous: before })).aligned).toBe(false);
    const damaged = Buffer.from(before);
    damaged[4] = 9;
    expect(() => train(first, { previous: damaged })).toThrow("damaged");
  });
});
