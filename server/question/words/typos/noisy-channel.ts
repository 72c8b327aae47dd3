// Chooses which near terms the user may have meant by a typed word, using a noisy channel (Kernighan, Church
// and Gale 1990, "A Spelling Correction Program Based on a Noisy Channel Model"). A term is likelier the
// cheaper the edits are (typo-cost.ts) and the more documents contain it, especially documents that contain
// the query's other words. Probabilities are represented as costs: a cost higher by 5 means half as likely.
// Pure; docs/ranking.md explains the reasons.
import type { CandidateCompany } from "../../../../engine-wasm/host/programs/company-result.js";
import type { RankedTypo } from "./ranked-typos.js";

/** A term that costs this much more is half as likely. */
const HALF = 5;
/** Cost of a word that occurs in no document, if it was nevertheless typed correctly. */
export const UNKNOWN_WORD = 145;
/**
 * Weight, in a word's probability, of the word's share of all documents. The remaining weight goes to the
 * word's share of the documents with the query's other words.
 */
const ALONE = 0.1;
/**
 * Added to a word's number of documents, so that a word in no document is unlikely rather than impossible.
 */
const UNSEEN = 0.5;
const CONFIDENCE_LEAST = 0.2;
const CONFIDENCE_MOST = 0.9;
/** Each time a term's cost falls by this amount, the odds that it was meant double. */
const CONFIDENCE_STEP = 10;
/** Maximum number of near terms per word that are searched for. */
const LIKELY_MAX = 16;
/** Past searches for a term make it likelier, but no more than this many are counted. */
const SEARCHES_MAX = 256;

/** A near term and how likely it was meant. */
export interface LikelyTypo extends RankedTypo {
  /** Cost of the edits plus cost of the term itself. */
  readonly cost: number;
  /** Confidence that the term was meant, from 0.2 to 0.9. */
  readonly confidence: number;
}

/** What a word is judged by: the number of documents in the index, and the query's other words. */
export interface Context {
  readonly liveRows: number;
  readonly words: readonly ContextCount[];
}

/** Number of documents that contain one of the query's other words, and that word's weight as evidence. */
export interface ContextCount {
  readonly documents: number;
  readonly weight: number;
}

/** The typed word, with which near terms are compared. */
export interface TypedWord {
  /** The word's cost, assuming that it was meant as typed. */
  readonly cost: number;
  /** Near terms whose cost exceeds the typed word's cost by more than this amount are not considered. */
  readonly doubt: number;
}

/**
 * Returns the cost of a word, given the query's other words. The word's probability mixes two shares (Jelinek
 * and Mercer 1980): its share of all documents, and its share of the documents with each of the other words,
 * averaged with more weight on rare words. `together` is in the order of the context's words. The index must
 * not be empty.
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
 * Returns the near terms that the user may have meant: fewest typos first, then the likeliest. `costs` are
 * the costs of the terms themselves; `searchesOf` returns the number of recent searches for a term.
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
