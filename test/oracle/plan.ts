// The decisions about a query that docs/ranking.md describes: which words it has, which of them look misspelt,
// in which ways each may match and at what weight. All counts are over all live documents.
import { words as wordsOf } from "./analyse.js";
import {
  averageLengths,
  type Dictionary,
  type Expansion,
  expandWord,
  makeDictionary,
  type Typo,
  typosOf,
} from "./expand.js";
import { compareBytes, type Row } from "./rows.js";
import type { Alternative, Word } from "./score.js";
import type { Analysis } from "./values.js";

export interface QueryWord {
  term: string;
  prefix: boolean;
  typosMax: number;
}

export interface QueryText {
  words: QueryWord[];
  phrases: string[][];
  excludes: string[][];
}

/** The settings of an index that change what a query finds, with a query's own values in their place. */
export interface Rules {
  prefix: boolean;
  num_typos: number;
  min_len_1typo: number;
  min_len_2typo: number;
  typo_on_numbers: boolean;
  typo_policy: "auto" | "always" | "missing";
  stop_words: string[];
  drop_tokens_threshold: number;
}

const PREFIX_FACTOR = 0.8;
const TYPO_FACTORS = [0.6, 0.4, 0.25, 0.15];
const TYPOS_PER_WORD_MAX = 64;

/** `plain words "a phrase" -excluded -"excluded phrase"`; the last part may be an unfinished word. */
export function readText(q: string, rules: Rules, analysis: Analysis): QueryText {
  const text: QueryText = { words: [], phrases: [], excludes: [] };
  if (q.trim() === "*") return text;
  const parts = [...q.matchAll(/(-(?=\S))?(?:"([^"]*)"|(\S+))/g)]
    .map(([, minus, quoted, bare]) => {
      const terms = wordsOf(quoted ?? bare!, analysis).map((token) => token.term);
      return { minus, quoted, terms };
    })
    .filter(({ terms }) => terms.length > 0);
  const words: QueryWord[] = [];
  for (const [i, { minus, quoted, terms }] of parts.entries()) {
    if (minus !== undefined) text.excludes.push(terms);
    else if (quoted !== undefined) {
      text.phrases.push(terms);
      for (const term of terms) words.push({ term, prefix: false, typosMax: 0 });
    } else {
      for (const [j, term] of terms.entries()) {
        const unfinished = rules.prefix && i === parts.length - 1 && j === terms.length - 1;
        words.push({ term, prefix: unfinished, typosMax: typosAllowed(term, rules) });
      }
    }
  }
  const stopWords = rules.stop_words.flatMap((stop) => wordsOf(stop, analysis).map((token) => token.term));
  const kept = words.filter(({ term }) => !stopWords.includes(term) || text.phrases.flat().includes(term));
  text.words = eachOnce(kept.length === 0 ? words : kept);
  return text;
}

/** A repeated word counts once, at its first place, with the most tolerant of its readings. */
function eachOnce(words: QueryWord[]): QueryWord[] {
  const terms = [...new Set(words.map((word) => word.term))];
  return terms.map((term) => {
    const same = words.filter((word) => word.term === term);
    const typosMax = Math.max(...same.map((word) => word.typosMax));
    return { term, prefix: same.some((word) => word.prefix), typosMax };
  });
}

function typosAllowed(term: string, rules: Rules): number {
  if (!rules.typo_on_numbers && /\p{N}/u.test(term)) return 0;
  const length = [...term].length;
  if (length < rules.min_len_1typo) return 0;
  const allowed = length < rules.min_len_2typo ? 1 : length < 12 ? 2 : length < 16 ? 3 : 4;
  return Math.min(allowed, rules.num_typos);
}

/** Weighs words against one state of the index and one choice of fields. */
export class Weigher {
  private readonly dictionary: Dictionary;
  readonly averageLengths: number[];

  constructor(
    rows: Row[],
    private readonly documents: number,
    private readonly fields: string[],
    private readonly policy: Rules["typo_policy"],
  ) {
    this.dictionary = makeDictionary(rows, fields);
    this.averageLengths = averageLengths(rows, fields);
  }

  /** The words with typos for those that look misspelt. */
  asWritten(words: QueryWord[]): Word[] {
    return words.map((word) => this.weigh(word, this.suspectedTypos(word)));
  }

  /** The words with all typos that their lengths allow. */
  withAllTypos(words: QueryWord[]): Word[] {
    return words.map((word) => this.weigh(word, this.typos(word, word.typosMax)));
  }

  private typos(word: QueryWord, distanceMax: number): Typo[] {
    return distanceMax === 0 ? [] : typosOf(this.dictionary, word.term, distanceMax, word.prefix);
  }

  private expand(word: QueryWord): Expansion {
    return expandWord(this.dictionary, word.term, this.fields.length);
  }

  /** Under the policy "auto": hardly any document has the word, or it is rare and a neighbour has 50 times its documents. */
  private suspectedTypos(word: QueryWord): Typo[] {
    const { exact, prefixFrequencies } = this.expand(word);
    const frequency = Math.max(
      0,
      ...exact.map((count, i) => count + (word.prefix ? prefixFrequencies[i]! : 0)),
    );
    if (this.policy === "always") return this.typos(word, word.typosMax);
    if (this.policy === "missing") return frequency === 0 ? this.typos(word, word.typosMax) : [];
    const few = frequency <= Math.min(2, Math.floor(this.documents / 1000));
    const rare = frequency <= this.documents / 1000;
    const neighbours = rare ? this.typos(word, Math.min(1, word.typosMax)) : [];
    const outnumbered = neighbours.some(
      (typo) => typo.distance === 1 && !typo.isPrefix && Math.max(...typo.frequencies) >= 50 * frequency,
    );
    return few || outnumbered ? this.typos(word, word.typosMax) : [];
  }

  private weigh(word: QueryWord, typos: Typo[]): Word {
    const { exact, prefixTerms, prefixListed, prefixFrequencies } = this.expand(word);
    const alternatives: Alternative[] = [];
    let weight = 0;
    const add = (alternative: Omit<Alternative, "boost">, frequencies: number[], factor: number): void => {
      const idf = this.inverseFrequency(Math.max(...frequencies));
      if (alternatives.length === 0) weight = idf;
      alternatives.push({ ...alternative, boost: Math.min(idf, weight) * factor });
    };
    if (exact.some((count) => count > 0)) {
      const terms = [{ term: word.term, prefix: false }];
      add({ typos: 0, exact: true, sequence: false, useForProximity: true, terms }, exact, 1);
    }
    if (word.prefix && prefixTerms.length > 0) {
      const terms = [{ term: word.term, prefix: true }];
      const frequencies = exact.map((count, i) => count + prefixFrequencies[i]!);
      add(
        { typos: 0, exact: false, sequence: false, useForProximity: prefixListed, terms },
        frequencies,
        PREFIX_FACTOR,
      );
    }
    const kept = mostUseful(typos).slice(0, TYPOS_PER_WORD_MAX);
    for (let distance = 1; distance <= 4; distance++) {
      for (const isPrefix of [false, true]) {
        const group = kept.filter((typo) => typo.distance === distance && typo.isPrefix === isPrefix);
        if (group.length === 0) continue;
        const terms = group
          .map(({ term }) => ({ term, prefix: false }))
          .sort((a, b) => compareBytes(a.term, b.term));
        const frequencies = exact.map((_, i) => group.reduce((sum, typo) => sum + typo.frequencies[i]!, 0));
        const factor = TYPO_FACTORS[distance - 1]! * (isPrefix ? PREFIX_FACTOR : 1);
        add(
          { typos: distance, exact: false, sequence: false, useForProximity: true, terms },
          frequencies,
          factor,
        );
      }
    }
    return { weight, alternatives };
  }

  private inverseFrequency(frequency: number): number {
    const df = Math.min(this.documents, frequency);
    return Math.log(1 + (this.documents - df + 0.5) / (df + 0.5));
  }
}

/** Nearest first, whole terms before prefixes, frequent before rare. */
function mostUseful(typos: Typo[]): Typo[] {
  return [...typos].sort(
    (a, b) =>
      a.distance - b.distance ||
      Number(a.isPrefix) - Number(b.isPrefix) ||
      Math.max(...b.frequencies) - Math.max(...a.frequencies) ||
      compareBytes(a.term, b.term),
  );
}
