// How a hit was found, as the response tells it.
import type { SearchRow } from "../../engine-wasm/host/programs/search-result.js";

export type MatchType = "keyword" | "semantic" | "hybrid" | "pinned";

/** `near`: the seqs of the documents that vectors have found. Other neighbours were listed for the words that they have. */
export function matchTypeOf(
  { seq, matched, neighbour, hasWord }: Pick<SearchRow, "seq" | "matched" | "neighbour" | "hasWord">,
  near: ReadonlySet<number>,
): MatchType {
  if (!neighbour) return matched ? "keyword" : "pinned";
  if (!hasWord) return "semantic";
  return near.has(seq) ? "hybrid" : "keyword";
}
