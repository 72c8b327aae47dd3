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
/** For those that codes alone tell. */
const SHALLOW_CODES = 200;

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
  const compared = wanted * COMPARED_FACTOR;
  const similar = Math.max(CODES_MAX, compared);
  const likely = mostLikely(await readView.nearest(program, query, similar), similar, compared);
  const known = new Set(likely.map(({ seq }) => seq));
  const documents = [...likely, ...others.filter(({ seq }) => !known.has(seq))];
  const similarities = await similaritiesOf(readView, query, documents);
  const near = likely
    .flatMap(({ shard, seq }) => {
      const similarity = similarities.get(seq);
      return similarity === undefined ? [] : [{ shard, seq, similarity }];
    })
    .sort(nearestFirst)
    .slice(0, wanted);
  return { near, similarities };
}

/**
 * The `wanted` documents that are nearest by what their codes tell of the cosine, nearest first. No stored vector is read, and
 * the shards are asked once. It is for documents that are only shown beside an answer.
 */
export async function nearestByCodes(
  readView: ReadView,
  program: SearchProgram,
  query: Float32Array,
  wanted: number,
): Promise<Nearest["near"]> {
  const similar = Math.max(SHALLOW_CODES, wanted);
  return mostLikely(await readView.nearest(program, query, similar), similar, wanted)
    .map(({ shard, seq, estimate }) => ({ shard, seq, similarity: estimate }))
    .sort(nearestFirst);
}

function nearestFirst(a: SimilarDocument, b: SimilarDocument): number {
  return b.similarity - a.similarity || b.seq - a.seq;
}

/** Of the documents with the most similar codes over all shards, those with the largest estimates, in any order. */
function mostLikely(
  byShard: readonly NearestResult[],
  similarMax: number,
  count: number,
): (PlacedDocument & { estimate: number })[] {
  const all = byShard.flatMap(({ seqs, distances, estimates }, shard) =>
    Array.from(seqs, (seq, i) => ({
      shard,
      seq,
      distance: distances[i] as number,
      estimate: estimates[i] as number,
    })),
  );
  if (byShard.length > 1) all.sort((a, b) => a.distance - b.distance || b.seq - a.seq);
  const similar = all.slice(0, similarMax);
  if (similar.length <= count) return similar;
  // Sorting the bare estimates takes a tenth of the time that sorting the documents by them would take.
  const least = Float32Array.from(similar, ({ estimate }) => estimate)
    .sort()
    .at(-count) as number;
  const above = similar.filter(({ estimate }) => estimate > least);
  const equal = similar.filter(({ estimate }) => estimate === least).sort((a, b) => b.seq - a.seq);
  return [...above, ...equal.slice(0, count - above.length)];
}

async function similaritiesOf(
  readView: ReadView,
  query: Float32Array,
  documents: readonly PlacedDocument[],
): Promise<Map<number, number>> {
  const seqsByShard = new Map<number, number[]>();
  for (const { shard, seq } of documents) {
    const seqs = seqsByShard.get(shard);
    if (seqs === undefined) seqsByShard.set(shard, [seq]);
    else seqs.push(seq);
  }
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
