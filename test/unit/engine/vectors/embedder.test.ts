// Embedding rows and queries, compared with plain arithmetic. A record may differ by the error of rounding to
// 8 bits.
import { expect, test } from "vitest";
import * as L from "../../../../engine-wasm/assembly/layout.js";
import { EngineError } from "../../../../engine-wasm/host/engine-error.js";
import { PLAIN_ANALYSIS } from "../../../../engine-wasm/host/instance/workbench.js";
import { type EmbeddedPart, Embedder } from "../../../../engine-wasm/host/vectors/embedder.js";
import { readSegment } from "../../../oracle/segments/segment-reader.js";
import {
  decodeModel,
  dot,
  encodeModel,
  normalised,
  type PlainModel,
  plainRows,
  plainVector,
  recordVector,
} from "../../../oracle/vectors/model.js";
import { loadEngine } from "../load-engine.js";
import { type Pick, picker } from "../segments/catalogue.js";
import {
  embedAll,
  recordsOf,
  TEXT_FIELDS,
  TEXT_SLOTS,
  type TextDocument,
  textDocument,
  textSegment,
} from "./texts.js";

const module = await loadEngine();
const bench = module.workbench();

function documentsOf(pick: Pick, count: number): TextDocument[] {
  return Array.from({ length: count }, (_, i) => textDocument(i, pick));
}

/** Returns a model with random vectors for most of a segment's terms and for some terms that it lacks. */
function randomModel(segment: Uint8Array, pick: Pick): PlainModel {
  const own = readSegment(segment).terms.map(({ term }) => term);
  const names = [...own.filter((term) => term !== "" && pick([1, 1, 1, 0]) === 1), "aaa", "zz9", "\u0001!zz"];
  const sorted = [...new Set(names)].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const numbers = Array.from({ length: 255 }, (_, i) => i - 127);
  return {
    slots: TEXT_SLOTS,
    terms: sorted.map((term) => ({
      term,
      factor: Math.fround(pick([0, 0.25, 0.5, 0.75, 1, 1.5, 3]) / 127),
      numbers: Array.from({ length: L.VECTOR_SIZE }, () => pick(numbers)),
    })),
    documents: 77,
    number: 5,
    aligned: pick([true, false]),
  };
}

test("rows get the vectors that plain arithmetic gives", () => {
  for (let seed = 1; seed <= 6; seed++) {
    const pick = picker(seed);
    const segment = textSegment(bench, documentsOf(pick, pick([1, 30, 300])));
    const model = randomModel(segment, pick);
    const embedder = new Embedder(module.instantiate(), encodeModel(model));
    const expected = plainRows(model, readSegment(segment));
    const got = recordsOf(embedAll(embedder, segment));
    expect(got.length).toBe(expected.length);
    for (const [row, record] of got.entries()) {
      const vector = recordVector(record);
      if (expected[row] === null) {
        expect([...record].every((byte) => byte === 0)).toBe(true);
        continue;
      }
      expect(dot(vector!, vector!)).toBeCloseTo(1, 5);
      expect(Math.max(...record.subarray(L.VECTOR_NUMBERS).map((byte) => Math.abs((byte << 24) >> 24)))).toBe(
        127,
      );
      expect(dot(vector!, expected[row]!)).toBeGreaterThan(0.9999);
    }
  }
});

test("only the heaviest terms of a document with many terms count", () => {
  const words = Array.from({ length: 300 }, (_, i) => `word${i}`);
  const documents = [4, 1, 2].map((step, i) => ({
    ...textDocument(i, picker(1)),
    text: words
      .flatMap((word, j) => (j % step === 0 ? Array<string>(1 + ((j * 7) % 5)).fill(word) : []))
      .join(" "),
  }));
  const segment = textSegment(bench, documents);
  const pick = picker(3);
  const model = randomModel(segment, pick);
  for (const term of model.terms) term.factor = Math.fround(pick([1, 2, 2, 3]) / 100);
  const expected = plainRows(model, readSegment(segment));
  const got = recordsOf(embedAll(new Embedder(module.instantiate(), encodeModel(model)), segment));
  for (const [row, record] of got.entries())
    expect(dot(recordVector(record)!, expected[row]!)).toBeGreaterThan(0.9999);
});

test("a row's record does not depend on its segment", () => {
  const pick = picker(21);
  const documents = documentsOf(pick, 400);
  const whole = textSegment(bench, documents);
  const embedder = new Embedder(module.instantiate(), encodeModel(randomModel(whole, pick)));
  const expected = Buffer.from(embedAll(embedder, whole));
  const parts = [0, 1, 50, 199, 400].flatMap((from, i, cuts) => {
    const part = documents.slice(from, cuts[i + 1]);
    return part.length === 0 ? [] : [embedAll(embedder, textSegment(bench, part))];
  });
  expect(Buffer.concat(parts).equals(expected)).toBe(true);
});

test("segments with many rows are embedded in ranges, and queries are answered in between", () => {
  const pick = picker(4);
  const documents = Array.from({ length: 9000 }, (_, i) => ({
    id: `d${i}`,
    title: pick(["red shoe", "blue", ""]),
  }));
  const raw = documents.map((document, i) => ({ seq: i + 1, raw: Buffer.from(JSON.stringify(document)) }));
  const segment = bench.build({ fields: TEXT_FIELDS, analysis: PLAIN_ANALYSIS }, raw).segment!;
  const model = randomModel(segment, picker(1));
  for (const term of model.terms) term.factor ||= 0.5;
  const embedder = new Embedder(module.instantiate(), encodeModel(model));
  const before = embedder.query([{ term: "\u0001!red", weight: 1 }]);
  const [a, b] = [embedder.embed(segment), embedder.embed(segment)];
  let made: [Uint8Array | null, Uint8Array | null] = [null, null];
  for (let steps = 0; made[0] === null || made[1] === null; steps++) {
    made = [a, b].map((embedding, i) => {
      if (made[i] !== null) return made[i]!;
      const step = embedding.next();
      return step.done ? step.value : null;
    }) as typeof made;
    if (steps % 10 === 0) expect(embedder.query([{ term: "\u0001!red", weight: 1 }])).toEqual(before);
  }
  expect(Buffer.from(made[0]).equals(made[1])).toBe(true);
  const byTitle = new Map<string, Buffer>();
  for (const [row, record] of recordsOf(made[0]).entries()) {
    const known = byTitle.get(documents[row]!.title) ?? Buffer.from(record);
    byTitle.set(documents[row]!.title, known);
    expect(known.equals(record)).toBe(true);
  }
  expect(byTitle.size).toBe(3);
});

test("records can be returned in parts", () => {
  const pick = picker(17);
  const segment = textSegment(bench, documentsOf(pick, 150));
  const embedder = new Embedder(module.instantiate(), encodeModel(randomModel(segment, pick)));
  const parts: EmbeddedPart[] = [];
  for (const part of embedder.embedParts(segment))
    if (part !== null) parts.push({ ...part, records: new Uint8Array(part.records) });
  let row = 0;
  for (const part of parts) {
    expect([part.row, part.rows]).toEqual([row, 150]);
    row += part.records.length / L.VECTOR_BYTES;
  }
  expect(parts.length).toBeGreaterThan(1);
  const whole = Buffer.concat(parts.map((part) => part.records));
  expect(whole.equals(embedAll(embedder, segment))).toBe(true);
});

test("an abandoned embedding leaks no memory", () => {
  const pick = picker(9);
  const segment = textSegment(bench, documentsOf(pick, 100));
  const instance = module.instantiate();
  const embedder = new Embedder(instance, encodeModel(randomModel(segment, pick)));
  const used = (): number => instance.run((kernels) => kernels.regionBytes() - kernels.freeBytes());
  const before = used();
  for (let steps = 0; steps < 6; steps++) {
    const embedding = embedder.embed(segment);
    for (let i = 0; i < steps; i++) embedding.next();
    embedding.return(new Uint8Array(0));
  }
  expect(used()).toBe(before);
});

test("queries get the vectors that plain arithmetic gives", () => {
  const pick = picker(8);
  const model = randomModel(textSegment(bench, documentsOf(pick, 50)), pick);
  const embedder = new Embedder(module.instantiate(), encodeModel(model));
  for (let i = 0; i < 50; i++) {
    const terms = new Map(
      Array.from({ length: pick([0, 1, 2, 5, 90]) }, () => [
        pick([pick(model.terms).term, pick(model.terms).term, "unknown", "aa", "\u0003x"]),
        pick([0, 0.5, 1, 2]),
      ]),
    );
    const vector = embedder.query([...terms].map(([term, weight]) => ({ term, weight })));
    const expected = plainVector(model, terms);
    if (expected === null) expect(vector).toBeNull();
    else expect(dot(vector!, expected)).toBeGreaterThan(0.99999);
  }
  expect(() => embedder.query([{ term: "x", weight: Number.NaN }])).toThrow(RangeError);
});

test("a model describes itself", () => {
  const pick = picker(2);
  const model = randomModel(textSegment(bench, documentsOf(pick, 5)), pick);
  const bytes = encodeModel(model);
  expect(decodeModel(bytes)).toEqual(model);
  const { info } = new Embedder(module.instantiate(), bytes);
  expect(info).toEqual({
    terms: model.terms.length,
    documents: 77,
    number: 5,
    bytes: bytes.length,
    aligned: model.aligned,
  });
  const empty = encodeModel({ ...model, terms: [] });
  const embedder = new Embedder(module.instantiate(), empty);
  expect(embedder.query([{ term: "red", weight: 1 }])).toBeNull();
  expect(embedAll(embedder, textSegment(bench, documentsOf(pick, 3)))).toEqual(
    new Uint8Array(3 * L.VECTOR_BYTES),
  );
});

test("damaged models and segments are refused or give some answer", () => {
  const pick = picker(5);
  const segment = textSegment(bench, documentsOf(pick, 200));
  const model = encodeModel(randomModel(segment, pick));
  const outcomes = new Map<string, number>();
  const places = (bytes: number): number[] => Array.from({ length: bytes }, (_, i) => i);
  const [heads, all] = [places(model.length - 512), places(segment.length)];
  for (let i = 0; i < 600; i++) {
    const [bad, good] = [Buffer.from(model), Buffer.from(segment)];
    const [target, at] =
      i % 2 === 0
        ? [bad, pick([pick(places(64)), pick(heads)])]
        : [good, pick([pick(places(64)), pick(all)])];
    target[at] = pick([target[at]! ^ (1 << pick([0, 3, 7])), 0, 255]);
    let outcome = "answered";
    const instance = module.instantiate();
    try {
      const embedder = new Embedder(instance, bad);
      expect(embedAll(embedder, good).length % L.VECTOR_BYTES).toBe(0);
      embedder.query([{ term: "red", weight: 1 }]);
    } catch (error) {
      if (!(error instanceof EngineError) || !instance.usable) throw error;
      outcome = error.code;
    }
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  expect([...outcomes.keys()].sort()).toEqual(["answered", "damaged"]);
  for (const length of [0, 10, 63, 64, model.length - 8])
    expect(() => new Embedder(module.instantiate(), model.subarray(0, length))).toThrow("damaged");
  expect(normalised([0, 0])).toBeNull();
});
