// Chooses the near term that was meant by a typed word, using a noisy channel (Kernighan, Church and Gale
// 1990, "A Spelling Correction Program Based on a Noisy Channel Model"): a term is more likely the cheaper
// the edits are (typo-cost.ts) and the more documents have it, especially documents with the query's other
// words. Probabilities are represented as costs: 5 more means half as likely. Pure; docs/ranking.md has the
// reasons.
import type { CandidateCompany } from "../../../../engine-wasm/host/programs/company-result.js";
import type { RankedTypo } from "./ranked-typos.js";

/** If a cost is larger by this amount, the term is half as likely. */
const HALF = 5;
/** Cost of the assumption that a word that no document has was typed correctly. */
export const UNKNOWN_WORD = 145;
/** The part of a word's probability that does not depend on the query's other words. */
const ALONE = 0.1;
/** Added to the number of documents with a word, so that a word without documents is not impossible. */
const UNSEEN = 0.5;
const CONFIDENCE_LEAST = 0.2;
const CONFIDENCE_MOST = 0.9;
/** If a term is cheaper by this amount, the odds that it was meant double. */
const CONFIDENCE_STEP = 10;
/** Maximum number of near terms searched per word. */
const LIKELY_MAX = 16;
/** More searches for a term than this have no further effect. */
const SEARCHES_MAX = 256;

/** A near term with its probability. */
export interface LikelyTypo extends RankedTypo {
  /** Cost of the edits plus cost of the term itself. */
  readonly cost: number;
  /** Confidence that the term was meant, from 0.2 to 0.9. */
  readonly confidence: number;
}

/** The documents of the index, and the words used to judge a word. */
export interface Context {
  readonly liveRows: number;
  readonly words: readonly ContextCount[];
}

/** Number of documents with a context word, and its weight as evidence. */
export interface ContextCount {
  readonly documents: number;
  readonly weight: number;
}

/** A typed word, compared with its near terms. */
export interface TypedWord {
  /** Cost of the assumption that this word was meant. */
  readonly cost: number;
  /** Terms that cost more than this in addition to the word's own cost are not considered. */
  readonly doubt: number;
}

/**
 * Cost of a word given the query's other words: the word's share of the documents with each other word,
 * weighted towards rare ones, mixed with its share of all documents (Jelinek and Mercer 1980). `together` is
 * in the order of the context's words. The index must not be empty.
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
 * The near terms of a word that may have been meant: fewest typos first, then the likeliest. `costs` are the
 * costs of the terms themselves; `searchesOf` returns the number of recent searches for a term.
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
