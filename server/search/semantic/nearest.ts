// Finds the documents whose vectors are nearest to a query's vector, over all shards. The documents with the
// most similar codes are the candidates; comparing their stored vectors decides. Each step keeps the first
// documents in one order over all shards, so the answer does not depend on the number of shards.
import type { NearestResult } from "../../../engine-wasm/host/programs/nearest-result.js";
import type { SearchProgram } from "../../../engine-wasm/host/programs/search-program.js";
import type { IndexSnapshot } from "../../fleet/reads/index-snapshot.js";
import { settled, together, type Work } from "../../ground/jobs/work.js";

/**
 * Minimum number of candidates, which are the documents whose codes are most similar to the query's code.
 * There are more if more than this are to be compared exactly.
 */
const CODES_MAX = 1000;
/** For each wanted document, this many candidates are compared exactly. */
const COMPARED_FACTOR = 2;
/** Minimum number of candidates in nearestByCodes. There are more if more documents are wanted. */
const SHALLOW_CODES = 200;

/** A document and its shard. */
export interface PlacedDocument {
  readonly shard: number;
  readonly seq: number;
}

export interface NearDocument extends PlacedDocument {
  /** Cosine similarity. */
  readonly similarity: number;
}

/**
 * Documents and their shards, as parallel arrays. There are hundreds of them, too many for one object each.
 */
export interface DocumentPlaces {
  readonly shards: Uint16Array;
  readonly seqs: Float64Array;
}

export const NO_PLACES: DocumentPlaces = { shards: new Uint16Array(0), seqs: new Float64Array(0) };

/**
 * Documents whose stored vectors were compared with a query's vector, without duplicates, in ascending order
 * of sequence number.
 */
export interface Compared {
  readonly seqs: Float64Array;
  /** Per document. NaN if the document has no vector. */
  readonly cosines: Float32Array;
  /** Per document. 1 if it is one of the nearest documents. */
  readonly isNear: Uint8Array;
  /** Per document. 1 if it is one of the `others` that the caller wanted compared. */
  readonly isOther: Uint8Array;
  shardOf(seq: number): number;
}

export const NOTHING_COMPARED: Compared = {
  seqs: new Float64Array(0),
  cosines: new Float32Array(0),
  isNear: new Uint8Array(0),
  isOther: new Uint8Array(0),
  shardOf: () => 0,
};

/**
 * Finds the `wanted` nearest documents among those that the program selects. Also compares the documents in
 * `others` with the query's vector.
 */
export function* nearestDocuments(
  snapshot: IndexSnapshot,
  program: SearchProgram,
  query: Float32Array,
  wanted: number,
  others: DocumentPlaces,
): Work<Compared> {
  const compared = wanted * COMPARED_FACTOR;
  const similar = Math.max(CODES_MAX, compared);
  const likely = mostLikely(yield* settled(snapshot.nearest(program, query, similar)), similar, compared);
  const shardOf = snapshot.shards === 1 ? NOTHING_COMPARED.shardOf : shardsOf(likely, others);
  const likelySeqs = likely.seqs.slice().sort();
  const otherSeqs = others.seqs.slice().sort();
  const seqs = union(likelySeqs, otherSeqs);
  const cosines = yield* cosinesOf(snapshot, query, seqs, shardOf);
  const isNear = marked(seqs, likelySeqs);
  keepNearest(isNear, cosines, wanted);
  return { seqs, cosines, isNear, isOther: marked(seqs, otherSeqs), shardOf };
}

/** Returns a document's similarity to the query, or null if it has no vector or was not compared. */
export function similarityOf({ seqs, cosines }: Compared, seq: number): number | null {
  const cosine = cosines[seqs.indexOf(seq)] ?? Number.NaN;
  return Number.isNaN(cosine) ? null : cosine;
}

/** True if the document is one of the nearest documents. */
export function isNear({ seqs, isNear: marks }: Compared, seq: number): boolean {
  return marks[seqs.indexOf(seq)] === 1;
}

/** Returns the nearest documents, nearest first. Newer documents win ties. */
export function nearestFirst({ seqs, cosines, isNear, shardOf }: Compared): NearDocument[] {
  const near: NearDocument[] = [];
  for (let place = 0; place < seqs.length; place++) {
    const seq = seqs[place]!;
    if (isNear[place] === 1) near.push({ shard: shardOf(seq), seq, similarity: cosines[place]! });
  }
  return near.sort(bySimilarity);
}

function bySimilarity(a: NearDocument, b: NearDocument): number {
  return b.similarity - a.similarity || b.seq - a.seq;
}

/**
 * Unmarks all documents except those with the `wanted` largest cosines. The later of two equal documents
 * stays marked. Documents without a vector are unmarked.
 */
function keepNearest(marks: Uint8Array, cosines: Float32Array, wanted: number): void {
  const known = new Float32Array(marks.length);
  let count = 0;
  for (let place = 0; place < marks.length; place++)
    if (marks[place] === 1 && !Number.isNaN(cosines[place]!)) known[count++] = cosines[place]!;
  const least = leastOfLargest(known.subarray(0, count), wanted);
  let equal = wanted;
  for (let i = 0; i < count; i++) if (known[i]! > least) equal--;
  for (let place = marks.length - 1; place >= 0; place--) {
    const cosine = cosines[place]!; // NaN fails both comparisons below
    if (marks[place] === 1 && !(cosine > least || (cosine === least && equal-- > 0))) marks[place] = 0;
  }
}

/**
 * Finds the `wanted` nearest documents by cosines estimated from their codes, nearest first. Reads no stored
 * vectors and asks the shards only once. Meant for documents that are merely shown beside an answer.
 */
export function* nearestByCodes(
  snapshot: IndexSnapshot,
  program: SearchProgram,
  query: Float32Array,
  wanted: number,
): Work<NearDocument[]> {
  const similar = Math.max(SHALLOW_CODES, wanted);
  const likely = mostLikely(yield* settled(snapshot.nearest(program, query, similar)), similar, wanted);
  const near = Array.from(likely.seqs, (seq, place): NearDocument => {
    return { shard: likely.shards[place]!, seq, similarity: likely.estimates[place]! };
  });
  return near.sort(bySimilarity);
}

/**
 * Takes the `similarMax` documents with the most similar codes over all shards, and returns the `count` of
 * them with the largest estimated cosines, in any order. Larger sequence numbers win ties.
 */
export function mostLikely(
  byShard: readonly NearestResult[],
  similarMax: number,
  count: number,
): SimilarCodes {
  const similar = mostSimilar(byShard, similarMax);
  const { shards, seqs, estimates } = similar;
  if (estimates.length <= count) return similar;
  const least = leastOfLargest(estimates, count);
  const places: number[] = [];
  const equal: number[] = [];
  for (let place = 0; place < estimates.length; place++)
    if (estimates[place]! >= least) (estimates[place]! > least ? places : equal).push(place);
  equal.sort((a, b) => seqs[b]! - seqs[a]!);
  for (const place of equal) if (places.length < count) places.push(place);
  const likely = emptyPlaces(places.length);
  for (let i = 0; i < places.length; i++) {
    likely.shards[i] = shards[places[i]!]!;
    likely.seqs[i] = seqs[places[i]!]!;
    likely.estimates[i] = estimates[places[i]!]!;
  }
  return likely;
}

/** Documents whose codes are similar to the query's code, with cosines estimated from the codes. */
export interface SimilarCodes extends DocumentPlaces {
  readonly estimates: Float32Array;
}

function emptyPlaces(length: number): SimilarCodes {
  return {
    shards: new Uint16Array(length),
    seqs: new Float64Array(length),
    estimates: new Float32Array(length),
  };
}

/**
 * Merges the shards' lists and returns the first `max` documents. Each list must be sorted by descending
 * similarity of the codes, then by descending sequence number.
 */
function mostSimilar(byShard: readonly NearestResult[], max: number): SimilarCodes {
  const [only] = byShard;
  if (byShard.length === 1 && only!.seqs.length <= max)
    return { shards: new Uint16Array(only!.seqs.length), seqs: only!.seqs, estimates: only!.estimates };
  const all = byShard.reduce((sum, { seqs }) => sum + seqs.length, 0);
  const length = Math.min(all, max);
  const similar = emptyPlaces(length);
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

/**
 * Returns the smallest of the `count` largest numbers, or of all numbers if there are fewer than `count`.
 * Returns infinity if there are no numbers or `count` is 0. Uses Hoare's FIND (1961).
 */
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

function shardsOf(...all: readonly DocumentPlaces[]): Compared["shardOf"] {
  const shards = new Map<number, number>();
  for (const places of all)
    for (let place = 0; place < places.seqs.length; place++)
      shards.set(places.seqs[place]!, places.shards[place]!);
  return (seq) => shards.get(seq)!;
}

/** Merges two ascending lists into one, with equal numbers only once. */
function union(a: Float64Array, b: Float64Array): Float64Array {
  const all = new Float64Array(a.length + b.length);
  let [atA, atB, length] = [0, 0, 0];
  while (atA < a.length && atB < b.length) {
    const [one, other] = [a[atA]!, b[atB]!];
    all[length++] = Math.min(one, other);
    if (one <= other) atA++;
    if (other <= one) atB++;
  }
  const rest = atA < a.length ? a.subarray(atA) : b.subarray(atB);
  all.set(rest, length);
  return all.subarray(0, length + rest.length);
}

/**
 * Returns 1 for each number in `all` that is also in `some`, and 0 for the others. Both must be ascending,
 * and `all` must contain `some`.
 */
function marked(all: Float64Array, some: Float64Array): Uint8Array {
  const marks = new Uint8Array(all.length);
  let place = 0;
  for (const one of some) {
    while (all[place] !== one) place++;
    marks[place] = 1;
  }
  return marks;
}

/** Returns each document's cosine with the query, from its stored vector. */
function* cosinesOf(
  snapshot: IndexSnapshot,
  query: Float32Array,
  seqs: Float64Array,
  shardOf: Compared["shardOf"],
): Work<Float32Array> {
  if (snapshot.shards === 1) return yield* settled(snapshot.similarities(0, query, seqs));
  const places: number[][] = Array.from({ length: snapshot.shards }, () => []);
  for (let place = 0; place < seqs.length; place++) places[shardOf(seqs[place]!)]!.push(place);
  const cosines = new Float32Array(seqs.length);
  yield* together(
    ...places.map(function* (own, shard): Work<void> {
      if (own.length === 0) return;
      const asked = Float64Array.from(own, (place) => seqs[place]!);
      const told = yield* settled(snapshot.similarities(shard, query, asked));
      for (let i = 0; i < told.length; i++) cosines[own[i]!] = told[i]!;
    }),
  );
  return cosines;
}
