// Choosing the nearest documents from the candidates of several shards, compared with simply sorting them.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NearestResult } from "../../../../../engine-wasm/host/programs/nearest-result.js";
import { EVERY_DOCUMENT } from "../../../../../engine-wasm/host/programs/search-program.js";
import type { IndexSnapshot } from "../../../../../server/fleet/reads/index-snapshot.js";
import { run } from "../../../../../server/ground/jobs/work.js";
import {
  mostLikely,
  nearestDocuments,
  nearestFirst,
  similarityOf,
} from "../../../../../server/search/semantic/nearest.js";

interface Told {
  readonly shard: number;
  readonly seq: number;
  readonly distance: number;
  readonly estimate: number;
}

const bySimilarity = (a: Told, b: Told): number => a.distance - b.distance || b.seq - a.seq;
const bySeq = (a: { seq: number }, b: { seq: number }): number => a.seq - b.seq;

/** Returns a shard's result that contains the documents in `told`. */
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

  it("have the largest estimates among the most similar codes of all shards", () => {
    const sizes = fc.integer({ min: 0, max: 12 });
    fc.assert(
      fc.property(documents, fc.integer({ min: 1, max: 3 }), sizes, sizes, (drawn, shards, max, count) => {
        const told = drawn.map((one, i) => ({ ...one, shard: one.shard % shards, seq: i + 1 }));
        const byShard = Array.from({ length: shards }, (_, shard) =>
          resultOf(told.filter((one) => one.shard === shard)),
        );
        const { shards: places, seqs, estimates } = mostLikely(byShard, max, count);
        const likely = Array.from(seqs, (seq, i) => ({ shard: places[i], seq, estimate: estimates[i] }));
        expect(likely.sort(bySeq)).toEqual(likelyByObjects(told, max, count));
      }),
    );
  });
});

describe("the nearest documents", () => {
  interface Kept {
    readonly shard: number;
    /** Null if the document has no vector. */
    readonly quarters: number | null;
    readonly isOther: boolean;
    readonly isLikely: boolean;
  }
  const kept: fc.Arbitrary<Kept[]> = fc.array(
    fc.record({
      shard: fc.integer({ min: 0, max: 2 }),
      quarters: fc.option(fc.integer({ min: -2, max: 3 })),
      isOther: fc.boolean(),
      isLikely: fc.boolean(),
    }),
    { maxLength: 20 },
  );

  it("are the most similar of the likely ones, on however many shards, and the rest are compared, too", async () => {
    await fc.assert(
      fc.asyncProperty(
        kept,
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 12 }),
        async (drawn, shards, wanted) => {
          const all = drawn.map((one, i) => ({
            ...one,
            shard: one.shard % shards,
            seq: ((i * 7) % 23) + 1,
            similarity: one.quarters === null ? Number.NaN : one.quarters / 4,
          }));
          const likely = all.filter(({ isLikely }) => isLikely);
          const others = all.filter(({ isOther }) => isOther);
          const snapshot = {
            shards,
            nearest: async () =>
              Array.from({ length: shards }, (_, shard) =>
                resultOf(
                  likely
                    .filter((one) => one.shard === shard)
                    .map(({ seq }) => ({ shard, seq, distance: 0, estimate: 0 })),
                ),
              ),
            similarities: async (shard: number, _query: unknown, seqs: ArrayLike<number>) =>
              Float32Array.from(
                seqs,
                (seq) => all.find((one) => one.shard === shard && one.seq === seq)!.similarity,
              ),
          } as unknown as IndexSnapshot;
          const query = new Float32Array(0);
          const places = {
            shards: Uint16Array.from(others, ({ shard }) => shard),
            seqs: Float64Array.from(others, ({ seq }) => seq),
          };
          const compared = await run(nearestDocuments(snapshot, EVERY_DOCUMENT, query, wanted, places));
          const near = likely
            .filter(({ quarters }) => quarters !== null)
            .filter((one) => expectedLikely(likely, wanted * 2).includes(one))
            .sort((a, b) => b.similarity - a.similarity || b.seq - a.seq)
            .slice(0, wanted);
          expect(nearestFirst(compared)).toEqual(
            near.map(({ shard, seq, similarity }) => ({ shard, seq, similarity })),
          );
          for (const { seq, quarters } of others)
            expect(similarityOf(compared, seq)).toBe(quarters === null ? null : quarters / 4);
          expect(compared.seqs).toEqual(compared.seqs.slice().sort());
        },
      ),
    );
  });

  /** Returns the `count` newest documents. All estimates are equal here, and ties go to the newest. */
  function expectedLikely<T extends { readonly seq: number }>(likely: readonly T[], count: number): T[] {
    return [...likely].sort((a, b) => b.seq - a.seq).slice(0, count);
  }
});
