// The documents whose vectors are nearest to a query, over all shards: codes narrow them down, stored vectors decide. Each
// step keeps the first of one total order over all shards, so the answer does not depend on their number.
import type { NearestResult } from "../../engine-wasm/host/programs/nearest-result.js";
import type { SearchProgram } from "../../engine-wasm/host/programs/search-program.js";
import type { ReadView } from "../cluster/read-view.js";
import type { SimilarDocument } from "./fusion.js";

/** So many documents with the most similar codes are looked at. */
const CODES_MAX = 1000;
/** For each document wanted so many are compared exactly. */
const COMPARED_FACTOR = 2;
/** A document and the shard that has it. */
export interface PlacedDocument {
  readonly shard: number;
  readonly seq: number;
}

export interface Nearest {
  /** Nearest first. */
  readonly near: readonly (SimilarDocument & PlacedDocument)[];
  /** Cosines of these and of the `others` that have a vector, by sequence number. */
  readonly similarities: ReadonlyMap<number, number>;
}

/** The `wanted` nearest documents among those that pass the program, and how near the others are. */
export async function nearestDocuments(
  readView: ReadView,
  program: SearchProgram,
  query: Float32Array,
  wanted: number,
  others: readonly PlacedDocument[],
): Promise<Nearest> {
  const byShard = await readView.nearest(program, query, Math.max(CODES_MAX, wanted * COMPARED_FACTOR));
  const likely = mostLikely(byShard, wanted * COMPARED_FACTOR);
  const known = new Set(likely.map(({ seq }) => seq));
  const compared = [...likely, ...others.filter(({ seq }) => !known.has(seq))];
  const similarities = await similaritiesOf(readView, query, compared);
  const near = likely
    .flatMap(({ shard, seq }) => {
      const similarity = similarities.get(seq);
      return similarity === undefined ? [] : [{ shard, seq, similarity }];
    })
    .sort((a, b) => b.similarity - a.similarity || b.seq - a.seq)
    .slice(0, wanted);
  return { near, similarities };
}

function mostLikely(byShard: readonly NearestResult[], count: number): PlacedDocument[] {
  return byShard
    .flatMap(({ seqs, distances, estimates }, shard) =>
      Array.from(seqs, (seq, i) => ({
        shard,
        seq,
        distance: distances[i] as number,
        estimate: estimates[i] as number,
      })),
    )
    .sort((a, b) => a.distance - b.distance || b.seq - a.seq)
    .slice(0, Math.max(CODES_MAX, count))
    .sort((a, b) => b.estimate - a.estimate || b.seq - a.seq)
    .slice(0, count);
}

async function similaritiesOf(
  readView: ReadView,
  query: Float32Array,
  documents: readonly PlacedDocument[],
): Promise<Map<number, number>> {
  const seqsByShard = new Map<number, number[]>();
  for (const { shard, seq } of documents) seqsByShard.set(shard, [...(seqsByShard.get(shard) ?? []), seq]);
  const known = new Map<number, number>();
  await Promise.all(
    Array.from(seqsByShard, async ([shard, seqs]) => {
      const similarities = await readView.similarities(shard, query, seqs);
      for (const [i, seq] of seqs.entries()) {
        const similarity = similarities[i] as number;
        if (!Number.isNaN(similarity)) known.set(seq, similarity);
      }
    }),
  );
  return known;
}
