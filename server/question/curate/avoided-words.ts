// Builds the rule for words that a query softly excludes. Documents with such a word are ranked lower, but
// not hidden, because a document may mention a word only to say that it lacks the thing.
import { RULES_MAX } from "../../../engine-wasm/assembly/layout.js";
import { FilterWriter } from "../../../engine-wasm/host/programs/filter-program.js";
import type { SearchRule } from "../../../engine-wasm/host/programs/search-program.js";
import type { TextAnalyser } from "../../catalog/schema/text-analyser.js";
import { SkeinError } from "../../ground/errors.js";
import { stemTerms } from "../words/variants.js";

/** Weight of a boost rule that doubles a document's relevance. */
const LIFT = 10;

/**
 * The two alternative rules for avoided words. One of them is appended to the shop's rules, so it applies
 * only to documents that none of the shop's rules affects.
 */
export interface AvoidingRules {
  /** Ranks documents with an avoided word after all others. */
  readonly bury: SearchRule;
  /**
   * Boosts documents without an avoided word. Among documents with equally many of the query's words, they
   * come first.
   */
  readonly lift: SearchRule;
}

/**
 * Returns the rules for documents that contain any of the avoided words or phrases in any of the slots. Null
 * if there are no avoided words. Throws SkeinError SK-SE-400 if the shop's fired rules already fill the
 * program.
 */
export function avoidingRules(
  avoided: readonly string[],
  slots: readonly number[],
  languages: readonly number[],
  analyser: TextAnalyser,
  shopRules: number,
): AvoidingRules | null {
  if (avoided.length === 0) return null;
  const spellings = avoided.flatMap((text) => spellingsOf(analyser.terms(text), languages));
  const having = new FilterWriter();
  for (const slot of slots) {
    for (const terms of spellings) {
      having.tokens(slot, terms);
      if (having.operations > 1) having.or();
    }
  }
  if (having.operations === 0) return null;
  if (shopRules >= RULES_MAX)
    throw new SkeinError("SK-SE-400", "too many ranking rules fire for unwanted words to be ranked lower");
  const filter = having.finish();
  const lacking = new FilterWriter();
  lacking.append(filter);
  lacking.not();
  return {
    bury: { effect: "bury", weight: 0, filter },
    lift: { effect: "boost", weight: LIFT, filter: lacking.finish() },
  };
}

/** Returns the word's terms, to be found side by side, and its stems if it has only one term. */
function spellingsOf(terms: readonly string[], languages: readonly number[]): (readonly string[])[] {
  if (terms.length === 0) return [];
  const [first] = terms as [string];
  return terms.length > 1 ? [terms] : [terms, ...stemTerms(first, languages).map((stem) => [stem])];
}
