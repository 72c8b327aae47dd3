// The decisions about a query that docs/ranking.md describes: which of its words look misspelt, in which ways each
// may match and at what weight. All counts are over all live documents.

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
import type { QueryText, QueryWord } from "./words/text.js";
import { typoCost } from "./words/typo-cost.js";
import { looseSplits, type Variant } from "./words/variants.js";

export type TypoPolicy = "auto" | "always" | "missing";

/** One state of the index as one choice of fields sees it. */
export interface Counts {
  dictionary: Dictionary;
  fieldCount: number;
  /** Numbers of the fields with `infix`. */
  infixFields: number[];
  documents: number;
}

/** Words with all that may stand for them, and the best spelling of those that were taken for misspelt. */
export interface Weighed {
  words: Word[];
  corrections: (string | undefined)[];
}

interface Found extends Variant {
  /** Documents that may have it, at most. */
  frequency: number;
}

interface RankedTypo extends Typo {
  typos: number;
  /** Smaller is likelier. */
  likelihood: number;
}

const PREFIX_FACTOR = 0.8;
const INFIX_FACTOR = 0.7;
const INFIX_LETTERS_MIN = 3;
const NEAR_TERMS_MAX = 64;
const TYPO_FACTORS = [0.6, 0.4, 0.25, 0.15];
const LIKELIHOOD_FACTORS = [1, 0.85, 0.7];
const TYPOS_MAX = 4;
const PRICED_MAX = 500;
const TYPOS_PER_WORD_MAX = 64;
const SPLITS_MAX = 3;
const NUMBER_SPLITS_MAX = 16;

export class Weigher {
  private readonly expansions: Expansion[];
  private readonly literal: number[];
  private readonly infixes: Infix[][];
  /** Documents with a word in a form that makes it known. */
  private readonly known: number[];
  private readonly variants: Found[];

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

  /** With typos for the words that look misspelt. */
  asWritten(): Weighed {
    return this.weighed((word, i) => this.suspectedTypos(word, i));
  }

  /** With all typos that the lengths of the words allow. */
  withAllTypos(): Weighed {
    return this.weighed((word) => this.typos(word, word.typosMax));
  }

  private weighed(typosFor: (word: QueryWord, i: number) => Typo[]): Weighed {
    const typos = this.text.words.map((word, i) => mostUseful(word, this.atLast(word, i, typosFor(word, i))));
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

  /** The largest count of one field: of the rarest of terms side by side, else of all terms together. */
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

  /** A word that no document has in any form, not even with its typos, may have more of them. */
  private atLast(word: QueryWord, i: number, typos: Typo[]): Typo[] {
    const isLost = this.known[i] === 0 && typos.length === 0 && word.typosMax > 0;
    return isLost ? this.typos(word, word.typosAtLast) : typos;
  }

  /** Under the policy "auto": hardly any document has the word, or it is rare and a neighbour has 50 times its documents. */
  private suspectedTypos(word: QueryWord, i: number): Typo[] {
    const frequency = this.known[i]!;
    const { documents } = this.counts;
    if (this.policy === "always") return this.typos(word, word.typosMax);
    if (this.policy === "missing") return frequency === 0 ? this.typos(word, word.typosMax) : [];
    const few = frequency <= Math.min(2, Math.floor(documents / 1000));
    const rare = frequency <= documents / 1000;
    const neighbours = rare ? this.typos(word, Math.min(1, word.typosMax)) : [];
    const outnumbered = neighbours.some(
      (typo) => typo.distance === 1 && !typo.isPrefix && Math.max(...typo.frequencies) >= 50 * frequency,
    );
    return few || outnumbered ? this.typos(word, word.typosMax) : [];
  }

  private weight(i: number, typos: RankedTypo[]): number {
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
      own.push({
        typos: 0,
        exact: false,
        sequence: false,
        useForProximity: prefixListed,
        boost: Math.min(this.inverseFrequency(this.literal[i]!), weight) * PREFIX_FACTOR,
        terms: [{ term: terms[0]!, prefix: true }],
      });
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

  /** Longer words that contain a word of three letters or more, as long as it is neither quoted nor of touching characters. */
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

  private misspellings(typos: RankedTypo[], weight: number): Alternative[] {
    const likelier: RankedTypo[] = [];
    return groupsOf(typos).map(({ factor, members }) => {
      likelier.push(...members);
      const terms = new Set(
        members.flatMap(({ term, isPrefix }) => [term, ...(isPrefix ? [] : stemTerms(term, this.languages))]),
      );
      const idf = this.inverseFrequency(largestSum(likelier.map(({ frequencies }) => frequencies)));
      return {
        typos: members[0]!.typos,
        exact: false,
        sequence: false,
        useForProximity: true,
        boost: Math.min(idf, weight) * factor,
        terms: [...terms].sort(compareBytes).map((term) => ({ term, prefix: false })),
      };
    });
  }

  private inverseFrequency(frequency: number): number {
    const { documents } = this.counts;
    const df = Math.min(documents, frequency);
    return Math.log(1 + (documents - df + 0.5) / (df + 0.5));
  }
}

/** Of the cuts of the same words those whose rarer part is most frequent, of equal ones the first. */
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

/** Of the nearest terms the fewest typos first, then the likeliest, frequent before rare. */
function mostUseful(word: QueryWord, typos: Typo[]): RankedTypo[] {
  const byFrequency = (a: Typo, b: Typo): number =>
    Math.max(...b.frequencies) - Math.max(...a.frequencies) || compareBytes(a.term, b.term);
  return [...typos]
    .sort((a, b) => a.distance - b.distance || Number(a.isPrefix) - Number(b.isPrefix) || byFrequency(a, b))
    .slice(0, PRICED_MAX)
    .map((typo) => {
      const cost = typoCost(word.terms[0]!, typo.term, word.prefix);
      const count = Math.max(1, Math.min(TYPOS_MAX, Math.ceil((cost - 10) / 100)));
      const doublings = Math.floor(Math.log2(Math.max(1, ...typo.frequencies)));
      return { ...typo, typos: count, likelihood: cost - 5 * doublings };
    })
    .sort((a, b) => a.typos - b.typos || a.likelihood - b.likelihood || byFrequency(a, b))
    .slice(0, TYPOS_PER_WORD_MAX);
}

/** The fewest typos in up to three groups by likelihood, more typos in one each. */
function groupsOf(typos: RankedTypo[]): { factor: number; members: RankedTypo[] }[] {
  const groups = new Map<string, { factor: number; members: RankedTypo[] }>();
  for (const typo of typos) {
    const further = typo.likelihood - typos[0]!.likelihood;
    const place = typo.typos > typos[0]!.typos || further === 0 ? 0 : further <= 25 ? 1 : 2;
    const key = `${typo.typos} ${place}`;
    const factor = TYPO_FACTORS[typo.typos - 1]! * LIKELIHOOD_FACTORS[place]!;
    groups.set(key, { factor, members: [...(groups.get(key)?.members ?? []), typo] });
  }
  return [...groups.values()];
}
