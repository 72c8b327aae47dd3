// Finds where sentences and clauses start, based on the characters between two tokens. This is good enough to
// begin a snippet, but does not know grammar: an abbreviation before a capital letter is mistaken for the end
// of a sentence.
import type { Token } from "../../engine-wasm/host/instance/workbench.js";

export type TextBreak = "sentence" | "clause" | null;

/** Ends a sentence, unless the next word is in lower case, as after "approx. ". */
const FULL_STOP = /[.!?…][\p{Pe}\p{Pf}"']*\s/u;
const CERTAIN_END = /[。！？\n\r]/u;
/**
 * Punctuation between words. Most marks count only next to a space, because without one they may be inside a
 * word, as in 12:30.
 */
const CLAUSE = /[,;:)\]]\s|\s[-([]|[–—、，；：（）]/u;
const LOWER_CASE = /^\p{Ll}/u;

/** Returns the kind of break before token `i`, if there is one. */
export function breakBefore(text: Buffer, tokens: readonly Token[], i: number): TextBreak {
  const token = tokens[i] as Token;
  const before = tokens[i - 1];
  if (before === undefined) return "sentence";
  const between = text.toString("utf8", before.end, token.start);
  if (CERTAIN_END.test(between)) return "sentence";
  if (FULL_STOP.test(between) && !LOWER_CASE.test(text.toString("utf8", token.start, token.end)))
    return "sentence";
  return CLAUSE.test(between) ? "clause" : null;
}
