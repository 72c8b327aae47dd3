// Which documents of several shards are likely the nearest, against objects that are sorted.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NearestResult } from "../../../../engine-wasm/host/programs/nearest-result.js";
import { mostLikely } from "../../../../server/semantic/nearest.js";

interface Told {
  readonly shard: number;
  readonly seq: number;
  readonly distance: number;
  readonly estimate: number;
}

const bySimilarity = (a: Told, b: Told): number => a.distance - b.distance || b.seq - a.seq;
const bySeq = (a: { seq: number }, b: { seq: number }): number => a.seq - b.seq;

/** The answer of a shard with these documents. */
function resultOf(told: readonly Told[]): NearestResult {
  const ordered = [...told].sort(bySimilarity);
  return {
    compared: ordered.length,
    seqs: Float64Array.from(ordered, ({ seq }) => seq),
    distances: Uint16Array.from(ordered, ({ distance }) => distance),
    estimates: Float32Array.from(ordered, ({ estimate }) => estimate),
  };
}

function likelyByObjects(told: readonly Told[], similarMax: number, count: number) {
  return [...told]
    .sort(bySimilarity)
    .slice(0, similarMax)
    .sort((a, b) => b.estimate - a.estimate || b.seq - a.seq)
    .slice(0, count)
    .map(({ shard, seq, estimate }) => ({ shard, seq, estimate }))
    .sort(bySeq);
}

describe("the likeliest documents", () => {
  const few = { min: 0, max: 3 };
  const documents = fc.array(
    fc.record({
      shard: fc.integer({ min: 0, max: 2 }),
      distance: fc.integer(few),
      estimate: fc.integer(few).map((quarters) => quarters / 4 - 0.5),
    }),
    { maxLength: 30 },
  );

  it("are those with the largest estimates among the most similar codes of all shards", () => {
    const sizes = fc.integer({ min: 0, max: 12 });
    fc.assert(
      fc.property(documents, fc.integer({ min: 1, max: 3 }), sizes, sizes, (drawn, shards, max, count) => {
        const told = drawn.map((one, i) => ({ ...one, shard: one.shard % shards, seq: i + 1 }));
        const byShard = Array.from({ length: shards }, (_, shard) =>
          resultOf(told.filter((one) => one.shard === shard)),
        );
        expect([...mostLikely(byShard, max, count)].sort(bySeq)).toEqual(likelyByObjects(told, max, count));
      }),
    );
  });
});
