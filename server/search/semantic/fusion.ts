// Combines the results of words and of vectors into one order: neighbours with points for the search program.
// Both scores are divided by the largest one of the query, and added with weights. Because only the order
// matters, the words' part stays as it is, and the cosine's part is brought to its scale. Pure;
// docs/ranking.md has the formula.
import type { Neighbour, Neighbours } from "../../../engine-wasm/host/programs/neighbours.js";
import type { Compared } from "./nearest.js";

/** Weight of the cosine, determined on judged sets (docs/semantic.md). */
const COSINE_SHARE = 0.35;

export interface Candidates {
  /** The nearest documents, and as the others those that match words best. */
  readonly compared: Compared;
  /** The largest relevance of word matches. */
  readonly relevanceMax: number;
  /** Minimum similarity of a document without any of the words. */
  readonly similarityMin: number;
}

/** Both kinds of matches count. */
export function addedNeighbours({ compared, relevanceMax, similarityMin }: Candidates): Neighbours {
  const { seqs, cosines, isNear, isOther } = compared;
  let cosineMax = 0;
  for (const cosine of cosines) if (cosine > cosineMax) cosineMax = cosine;
  const scale = cosineMax === 0 ? 0 : (COSINE_SHARE / (1 - COSINE_SHARE)) * (relevanceMax / cosineMax);
  const rows: Neighbour[] = [];
  for (let place = 0; place < seqs.length; place++) {
    const cosine = cosines[place]!;
    if (isOther[place] === 1 || (isNear[place] === 1 && cosine >= similarityMin))
      rows.push({ seq: seqs[place]!, points: cosine > 0 ? scale * cosine : 0, matches: true });
  }
  return { place: "added", rows };
}

/** Only similarity counts; other word matches come afterwards. */
export function firstNeighbours({ compared, similarityMin }: Candidates): Neighbours {
  const { seqs, cosines, isNear, isOther } = compared;
  const rows: Neighbour[] = [];
  for (let place = 0; place < seqs.length; place++) {
    const cosine = cosines[place]!;
    if (isNear[place] === 1 && (cosine >= similarityMin || isOther[place] === 1))
      rows.push({ seq: seqs[place]!, points: 1 + cosine, matches: true });
  }
  return { place: "first", rows };
}
