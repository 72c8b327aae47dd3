// Determines how a hit was found: by words, vectors or both, or only because it is pinned. The match type is
// part of the response.
import { hasWord, isMatched, isNeighbour } from "../../../engine-wasm/host/programs/search-result.js";
import { type Compared, isNear } from "./nearest.js";

export type MatchType = "keyword" | "semantic" | "hybrid" | "pinned";

/**
 * A neighbour that has some of the words but is not among the nearest documents counts as a keyword match.
 */
export function matchTypeOf(flags: number, seq: number, compared: Compared): MatchType {
  if (!isNeighbour(flags)) return isMatched(flags) ? "keyword" : "pinned";
  if (!hasWord(flags)) return "semantic";
  return isNear(compared, seq) ? "hybrid" : "keyword";
}
