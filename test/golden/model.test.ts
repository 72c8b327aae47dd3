// Stored models stay readable: the naive reader decodes the fixture to the values from which it was written,
// the engine computes vectors with it, and other versions are refused.
import { expect, test } from "vitest";
import * as L from "../../engine-wasm/assembly/layout.js";
import { Embedder } from "../../engine-wasm/host/vectors/embedder.js";
import { decodeModel, dot, plainVector } from "../oracle/vectors/model.js";
import { loadEngine } from "../unit/engine/load-engine.js";
import { readFixture } from "./fixture-files.js";
import { MODEL } from "./model.js";

const FILE = "model-v1.hex";
const module = await loadEngine("release");

test("the fixture decodes to its model", () => {
  expect(decodeModel(readFixture(FILE))).toEqual(MODEL);
});

test("the engine computes vectors with it", () => {
  const embedder = new Embedder(module.instantiate(), readFixture(FILE));
  expect(embedder.info).toEqual({
    terms: 3,
    documents: 1234,
    number: 7,
    bytes: readFixture(FILE).length,
    aligned: true,
  });
  const weights = new Map(MODEL.terms.map(({ term }, i) => [term, i + 1]));
  const vector = embedder.query([...weights].map(([term, weight]) => ({ term, weight })));
  expect(dot(vector!, plainVector(MODEL, weights)!)).toBeCloseTo(1, 5);
  expect(embedder.query([{ term: "shoe", weight: 1 }])).toBeNull();
});

test("another format version is refused", () => {
  const newer = readFixture(FILE);
  newer.writeUInt32LE(L.EMBEDDED_VERSION + 1, L.MODEL_VERSION);
  expect(() => new Embedder(module.instantiate(), newer)).toThrow("damaged");
});
