// Micro benchmarks that compare the engine's training and embedding with plain JavaScript, on rows of the
// generated catalogue.

import { VECTOR_BYTES, VECTOR_SCALE, VECTOR_SIZE } from "../../engine-wasm/assembly/layout.js";
import { PLAIN_ANALYSIS } from "../../engine-wasm/host/instance/workbench.js";
import { Embedder } from "../../engine-wasm/host/vectors/embedder.js";
import { trainModel } from "../../engine-wasm/host/vectors/trainer.js";
import { readSegment } from "../../test/oracle/segments/segment-reader.js";
import { plainTermVectors } from "../../test/oracle/vectors/lsa.js";
import { decodeModel } from "../../test/oracle/vectors/model.js";
import { FIELDS, type Fixture, SLOT_DESCRIPTION } from "./fixture.js";
import { naiveTokens } from "./naive-text.js";
import type { Pair } from "./pairs.js";

const TRAINED = 5000;
const TRAINED_BY_BOTH = 120;
const EMBEDDED = 1000;
const SLOTS = [{ slot: SLOT_DESCRIPTION, weight: 1, stemmed: false }];
const OPTIONS = { slots: SLOTS, number: 1, termsMax: 65_536, previous: null };

export function modelPairs(fixture: Fixture): Pair[] {
  return [training(fixture), embedding(fixture)];
}

function segmentOf({ workbench, raw }: Fixture, count: number): Uint8Array {
  const { segment } = workbench.build({ fields: [...FIELDS], analysis: PLAIN_ANALYSIS }, raw.slice(0, count));
  if (segment === null) throw new Error("the generated documents were refused");
  return segment;
}

function training(fixture: Fixture): Pair {
  const segment = segmentOf(fixture, TRAINED_BY_BOTH);
  const plain = readSegment(segment);
  return {
    name: `train an embedded model on ${TRAINED_BY_BOTH} documents`,
    kernel: () =>
      new Embedder(fixture.module.instantiate(), trainModel(fixture.module.instantiate(), segment, OPTIONS))
        .info.terms,
    naive: () =>
      plainTermVectors(plain, SLOTS, OPTIONS.termsMax).filter(
        ({ weight, vector }) => weight > 0 && vector.some((x) => Math.abs(x) > 1e-6),
      ).length,
  };
}

function embedding(fixture: Fixture): Pair {
  const model = trainModel(fixture.module.instantiate(), segmentOf(fixture, TRAINED), OPTIONS);
  const embedder = new Embedder(fixture.module.instantiate(), model);
  const segment = segmentOf(fixture, EMBEDDED);
  const vectors = new Map(
    decodeModel(model).terms.map(({ term, factor, numbers }) => [
      term,
      Float32Array.from(numbers, (x) => x * factor),
    ]),
  );
  const documents = fixture.documents.slice(0, EMBEDDED).map(({ description }) => {
    const counts = new Map<string, number>();
    for (const term of naiveTokens(description)) counts.set(term, (counts.get(term) ?? 0) + 1);
    return counts;
  });
  return {
    name: `vectors of ${EMBEDDED} documents, ${vectors.size} terms`,
    kernel: () => {
      const steps = embedder.embed(segment);
      for (;;) {
        const step = steps.next();
        if (step.done) return countVectors(step.value);
      }
    },
    naive: () => documents.reduce((sum, counts) => sum + (naiveVector(counts, vectors) === null ? 0 : 1), 0),
  };
}

function countVectors(records: Uint8Array): number {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
  let count = 0;
  for (let at = 0; at < records.length; at += VECTOR_BYTES) {
    if (view.getFloat32(at + VECTOR_SCALE, true) !== 0) count++;
  }
  return count;
}

function naiveVector(
  counts: ReadonlyMap<string, number>,
  vectors: ReadonlyMap<string, Float32Array>,
): Float32Array | null {
  const sum = new Float32Array(VECTOR_SIZE);
  for (const [term, count] of counts) {
    const vector = vectors.get(term);
    if (vector === undefined) continue;
    const weight = Math.log(1 + count);
    for (let i = 0; i < VECTOR_SIZE; i++) sum[i]! += weight * vector[i]!;
  }
  const length = Math.sqrt(sum.reduce((square, x) => square + x * x, 0));
  return length === 0 ? null : sum.map((x) => x / length);
}
