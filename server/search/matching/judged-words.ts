// Judges a word's near terms by how often they occur together with the query's other words. Asks all shards
// how many documents contain both a near term and each of those words, and leaves the decision to
// noisy-channel.ts.
import type { CandidateCompany } from "../../../engine-wasm/host/programs/company-result.js";
import type { Work } from "../../ground/jobs/work.js";
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
  /** The word's documents are those that contain any of these terms. */
  readonly terms: readonly string[];
  /** Upper bound on the number of documents that contain the word. */
  readonly frequency: number;
}

/** A word that may be misspelt. */
export interface JudgedWord extends Omit<ContextWord, "terms"> {
  /**
   * The word's documents are those that contain any of these terms. Null if the word is the beginning of too
   * many terms; then only its frequency is known.
   */
  readonly terms: readonly string[] | null;
  /** Near terms, best first. */
  readonly typos: readonly RankedTypo[];
}

/**
 * JUDGED_MAX is the maximum number of words judged by co-occurrence; the other words are judged by their
 * frequency. CONTEXT_MAX is the maximum number of words that serve as evidence, and the rarest words are
 * chosen.
 */
const JUDGED_MAX = 6;
const CONTEXT_MAX = 8;
/** Maximum number of near terms per word that are judged by co-occurrence. */
const CANDIDATES_MAX = 8;

/**
 * The best near term is clear if the second-best costs over this much more, that is, if it is more than 64
 * times less likely.
 */
const CLEAR = 30;

interface Request {
  readonly slots: readonly number[];
  readonly judged: readonly JudgedWord[];
  readonly context: readonly ContextWord[];
  /** A near term's cost may exceed the word's cost by this much. */
  readonly doubt: number;
  /**
   * Returns the terms that count as occurrences of a near term: the term and, unless it is a prefix, its
   * stems.
   */
  formsOf(typo: RankedTypo): readonly string[];
  readonly liveRows: number;
  searchesOf(term: string): number;
}

/**
 * How many documents contain the judged word and each of its near terms, in total and together with the
 * query's other words.
 */
interface Company {
  readonly context: Context;
  readonly typed: CandidateCompany;
  /** Counts of the first near terms, in order. */
  readonly near: readonly CandidateCompany[];
}

/** Returns the near terms that the user may have meant, by the number of the word that they replace. */
export function* judgeWords(
  request: Request,
  dictionaries: Pick<Dictionaries, "company">,
): Work<ReadonlyMap<number, readonly LikelyTypo[]>> {
  const companies = yield* companiesOf(request, dictionaries);
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

/**
 * Asks the shards about co-occurrence. Returns counts by word number, only for words that need judging and
 * have other words beside them.
 */
function* companiesOf(
  { slots, judged, context, formsOf, liveRows }: Request,
  dictionaries: Pick<Dictionaries, "company">,
): Work<ReadonlyMap<number, Company>> {
  const others = rarest(context);
  const asked = judged
    .filter(isListed)
    .filter((word) => !isClear(word, liveRows) && others.some(({ i }) => i !== word.i))
    .slice(0, JUDGED_MAX)
    .map(({ i, terms, typos }) => ({ i, sets: [terms, ...typos.slice(0, CANDIDATES_MAX).map(formsOf)] }));
  if (asked.length === 0) return new Map();
  const words = others.map(({ terms }) => terms);
  const answer = yield* dictionaries.company({ slots, words, candidates: asked.flatMap(({ sets }) => sets) });
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
 * True if asking about co-occurrence is not worth it: there are no near terms, or no document contains the
 * word and one near term is far likelier than the others.
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
