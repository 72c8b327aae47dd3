// Determines how a hit was found: by words, vectors or both, or only because it is pinned. The match type is
// part of the response.
import type { SearchRow } from "../../../engine-wasm/host/programs/search-result.js";
import { type Compared, isNear } from "./nearest.js";

export type MatchType = "keyword" | "semantic" | "hybrid" | "pinned";

/**
 * A neighbour that has some of the words but is not among the nearest documents counts as a keyword match.
 */
export function matchTypeOf(
  { seq, matched, neighbour, hasWord }: Pick<SearchRow, "seq" | "matched" | "neighbour" | "hasWord">,
  compared: Compared,
): MatchType {
  if (!neighbour) return matched ? "keyword" : "pinned";
  if (!hasWord) return "semantic";
  return isNear(compared, seq) ? "hybrid" : "keyword";
}
