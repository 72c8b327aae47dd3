// The documents whose vectors are nearest to a query, over all shards: codes narrow them down, stored vectors decide. Each
// step keeps the first of one total order over all shards, so the answer does not depend on their number.
import type { NearestResult } from "../../engine-wasm/host/programs/nearest-result.js";
import type { SearchProgram } from "../../engine-wasm/host/programs/search-program.js";
import type { ReadView } from "../reads/read-view.js";
import type { SimilarDocument } from "./fusion.js";
import { Similarities } from "./similarities.js";

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

export interface NearDocument extends SimilarDocument, PlacedDocument {}

export interface Nearest {
  /** Nearest first. */
  readonly near: readonly NearDocument[];
  /** Of these and of the `others`. */
  readonly similarities: Similarities;
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
  const similarities = await similaritiesOf(readView, query, likely, others);
  return { near: nearestOf(likely, similarities, wanted), similarities };
}

/** Those of the documents that have a vector, the nearest first, `wanted` at most. They were compared first. */
function nearestOf(
  likely: readonly PlacedDocument[],
  similarities: Similarities,
  wanted: number,
): NearDocument[] {
  const known = new Float32Array(likely.length);
  let count = 0;
  for (let place = 0; place < likely.length; place++) {
    const similarity = similarities.at(place);
    if (!Number.isNaN(similarity)) known[count++] = similarity;
  }
  const least = leastOfLargest(known.subarray(0, count), wanted);
  const near: NearDocument[] = [];
  for (let place = 0; place < likely.length; place++) {
    const similarity = similarities.at(place); // NaN is not at least anything
    if (similarity >= least) near.push({ shard: likely[place]!.shard, seq: likely[place]!.seq, similarity });
  }
  near.sort(nearestFirst);
  return near.length > wanted ? near.slice(0, wanted) : near;
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

/** A document and about how similar it is. */
interface LikelyDocument extends PlacedDocument {
  readonly estimate: number;
}

/**
 * Of the documents with the most similar codes over all shards, those with the largest estimates, in any order; of equal ones
 * those with the largest sequence numbers. Shards tell of a thousand documents, so only those that are kept become objects.
 */
export function mostLikely(
  byShard: readonly NearestResult[],
  similarMax: number,
  count: number,
): LikelyDocument[] {
  const { shards, seqs, estimates } = mostSimilar(byShard, similarMax);
  const least = leastOfLargest(estimates, count);
  const likely: LikelyDocument[] = [];
  const equal: LikelyDocument[] = [];
  for (let i = 0; i < estimates.length; i++) {
    const estimate = estimates[i]!;
    if (estimate >= least)
      (estimate > least ? likely : equal).push({ shard: shards[i]!, seq: seqs[i]!, estimate });
  }
  equal.sort((a, b) => b.seq - a.seq);
  for (const document of equal) if (likely.length < count) likely.push(document);
  return likely;
}

/** Documents of several shards, one in each place. */
interface SimilarCodes {
  readonly shards: Uint16Array;
  readonly seqs: Float64Array;
  readonly estimates: Float32Array;
}

/** The first `max` documents over all shards. Each shard's are in order: the most similar code first, then the largest seq. */
function mostSimilar(byShard: readonly NearestResult[], max: number): SimilarCodes {
  const all = byShard.reduce((sum, { seqs }) => sum + seqs.length, 0);
  const length = Math.min(all, max);
  const similar = {
    shards: new Uint16Array(length),
    seqs: new Float64Array(length),
    estimates: new Float32Array(length),
  };
  const next = byShard.map(() => 0);
  for (let rank = 0; rank < length; rank++) {
    let best = -1;
    let [bestDistance, bestSeq] = [0, 0];
    for (let shard = 0; shard < byShard.length; shard++) {
      const { seqs, distances } = byShard[shard]!;
      const at = next[shard]!;
      if (at === seqs.length) continue;
      const [distance, seq] = [distances[at]!, seqs[at]!];
      if (best >= 0 && (distance > bestDistance || (distance === bestDistance && seq < bestSeq))) continue;
      [best, bestDistance, bestSeq] = [shard, distance, seq];
    }
    similar.shards[rank] = best;
    similar.seqs[rank] = bestSeq;
    similar.estimates[rank] = byShard[best]!.estimates[next[best]!++]!;
  }
  return similar;
}

/** The least of the `count` largest numbers; of fewer numbers the least. Infinity when there are none. Hoare's FIND (1961). */
function leastOfLargest(numbers: Float32Array, count: number): number {
  if (numbers.length === 0 || count === 0) return Number.POSITIVE_INFINITY;
  const parted = numbers.slice();
  const place = Math.max(0, parted.length - count);
  let [low, high] = [0, parted.length - 1];
  while (low < high) {
    const pivot = parted[(low + high) >> 1]!;
    let [up, down] = [low, high];
    while (up <= down) {
      while (parted[up]! < pivot) up++;
      while (parted[down]! > pivot) down--;
      if (up > down) break;
      const larger = parted[up]!;
      parted[up++] = parted[down]!;
      parted[down--] = larger;
    }
    if (place <= down) high = down;
    else if (place >= up) low = up;
    else break;
  }
  return parted[place]!;
}

/** How similar the documents are to the query: the likely ones, which are different ones, then the others. Each is asked for once. */
async function similaritiesOf(
  readView: ReadView,
  query: Float32Array,
  likely: readonly PlacedDocument[],
  others: readonly PlacedDocument[],
): Promise<Similarities> {
  const places = new Map<number, number>();
  const shards: number[] = [];
  for (const { shard, seq } of likely) {
    places.set(seq, shards.length);
    shards.push(shard);
  }
  for (const { shard, seq } of others) {
    if (places.has(seq)) continue;
    places.set(seq, shards.length);
    shards.push(shard);
  }
  if (readView.shards === 1)
    return new Similarities(places, await readView.similarities(0, query, [...places.keys()]));
  const byShard = new Map<number, { readonly seqs: number[]; readonly places: number[] }>();
  for (const [seq, place] of places) {
    const shard = shards[place]!;
    let asked = byShard.get(shard);
    if (asked === undefined) {
      asked = { seqs: [], places: [] };
      byShard.set(shard, asked);
    }
    asked.seqs.push(seq);
    asked.places.push(place);
  }
  const cosines = new Float32Array(places.size);
  await Promise.all(
    Array.from(byShard, async ([shard, asked]) => {
      const told = await readView.similarities(shard, query, asked.seqs);
      for (let i = 0; i < told.length; i++) cosines[asked.places[i]!] = told[i]!;
    }),
  );
  return new Similarities(places, cosines);
}
