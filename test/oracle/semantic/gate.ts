// Chooses the mode that answers a query, as specified in docs/semantic.md ("The four modes"), by checking the
// conditions one after another. Depends only on the query and on the number of documents with all its words.
import type { Query } from "../query.js";
import type { QueryText } from "../words/text.js";

/** "keyword", "semantic" or "hybrid". */
export function modeOf(query: Query, text: QueryText, fullMatches: number, fullMatchesMax: number): string {
  const asked = query.search_mode ?? "auto";
  const lists = query.q.trim() === "*" || query.q.trim() === "";
  if (asked === "keyword" || (lists && query.vector === undefined)) return "keyword";
  if (asked !== "auto") return asked;
  const sorted = query.sort_by !== undefined && !query.sort_by.startsWith("_text_match:");
  const meant = text.phrases.length > 0 || text.excludes.length > 0;
  const words = text.terms.filter((term) => /^\P{N}{3,}$/u.test(term));
  const isNumber = words.length === 0 && text.terms.some((term) => /\p{N}/u.test(term));
  const isShort = [...text.terms.join("")].length < 3;
  const literal = lists || sorted || meant || isNumber || isShort || fullMatches >= fullMatchesMax;
  return literal ? "keyword" : "hybrid";
}
