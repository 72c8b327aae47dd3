// Combines word scores and vector similarities into one order. The result is a list of neighbours with points
// for the search program. In principle, each kind of score is divided by its largest value in the query, and
// the two are added with weights. Because only the order matters, word scores stay unchanged and cosines are
// converted to the scale of word scores. Pure functions; docs/ranking.md contains the formula.
import type { Neighbour, Neighbours } from "../../../engine-wasm/host/programs/neighbours.js";
import type { Compared } from "./nearest.js";

/** Weight of the cosine, chosen on judged query sets (docs/semantic.md). */
const COSINE_SHARE = 0.35;

export interface Candidates {
  /** The nearest documents (`isNear`) and the documents that best match the words (`isOther`). */
  readonly compared: Compared;
  /** The largest relevance of any word match. */
  readonly relevanceMax: number;
  /** Minimum cosine for a document that contains none of the words. */
  readonly similarityMin: number;
}

/** Ranks by words and similarity together: a document's points are added to its word score. */
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

/** Ranks the nearest documents first, by similarity alone. All other documents with the words follow. */
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
