// Combines word scores and vector similarities into one order, as neighbours with points for the search
// program. Each kind of score is divided by its largest value in the query, then the two are added with
// weights. Because only the order matters, word scores stay unchanged and cosines are converted to the same
// scale. Pure; docs/ranking.md contains the formula.
import type { Neighbour, Neighbours } from "../../../engine-wasm/host/programs/neighbours.js";
import type { Compared } from "./nearest.js";

/** Weight of the cosine, chosen on judged query sets (docs/semantic.md). */
const COSINE_SHARE = 0.35;

export interface Candidates {
  /** The nearest documents, and the documents that best match the words, which are marked `isOther`. */
  readonly compared: Compared;
  /** The largest relevance of any word match. */
  readonly relevanceMax: number;
  /** Minimum similarity of a document that contains none of the words. */
  readonly similarityMin: number;
}

/** Ranks by word matches and similarity together. */
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

/** Ranks by similarity alone; all other word matches follow. */
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
