// Converts cosines to points, as specified in docs/ranking.md. A hybrid query adds them to the points for its
// words; a semantic query uses them alone.
import type { Neighbours } from "../score.js";

const COSINE_SHARE = 0.35;

export interface Near {
  /** Sorted, nearest first. */
  nearest: readonly { seq: number; cosine: number }[];
  /** Documents that contain any of the words, best first. */
  worded: readonly number[];
  relevanceMax: number;
  /** Null for a document without a vector. */
  cosineOf(seq: number): number | null;
  cosineMin: number;
}

export function neighboursOf(mode: string, near: Near): Neighbours {
  const { nearest, worded, relevanceMax, cosineOf, cosineMin } = near;
  if (mode === "semantic") {
    const kept = nearest.filter(({ seq, cosine }) => cosine >= cosineMin || worded.includes(seq));
    return {
      place: "first",
      rows: kept.map(({ seq, cosine }) => ({ seq, points: 1 + cosine, matches: true })),
    };
  }
  const cosines = [...nearest.map(({ seq }) => seq), ...worded].map((seq) => Math.max(0, cosineOf(seq) ?? 0));
  const cosineMax = Math.max(0, ...cosines);
  const alike = nearest.filter(({ cosine }) => cosine >= cosineMin).map(({ seq }) => seq);
  const scale = cosineMax === 0 ? 0 : (COSINE_SHARE / (1 - COSINE_SHARE)) * (relevanceMax / cosineMax);
  const rows = [...new Set([...alike, ...worded])].map((seq) => {
    return { seq, points: scale * Math.max(0, cosineOf(seq) ?? 0), matches: true };
  });
  return { place: "added", rows };
}
