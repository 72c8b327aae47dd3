// Judges the near terms of a query's words by the company they keep: asks all shards how many documents
// contain both a term and each of the query's other words, and leaves the decision to noisy-channel.ts.
import type { CandidateCompany } from "../../../engine-wasm/host/programs/company-result.js";
import type { Dictionaries } from "../../question/words/dictionaries.js";
import { inverseFrequency } from "../../question/words/inverse-frequency.js";
import {
  type Context,
  costOfWord,
  type LikelyTypo,
  likelyTypos,
  UNKNOWN_WORD,
} from "../../question/words/typos/noisy-channel.js";
import { largest, type RankedTypo } from "../../question/words/typos/ranked-typos.js";

/** A word whose documents serve as evidence for judging other words. */
export interface ContextWord {
  /** The word's number in the query. */
  readonly i: number;
  /** The terms that identify the word's documents. */
  readonly terms: readonly string[];
  /** Upper bound on the number of documents that contain the word. */
  readonly frequency: number;
}

/** A word that may be misspelt. */
export interface JudgedWord extends Omit<ContextWord, "terms"> {
  /**
   * The terms that identify the word's documents. Null if too many terms begin with the word, in which case
   * only its frequency is known.
   */
  readonly terms: readonly string[] | null;
  /** Near terms, best first. */
  readonly typos: readonly RankedTypo[];
}

/**
 * JUDGED_MAX is the maximum number of words judged by co-occurrence; the remaining words are judged by their
 * frequency. CONTEXT_MAX is the maximum number of words used as evidence; the rarest words are used.
 */
const JUDGED_MAX = 6;
const CONTEXT_MAX = 8;
/** Maximum number of near terms judged by co-occurrence per word. */
const CANDIDATES_MAX = 8;

/**
 * A near term is the clear best if the second best costs over this much more, that is, if it is more than 64
 * times less likely.
 */
const CLEAR = 30;

interface Request {
  readonly slots: readonly number[];
  readonly judged: readonly JudgedWord[];
  readonly context: readonly ContextWord[];
  /** How much more than the word a near term may cost. */
  readonly doubt: number;
  /** Returns all forms of a near term. */
  formsOf(typo: RankedTypo): readonly string[];
  readonly liveRows: number;
  searchesOf(term: string): number;
}

/**
 * Document counts of a judged word and its near terms, both in total and together with the query's other
 * words.
 */
interface Company {
  readonly context: Context;
  readonly typed: CandidateCompany;
  /** Counts of the first near terms, in order. */
  readonly near: readonly CandidateCompany[];
}

/** Returns the near terms that may have been meant, by word number. */
export async function judgeWords(
  request: Request,
  dictionaries: Pick<Dictionaries, "company">,
): Promise<ReadonlyMap<number, readonly LikelyTypo[]>> {
  const companies = await companiesOf(request, dictionaries);
  return new Map(
    request.judged.map((word) => {
      const company = companies.get(word.i) ?? withoutCompany(word, request.liveRows);
      const costs = word.typos.map((typo, at) =>
        costOfWord(company.near[at] ?? keepingNone(typo.frequencies, company.context), company.context),
      );
      const own = word.frequency === 0 ? UNKNOWN_WORD : costOfWord(company.typed, company.context);
      const typed = { cost: own, doubt: request.doubt };
      return [word.i, likelyTypos(word.typos, costs, typed, request.searchesOf)];
    }),
  );
}

/** Sends no request if there are no words to judge, or no other words to judge them by. */
async function companiesOf(
  { slots, judged, context, formsOf, liveRows }: Request,
  dictionaries: Pick<Dictionaries, "company">,
): Promise<ReadonlyMap<number, Company>> {
  const others = rarest(context);
  const asked = judged
    .filter(isListed)
    .filter((word) => !isClear(word, liveRows) && others.some(({ i }) => i !== word.i))
    .slice(0, JUDGED_MAX)
    .map(({ i, terms, typos }) => ({ i, sets: [terms, ...typos.slice(0, CANDIDATES_MAX).map(formsOf)] }));
  if (asked.length === 0) return new Map();
  const words = others.map(({ terms }) => terms);
  const answer = await dictionaries.company({ slots, words, candidates: asked.flatMap(({ sets }) => sets) });
  const weighed = answer.words.map((documents) => ({
    documents,
    weight: inverseFrequency(documents, answer.liveRows),
  }));
  const counts = answer.candidates.values();
  return new Map(
    asked.map(({ i, sets }) => {
      const [typed, ...near] = sets.map(() => counts.next().value as CandidateCompany);
      const beside = (company: CandidateCompany): CandidateCompany => ({
        ...company,
        together: company.together.filter((_, j) => others[j]?.i !== i),
      });
      return [
        i,
        {
          context: { liveRows: answer.liveRows, words: weighed.filter((_, j) => others[j]?.i !== i) },
          typed: beside(typed as CandidateCompany),
          near: near.map(beside),
        },
      ];
    }),
  );
}

function isListed(word: JudgedWord): word is JudgedWord & ContextWord {
  return word.terms !== null;
}

/**
 * True if one of an unknown word's near terms is so much likelier than the others that co-occurrence would
 * rarely change the choice.
 */
function isClear({ frequency, typos }: JudgedWord, liveRows: number): boolean {
  if (typos.length === 0) return true;
  if (frequency > 0) return false;
  const costs = typos.map(({ edits, frequencies }) => {
    return edits + costOfWord({ documents: largest(frequencies), together: [] }, { liveRows, words: [] });
  });
  const [best = 0, second = Number.POSITIVE_INFINITY] = costs.sort((a, b) => a - b);
  return second > best + CLEAR;
}

function rarest(context: readonly ContextWord[]): ContextWord[] {
  return [...context].sort((a, b) => a.frequency - b.frequency || a.i - b.i).slice(0, CONTEXT_MAX);
}

function withoutCompany({ frequency }: JudgedWord, liveRows: number): Company {
  return { context: { liveRows, words: [] }, typed: { documents: frequency, together: [] }, near: [] };
}

/**
 * Counts for a term that was not looked up, which is assumed to occur with none of the query's other words.
 */
function keepingNone(frequencies: readonly number[], { words }: Context): CandidateCompany {
  return { documents: largest(frequencies), together: words.map(() => 0) };
}
