// Plans a query as described in docs/ranking.md: which words look misspelt, how each word may match, and with
// what weight. All counts are over all live documents.

import type { Alternative, Word } from "./score.js";
import { compareBytes } from "./segments/rows.js";
import {
  type Dictionary,
  type Expansion,
  expandWord,
  type Infix,
  infixesOf,
  type Typo,
  typosOf,
} from "./words/expand.js";
import { stemTerms } from "./words/markers.js";
import { judge, type LikelyTypo, type RankedTypo } from "./words/noisy-channel.js";
import type { QueryText, QueryWord } from "./words/text.js";
import { typoCost } from "./words/typo-cost.js";
import { looseSplits, type Variant } from "./words/variants.js";

export type TypoPolicy = "auto" | "always" | "missing";

/** The index's terms and document counts that a plan depends on, restricted to the queried fields. */
export interface Counts {
  dictionary: Dictionary;
  fieldCount: number;
  /** Numbers of the fields with `infix`. */
  infixFields: number[];
  documents: number;
  /** Returns the sequence numbers of the documents that contain any of the terms in a queried field. */
  documentsWith: (terms: string[]) => Set<number>;
}

/**
 * Words with all their alternatives. For each word that looks misspelt, `corrections` has the best spelling.
 */
export interface Weighed {
  words: Word[];
  corrections: (string | undefined)[];
}

interface Found extends Variant {
  /** Upper bound on the number of documents that contain the variant. */
  frequency: number;
}

const PREFIX_FACTOR = 0.8;
const NEXT_LETTER_FACTOR = 0.9;
const INFIX_FACTOR = 0.7;
const INFIX_LETTERS_MIN = 3;
const NEAR_TERMS_MAX = 64;
const TYPOS_MAX = 4;
const PRICED_MAX = 500;
const TYPOS_PER_WORD_MAX = 64;
const SPLITS_MAX = 3;
const NUMBER_SPLITS_MAX = 16;

export class Weigher {
  private readonly expansions: Expansion[];
  private readonly literal: number[];
  private readonly infixes: Infix[][];
  /**
   * For each word, an upper bound on the number of documents that contain it as typed (or as a prefix, if it
   * may be unfinished), inside a longer word, or as a variant whose terms need not be consecutive: the
   * largest of these counts. 0 if the word is unknown.
   */
  private readonly known: number[];
  private readonly variants: Found[];
  /** The near terms that asWritten chose for each word. */
  private written: LikelyTypo[][] = [];

  constructor(
    private readonly text: QueryText,
    variants: Variant[],
    private readonly languages: number[],
    private readonly counts: Counts,
    private readonly policy: TypoPolicy,
  ) {
    const { words } = text;
    this.expansions = words.map(({ terms }) => this.expand(terms[0]!));
    this.literal = words.map((word) => this.frequencyOf(word.terms, word.terms.length > 1, word.prefix));
    this.infixes = words.map((word) => this.containing(word));
    const found = this.present(variants);
    this.known = words.map((_, i) =>
      Math.max(
        this.literal[i]!,
        infixFrequency(this.infixes[i]!),
        ...found.filter((one) => one.covers.includes(i) && !one.sequence).map(({ frequency }) => frequency),
      ),
    );
    const loose = words.flatMap((word, i) => (this.known[i] === 0 ? looseSplits(word, i) : []));
    this.variants = bestSplits([...found, ...this.present(loose)]);
  }

  /**
   * Adds near terms for words that no document contains or, under "always", for every word. Under "auto", a
   * lone word also gets them if it occurs in at most one of every thousand documents, and in no more than
   * two.
   */
  asWritten(): Weighed {
    const typos = this.text.words.map((word, i) => {
      const isAlone = this.policy === "auto" && this.text.words.length === 1;
      const few = isAlone ? Math.min(2, Math.floor(this.counts.documents / 1000)) : 0;
      const isWanted = this.policy === "always" || this.known[i]! <= few;
      const wanted = isWanted ? this.typos(word, word.typosMax) : [];
      return mostUseful(word, this.atLast(word, i, wanted));
    });
    this.written = this.judged(typos, Infinity);
    return this.weighed(this.written);
  }

  /**
   * Also adds near terms for rare words that are probably typos of these terms. Returns null if there are
   * none.
   */
  withDoubts(): Weighed | null {
    const typos = this.text.words.map((word, i) =>
      this.isDoubtful(i) ? mostUseful(word, this.typos(word, Math.min(1, word.typosMax))) : [],
    );
    const doubts = this.judged(typos, 30).map((likely, i) => (typos[i]!.length === 0 ? null : likely));
    if (doubts.every((likely) => likely === null || likely.length === 0)) return null;
    return this.weighed(doubts.map((likely, i) => likely ?? this.written[i]!));
  }

  /**
   * True if the word may be a typo although documents contain it: it is rare, no longer word contains it and,
   * if it may be unfinished, few enough terms start with it to list them all.
   */
  private isDoubtful(i: number): boolean {
    const { prefixListed } = this.expansions[i]!;
    const isListed = !this.text.words[i]!.prefix || prefixListed;
    const isRare = this.known[i]! <= this.counts.documents * (1 / 100);
    return this.literal[i]! > 0 && isRare && isListed && this.infixes[i]!.length === 0;
  }

  private judged(typos: RankedTypo[][], doubt: number): LikelyTypo[][] {
    const { documentsWith, documents } = this.counts;
    const formsOf = (term: string): string[] => [term, ...stemTerms(term, this.languages)];
    const ownOf = ({ terms }: QueryWord): string[] => (terms.length > 1 ? [] : formsOf(terms[0]!));
    const context = this.text.words.flatMap((word, i) => {
      const frequency = this.frequencyOf(word.terms, word.terms.length > 1, false);
      const counts = frequency > 0 && word.terms.length === 1;
      return counts ? [{ i, documents: documentsWith(ownOf(word)), frequency }] : [];
    });
    const words = this.text.words.flatMap((word, i) => {
      if (typos[i]!.length === 0) return [];
      const { prefixTerms, prefixListed } = this.expansions[i]!;
      const complete = !word.prefix || prefixListed;
      const own = documentsWith([...ownOf(word), ...(word.prefix && complete ? prefixTerms : [])]);
      return [{ i, documents: own, complete, frequency: this.known[i]!, typos: typos[i]!, doubt }];
    });
    const likely = judge(words, context, documents, ({ term, isPrefix }) =>
      documentsWith(isPrefix ? [term] : formsOf(term)),
    );
    return this.text.words.map((_, i) => likely.get(i) ?? []);
  }

  private weighed(typos: LikelyTypo[][]): Weighed {
    const weights = this.text.words.map((_, i) => this.weight(i, typos[i]!));
    return {
      words: this.text.words.map((word, i) => ({
        weight: weights[i]!,
        alternatives: [
          ...this.own(word, i, weights[i]!),
          ...this.others(i, weights),
          ...this.inside(i, weights[i]!),
          ...this.misspellings(typos[i]!, weights[i]!),
        ].map((alternative) => ({ ...alternative, boost: alternative.boost * word.count })),
      })),
      corrections: typos.map(([best], i) =>
        best !== undefined && Math.max(...best.frequencies) > this.known[i]! ? best.term : undefined,
      ),
    };
  }

  private expand(term: string): Expansion {
    return expandWord(this.counts.dictionary, term, this.counts.fieldCount);
  }

  private present(variants: Variant[]): Found[] {
    return variants
      .map((one) => ({ ...one, frequency: this.frequencyOf(one.terms, one.sequence, one.prefix) }))
      .filter(({ frequency }) => frequency > 0);
  }

  /**
   * Upper bound on the number of documents that match the terms. If the terms must be consecutive, it is the
   * smallest of the terms' counts, each taken from the field with the largest count. Otherwise, the terms'
   * counts are added up per field, and the largest sum is returned.
   */
  private frequencyOf(terms: string[], sequence: boolean, prefix: boolean): number {
    const { dictionary, fieldCount } = this.counts;
    const counts = terms.map((term) => {
      const exact = dictionary.get(term) ?? Array.from({ length: fieldCount }, () => 0);
      const longer = prefix ? this.expand(term).prefixFrequencies : [];
      return exact.map((count, i) => count + (longer[i] ?? 0));
    });
    if (sequence) return Math.min(...counts.map((count) => Math.max(0, ...count)));
    return largestSum(counts);
  }

  private typos(word: QueryWord, distanceMax: number): Typo[] {
    if (distanceMax === 0) return [];
    return typosOf(this.counts.dictionary, word.terms[0]!, distanceMax, word.prefix);
  }

  /**
   * Allows more typos than usual for a word if no document contains it in any form and no term is within the
   * usual number of typos.
   */
  private atLast(word: QueryWord, i: number, typos: Typo[]): Typo[] {
    const isLost = this.known[i] === 0 && typos.length === 0 && word.typosMax > 0;
    return isLost ? this.typos(word, word.typosAtLast) : typos;
  }

  private weight(i: number, typos: LikelyTypo[]): number {
    const covering = this.variants.filter(({ covers }) => covers.includes(i));
    const { terms } = this.text.words[i]!;
    const [cheapest] = groupsOf(typos);
    const candidates = [
      covering.find(({ kind }) => kind === "stem")?.frequency,
      this.frequencyOf(terms, terms.length > 1, false),
      this.literal[i],
      Math.max(0, ...covering.map(({ frequency }) => frequency)),
      infixFrequency(this.infixes[i]!),
      largestSum(cheapest?.members.map(({ frequencies }) => frequencies) ?? []),
    ];
    const frequency = candidates.find((candidate) => (candidate ?? 0) > 0);
    return frequency === undefined ? 0 : this.inverseFrequency(frequency);
  }

  /** The word itself and its prefix. */
  private own({ terms, prefix }: QueryWord, i: number, weight: number): Alternative[] {
    const own: Alternative[] = [];
    const exact = this.frequencyOf(terms, terms.length > 1, false);
    if (exact > 0) {
      own.push({
        typos: 0,
        exact: true,
        sequence: terms.length > 1,
        useForProximity: true,
        boost: Math.min(this.inverseFrequency(exact), weight),
        terms: terms.map((term) => ({ term, prefix: false })),
      });
    }
    const { prefixTerms, prefixListed } = this.expansions[i]!;
    if (prefix && prefixTerms.length > 0) {
      const longer = { typos: 0, exact: false, sequence: false };
      const begun = Math.min(this.inverseFrequency(this.literal[i]!), weight);
      own.push({
        ...longer,
        useForProximity: prefixListed,
        boost: begun * PREFIX_FACTOR,
        terms: [{ term: terms[0]!, prefix: true }],
      });
      const isNext = (term: string): boolean => [...term].length === [...terms[0]!].length + 1;
      const next = prefixListed && exact === 0 ? prefixTerms.filter(isNext) : [];
      if (next.length > 0) {
        const whole = next.map((term) => ({ term, prefix: false }));
        own.push({ ...longer, useForProximity: false, boost: begun * NEXT_LETTER_FACTOR, terms: whole });
      }
    }
    return own;
  }

  private others(i: number, weights: number[]): Alternative[] {
    return this.variants
      .filter(({ covers }) => covers.includes(i))
      .map(({ covers, exact, sequence, prefix, terms, factor, frequency }) => {
        const most = covers.reduce((sum, word) => sum + weights[word]!, 0);
        return {
          typos: 0,
          exact,
          sequence,
          useForProximity: true,
          boost: most === 0 ? 0 : weights[i]! * Math.min(1, this.inverseFrequency(frequency) / most) * factor,
          terms: terms.map((term) => ({ term, prefix })),
        };
      });
  }

  /**
   * Returns longer words that contain the word. It must have at least three letters, must not be quoted, and
   * must consist of a single term.
   */
  private containing({ terms, quoted, prefix }: QueryWord): Infix[] {
    const { dictionary, infixFields } = this.counts;
    if (quoted || terms.length > 1 || [...terms[0]!].length < INFIX_LETTERS_MIN) return [];
    return infixesOf(dictionary, terms[0]!, infixFields, !prefix);
  }

  private inside(i: number, weight: number): Alternative[] {
    const infixes = this.infixes[i]!;
    if (infixes.length === 0) return [];
    const terms = infixes.map(({ term }) => term).sort(compareBytes);
    return [
      {
        typos: 1,
        exact: false,
        sequence: false,
        infixOnly: true,
        useForProximity: terms.length <= NEAR_TERMS_MAX,
        boost: Math.min(this.inverseFrequency(infixFrequency(infixes)), weight) * INFIX_FACTOR,
        terms: terms.map((term) => ({ term, prefix: false })),
      },
    ];
  }

  private misspellings(typos: LikelyTypo[], weight: number): Alternative[] {
    const likelier: LikelyTypo[] = [];
    return groupsOf(typos).flatMap(({ factor, members }) => {
      likelier.push(...members);
      const words = members.map(({ term }) => term);
      const stems = members.flatMap(({ term, isPrefix }) =>
        isPrefix ? [] : stemTerms(term, this.languages),
      );
      const idf = this.inverseFrequency(largestSum(likelier.map(({ frequencies }) => frequencies)));
      return [words, stems]
        .filter((terms) => terms.length > 0)
        .map((terms) => ({
          typos: members[0]!.typos,
          exact: false,
          sequence: false,
          useForProximity: true,
          boost: Math.min(idf, weight) * factor,
          terms: [...new Set(terms)].sort(compareBytes).map((term) => ({ term, prefix: false })),
        }));
    });
  }

  private inverseFrequency(frequency: number): number {
    const { documents } = this.counts;
    const df = Math.min(documents, frequency);
    return Math.log(1 + (documents - df + 0.5) / (df + 0.5));
  }
}

/**
 * Among several ways to split the same words, keeps the SPLITS_MAX ways (NUMBER_SPLITS_MAX if they contain
 * digits) whose rarer part is most frequent; on a tie, the earlier ones.
 */
function bestSplits(variants: Found[]): Found[] {
  return variants.filter((one) => {
    if (one.kind !== "split") return true;
    const rivals = variants.filter(
      ({ kind, covers }) => kind === "split" && covers.join() === one.covers.join(),
    );
    const better = rivals.filter(({ frequency }) => frequency > one.frequency).length;
    const equal = rivals.filter(({ frequency }) => frequency === one.frequency).indexOf(one);
    const digits = rivals.some(({ terms }) => terms.some((term) => /\p{N}/u.test(term)));
    return better + equal < (digits ? NUMBER_SPLITS_MAX : SPLITS_MAX);
  });
}

function infixFrequency(infixes: Infix[]): number {
  return largestSum(infixes.map(({ frequencies }) => frequencies));
}

function largestSum(counts: number[][]): number {
  const sums = counts.reduce((sum, count) => count.map((value, i) => value + (sum[i] ?? 0)), []);
  return Math.max(0, ...sums);
}

/**
 * Returns the likeliest near terms: fewest typos first, then the cheapest edits, with a discount for frequent
 * terms. Only PRICED_MAX terms are considered: those with the fewest edits, whole terms before prefixes, the
 * most frequent first.
 */
function mostUseful(word: QueryWord, typos: Typo[]): RankedTypo[] {
  const byFrequency = (a: Typo, b: Typo): number =>
    Math.max(...b.frequencies) - Math.max(...a.frequencies) || compareBytes(a.term, b.term);
  return [...typos]
    .sort((a, b) => a.distance - b.distance || Number(a.isPrefix) - Number(b.isPrefix) || byFrequency(a, b))
    .slice(0, PRICED_MAX)
    .map((typo) => {
      const edits = typoCost(word.terms[0]!, typo.term, word.prefix);
      const count = Math.max(1, Math.min(TYPOS_MAX, Math.ceil((edits - 10) / 100)));
      const doublings = Math.floor(Math.log2(Math.max(1, ...typo.frequencies)));
      return { ...typo, typos: count, edits, likelihood: edits - 5 * doublings };
    })
    .sort((a, b) => a.typos - b.typos || a.likelihood - b.likelihood || byFrequency(a, b))
    .slice(0, TYPOS_PER_WORD_MAX)
    .map(({ likelihood: _, ...typo }) => typo);
}

/**
 * For each number of typos, up to four groups of terms: those with the lowest cost, with the second lowest,
 * with the third lowest, and all others.
 */
function groupsOf(typos: LikelyTypo[]): { factor: number; members: LikelyTypo[] }[] {
  return [1, 2, 3, 4].flatMap((count) => {
    const equal = typos.filter((typo) => typo.typos === count);
    const costs = [...new Set(equal.map(({ cost }) => cost))];
    const told = costs.slice(0, 3).map((cost) => equal.filter((typo) => typo.cost === cost));
    return [...told, equal.filter(({ cost }) => costs.indexOf(cost) >= 3)]
      .filter((members) => members.length > 0)
      .map((members) => ({ factor: members[0]!.confidence, members }));
  });
}
