// Decides whether a query is answered by words, by vectors or by both. Pure functions.
import type { SearchMode } from "../../query-log/rows/journal.js";
import type { AskedMode } from "../../question/request/query-request.js";
import type { QueryText } from "../../question/words/query-text.js";

export interface GateQuestion {
  readonly asked: AskedMode;
  /** True if the query lists documents instead of searching for words. */
  readonly browse: boolean;
  readonly text: QueryText;
  /** True if the client sorts by something other than relevance. */
  readonly sorted: boolean;
  /** True if the client sent a vector. */
  readonly hasVector: boolean;
  /** Number of documents that match all words. */
  readonly fullMatches: number;
  /** If at least this many documents match all words, `auto` uses only words. */
  readonly fullMatchesMax: number;
}

const LETTERS_MIN = 3;
const WORD_LETTERS_MIN = 3;
const DIGIT = /\p{N}/u;

/**
 * Returns the mode to try. If it turns out that there are no vectors, the query is answered by words. `auto`
 * uses vectors only if words find little, and not if the words are meant literally or if the sort would put
 * merely similar documents first.
 */
export function modeOf(question: GateQuestion): SearchMode {
  const { asked, browse, text, sorted, hasVector, fullMatches, fullMatchesMax } = question;
  if (asked === "keyword") return "keyword";
  if (browse && !hasVector) return "keyword";
  if (asked !== "auto") return asked;
  if (browse || sorted || fullMatches >= fullMatchesMax) return "keyword";
  if (text.phrases.length > 0 || text.excludes.length > 0) return "keyword";
  return isShort(text) || isPartNumber(text) ? "keyword" : "hybrid";
}

function isShort({ terms }: QueryText): boolean {
  return terms.reduce((letters, term) => letters + [...term].length, 0) < LETTERS_MIN;
}

/**
 * True if the query consists of a part number such as `AB-123/4`: some terms have digits, and none is a word.
 */
function isPartNumber({ terms }: QueryText): boolean {
  const isWord = (term: string): boolean => !DIGIT.test(term) && [...term].length >= WORD_LETTERS_MIN;
  return terms.some((term) => DIGIT.test(term)) && !terms.some(isWord);
}
