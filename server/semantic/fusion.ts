// How what words find and what vectors find becomes one order: neighbours with points for the search program. Both scores
// are divided by the largest one of the query, and the cosine has its share of the sum. Since only the order matters, the
// words' part stays as it is and the cosine's part is brought to its scale. Pure; docs/ranking.md has the formula.
import type { Neighbour, Neighbours } from "../../engine-wasm/host/programs/neighbours.js";
import type { Similarities } from "./similarities.js";

/** Of the sum: found on judged sets (docs/semantic.md). */
const COSINE_SHARE = 0.35;

export interface SimilarDocument {
  readonly seq: number;
  /** Cosine. */
  readonly similarity: number;
}

export interface Candidates {
  /** The nearest documents, nearest first. */
  readonly near: readonly SimilarDocument[];
  /** The documents that words find best, best first, with the largest relevance. */
  readonly words: readonly Pick<SimilarDocument, "seq">[];
  readonly relevanceMax: number;
  /** Of all candidates. */
  readonly similarities: Similarities;
  /** A document without any of the words needs this much. */
  readonly similarityMin: number;
}

/** Both ways of finding count. */
export function addedNeighbours(candidates: Candidates): Neighbours {
  const { near, words, relevanceMax, similarities, similarityMin } = candidates;
  const cosineMax = similarities.largest;
  const scale = cosineMax === 0 ? 0 : (COSINE_SHARE / (1 - COSINE_SHARE)) * (relevanceMax / cosineMax);
  const rows: Neighbour[] = [];
  const listed = new Set<number>();
  for (const { seq, similarity } of near) {
    if (similarity < similarityMin) continue;
    listed.add(seq);
    rows.push({ seq, points: scale * Math.max(0, similarity), matches: true });
  }
  for (const { seq } of words) {
    if (listed.has(seq)) continue;
    rows.push({ seq, points: scale * Math.max(0, similarities.of(seq) ?? 0), matches: true });
  }
  return { place: "added", rows };
}

/** Only nearness counts; what words find besides comes behind. */
export function firstNeighbours({ near, similarityMin, words }: Candidates): Neighbours {
  const worded = new Set(words.map(({ seq }) => seq));
  const rows = near
    .filter(({ seq, similarity }) => similarity >= similarityMin || worded.has(seq))
    .map(({ seq, similarity }) => ({ seq, points: 1 + similarity, matches: true }));
  return { place: "first", rows };
}
