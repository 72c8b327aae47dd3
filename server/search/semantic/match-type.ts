// How a hit was found, as the response tells it.
import type { SearchRow } from "../../../engine-wasm/host/programs/search-result.js";
import { type Compared, isNear } from "./nearest.js";

export type MatchType = "keyword" | "semantic" | "hybrid" | "pinned";

/** Neighbours that are not near were listed for the words that they have. */
export function matchTypeOf(
  { seq, matched, neighbour, hasWord }: Pick<SearchRow, "seq" | "matched" | "neighbour" | "hasWord">,
  compared: Compared,
): MatchType {
  if (!neighbour) return matched ? "keyword" : "pinned";
  if (!hasWord) return "semantic";
  return isNear(compared, seq) ? "hybrid" : "keyword";
}
