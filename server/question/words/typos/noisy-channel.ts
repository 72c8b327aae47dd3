// Which near term somebody meant who typed a word, by a noisy channel (Kernighan, Church and Gale 1990, "A Spelling
// Correction Program Based on a Noisy Channel Model"): a term is the likelier, the cheaper the edits are (typo-cost.ts) and
// the more documents have it, above all documents with the query's other words. Chances are kept as costs: 5 more are half
// as likely. Pure; docs/ranking.md has the reasons.
import type { CandidateCompany } from "../../../../engine-wasm/host/programs/company-result.js";
import type { RankedTypo } from "./ranked-typos.js";

/** A cost that is larger by this is half as likely. */
const HALF = 5;
/** What it costs that somebody typed a right word which no document has. */
export const UNKNOWN_WORD = 145;
/** How much of a word's chance the query's other words do not change. */
const ALONE = 0.1;
/** Added to the documents of a word, so that one which no document has is not impossible. */
const UNSEEN = 0.5;
const CONFIDENCE_LEAST = 0.2;
const CONFIDENCE_MOST = 0.9;
/** The odds that a term was meant double when it is cheaper by this. */
const CONFIDENCE_STEP = 10;
/** So many near terms of a word are searched. */
const LIKELY_MAX = 16;
/** So many popular searches count. */
const SEARCHES_MAX = 256;

/** A near term with its chance. */
export interface LikelyTypo extends RankedTypo {
  /** Of the edits and of the term itself. */
  readonly cost: number;
  /** How sure it is that the term was meant, 0.2 to 0.9. */
  readonly confidence: number;
}

/** The documents of the index, and the words that a word is judged by. */
export interface Context {
  readonly liveRows: number;
  readonly words: readonly ContextCount[];
}

/** How many documents have a word, and how much it tells. */
export interface ContextCount {
  readonly documents: number;
  readonly weight: number;
}

/** A word that was typed, as what its near terms are compared with. */
export interface TypedWord {
  /** What it costs that this word was meant. */
  readonly cost: number;
  /** Terms are wanted that cost at most so much more. */
  readonly doubt: number;
}

/**
 * What a word costs where the query's other words stand: its share of their documents, rare ones counting more, mixed with
 * its share of all documents (Jelinek and Mercer 1980). `together` has the order of the context's words. Requires a document.
 */
export function costOfWord({ documents, together }: CandidateCompany, { liveRows, words }: Context): number {
  const alone = (documents + UNSEEN) / liveRows;
  let sum = 0;
  let weights = 0;
  for (const [i, other] of words.entries()) {
    if (other.documents === 0) continue;
    weights += other.weight;
    sum += (other.weight * (together[i] as number)) / other.documents;
  }
  const share = weights === 0 ? alone : ALONE * alone + (1 - ALONE) * (sum / weights);
  return -HALF * Math.log2(share);
}

/**
 * Those of a word's near terms that may have been meant: fewest typos first, then the likeliest. `costs` are the terms' own;
 * `searchesOf` is how often people searched for a term lately.
 */
export function likelyTypos(
  typos: readonly RankedTypo[],
  costs: readonly number[],
  typed: TypedWord,
  searchesOf: (term: string) => number,
): LikelyTypo[] {
  const likely: LikelyTypo[] = [];
  for (const [i, typo] of typos.entries()) {
    const doublings = Math.floor(Math.log2(1 + Math.min(searchesOf(typo.term), SEARCHES_MAX)));
    const cost = typo.edits + costs[i]! - HALF * doublings;
    if (cost <= typed.cost + typed.doubt)
      likely.push({ ...typo, cost, confidence: confidence(cost - typed.cost) });
  }
  return likely.sort((a, b) => a.typos - b.typos || a.cost - b.cost).slice(0, LIKELY_MAX);
}

function confidence(dearer: number): number {
  return CONFIDENCE_LEAST + (CONFIDENCE_MOST - CONFIDENCE_LEAST) / (1 + 2 ** (dearer / CONFIDENCE_STEP));
}
