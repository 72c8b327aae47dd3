// Chooses which near term a typed word was meant to be, using a noisy channel (Kernighan, Church and Gale
// 1990, "A Spelling Correction Program Based on a Noisy Channel Model"). A term is likelier the cheaper the
// edits are (typo-cost.ts) and the more documents contain it, especially documents that contain the query's
// other words. Probabilities are represented as costs: a cost higher by 5 means half as likely. Pure;
// docs/ranking.md explains the reasons.
import type { CandidateCompany } from "../../../../engine-wasm/host/programs/company-result.js";
import type { RankedTypo } from "./ranked-typos.js";

/** A term that costs this much more is half as likely. */
const HALF = 5;
/** Cost of assuming that an unknown word, one that occurs in no document, was typed correctly. */
export const UNKNOWN_WORD = 145;
/** The share of a word's probability that does not depend on the query's other words. */
const ALONE = 0.1;
/**
 * Added to the number of documents that contain a word, so that a word without documents is not impossible.
 */
const UNSEEN = 0.5;
const CONFIDENCE_LEAST = 0.2;
const CONFIDENCE_MOST = 0.9;
/** If a term costs this much less, the odds that it was meant double. */
const CONFIDENCE_STEP = 10;
/** Maximum number of near terms searched per word. */
const LIKELY_MAX = 16;
/** Searches for a term beyond this number have no further effect. */
const SEARCHES_MAX = 256;

/** A near term and its probability. */
export interface LikelyTypo extends RankedTypo {
  /** Cost of the edits plus cost of the term itself. */
  readonly cost: number;
  /** Confidence that the term was meant, from 0.2 to 0.9. */
  readonly confidence: number;
}

/** The index's documents, and the words used to judge a word. */
export interface Context {
  readonly liveRows: number;
  readonly words: readonly ContextCount[];
}

/** Number of documents that contain a context word, and its weight as evidence. */
export interface ContextCount {
  readonly documents: number;
  readonly weight: number;
}

/** A typed word, to be compared with its near terms. */
export interface TypedWord {
  /** Cost of assuming that the word was meant as typed. */
  readonly cost: number;
  /** Terms that cost more than the word's own cost plus this amount are not considered. */
  readonly doubt: number;
}

/**
 * Returns a word's cost given the query's other words. The probability is the word's share of the documents
 * that contain each other word, weighted towards rare words, mixed with its share of all documents (Jelinek
 * and Mercer 1980). `together` is in the order of the context's words. The index must not be empty.
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
 * Returns the near terms that may have been meant: fewest typos first, then the likeliest. `costs` are the
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
