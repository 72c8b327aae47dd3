// Parses a query's text as specified in docs/ranking.md: words, runs, compounds, phrases and exclusions.

import type { Analysis } from "../segments/values.js";
import { analyse, type OracleToken, words as wordsOf } from "./analyse.js";

export interface QueryWord {
  /** A single term, or the characters of a word in a script without spaces. */
  terms: string[];
  prefix: boolean;
  typosMax: number;
  /** Maximum number of typos if no document contains the word in any form. */
  typosAtLast: number;
  /** True if the word occurs only in quotes and is therefore matched exactly. */
  quoted: boolean;
  /** Number of occurrences in the query. */
  count: number;
}

/** An occurrence of a word. */
type Occurrence = Omit<QueryWord, "count">;

/** One token in `runs`, with the number of its word; -1 if the word was dropped. */
export interface QueryToken {
  term: string;
  word: number;
}

/** Several words typed as one. */
export interface Compound {
  term: string;
  covers: number[];
  prefix: boolean;
}

export interface QueryText {
  words: QueryWord[];
  /** Sequences of consecutive unquoted words. A quoted or excluded part ends a sequence. */
  runs: QueryToken[][];
  compounds: Compound[];
  phrases: string[][];
  excludes: string[][];
  /** All terms except the excluded ones. */
  terms: string[];
}

export interface TextRules {
  prefix: boolean;
  num_typos: number;
  min_len_1typo: number;
  min_len_2typo: number;
  typo_on_numbers: boolean;
  /** Stop words as written in the settings. */
  stop_words: string[];
}

const WORDS_MAX = 64;
const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });

/** Parses `plain words "a phrase" -excluded -"excluded phrase"`; the last word may be unfinished. */
export function readText(q: string, rules: TextRules, analysis: Analysis): QueryText {
  const text: QueryText = { words: [], runs: [[]], compounds: [], phrases: [], excludes: [], terms: [] };
  const all = q.trim() === "*" ? [] : partsOf(q, analysis);
  const parts = all.filter(({ tokens }) => tokens.length > 0);
  const occurrences: Occurrence[] = []; // `word` and `covers` are positions in this list until withWords
  for (const [i, { minus, quoted, source, tokens }] of parts.entries()) {
    const plain = tokens.filter((token) => token.parts === 1);
    const terms = plain.map((token) => token.term);
    if (minus) text.excludes.push(terms);
    else text.terms.push(...terms);
    if (minus || quoted) text.runs.push([]);
    if (minus) continue;
    if (quoted) {
      text.phrases.push(terms);
      for (const term of terms)
        occurrences.push({ terms: [term], prefix: false, typosMax: 0, typosAtLast: 0, quoted: true });
      continue;
    }
    const isLast = i === parts.length - 1;
    const occurrenceAt: number[] = [];
    const groups = cutIntoWords(source, plain);
    for (const [j, group] of groups.entries()) {
      const unfinished = (isLast && j === groups.length - 1) || /\p{Script=Hangul}/u.test(group[0]!.term);
      for (const { term, position } of group) {
        occurrenceAt[position] = occurrences.length;
        text.runs.at(-1)!.push({ term, word: occurrences.length });
      }
      const single = group.length === 1;
      occurrences.push({
        terms: group.map(({ term }) => term),
        prefix: rules.prefix && single && unfinished,
        typosMax: single ? typosAllowed(group[0]!.term, rules) : 0,
        typosAtLast: single ? typosAtLast(group[0]!.term, rules) : 0,
        quoted: false,
      });
    }
    for (const { term, position, parts: count } of tokens) {
      if (count === 1) continue;
      const covers = occurrenceAt.slice(position, position + count);
      text.compounds.push({
        term,
        covers,
        prefix: rules.prefix && isLast && position + count === plain.length,
      });
    }
  }
  // Symbols that are not terms, such as emoji, are used only if the query contains nothing else, and never
  // match.
  const symbols = all
    .filter(({ minus }) => !minus)
    .flatMap(({ source }) => /\p{S}|\p{Extended_Pictographic}/u.exec(source) ?? []);
  if (occurrences.length === 0)
    for (const symbol of symbols)
      occurrences.push({ terms: [symbol], prefix: false, typosMax: 0, typosAtLast: 0, quoted: true });
  return withWords(text, occurrences, rules, analysis);
}

interface Part {
  minus: boolean;
  quoted: boolean;
  source: string;
  tokens: OracleToken[];
}

function partsOf(q: string, analysis: Analysis): Part[] {
  return [...q.matchAll(/(-(?=\S))?(?:"([^"]*)"|(\S+))/g)].map(([, minus, quoted, bare]) => {
    const source = quoted ?? bare!;
    return {
      minus: minus !== undefined,
      quoted: quoted !== undefined,
      source,
      tokens: analyse(source, analysis),
    };
  });
}

/**
 * Groups tokens into words. Intl.Segmenter finds the words among tokens without separators between them; any
 * other token is a word.
 */
function cutIntoWords(source: string, tokens: OracleToken[]): OracleToken[][] {
  const bytes = Buffer.from(source);
  const groups: OracleToken[][] = [];
  for (const token of tokens) {
    if (groups.at(-1)?.at(-1)?.end === token.start) groups.at(-1)!.push(token);
    else groups.push([token]);
  }
  return groups.flatMap((group) => {
    const first = group[0]!.start;
    const segments = [...segmenter.segment(bytes.toString("utf8", first, group.at(-1)!.end))];
    const ends = segments.map(
      ({ input, index, segment }) => first + Buffer.byteLength(input.slice(0, index) + segment),
    );
    const words = ends.map((end, i) =>
      group.filter(({ start }) => start < end && (i === 0 || start >= ends[i - 1]!)),
    );
    return group.length === 1 ? [group] : words.filter((word) => word.length > 0);
  });
}

/**
 * Drops stop words that do not occur in quotes, unless nothing else remains. A repeated word is kept once,
 * with the most tolerant settings of its occurrences. At most WORDS_MAX words are kept.
 */
function withWords(
  text: QueryText,
  occurrences: Occurrence[],
  rules: TextRules,
  analysis: Analysis,
): QueryText {
  const stopWords = new Set(
    rules.stop_words.flatMap((stop) => wordsOf(stop, analysis)).map(({ term }) => term),
  );
  const key = ({ terms }: Occurrence): string => terms.join(" ");
  const inQuotes = occurrences.filter(({ quoted }) => quoted).map(key);
  const stays = (word: Occurrence): boolean => !stopWords.has(key(word)) || inQuotes.includes(key(word));
  const kept = occurrences.some(stays) ? occurrences.filter(stays) : occurrences;
  const keys = [...new Set(kept.map(key))].slice(0, WORDS_MAX);
  const wordOf = (occurrence: number): number => keys.indexOf(key(occurrences[occurrence]!));
  return {
    ...text,
    words: keys.map((one) => {
      const same = kept.filter((word) => key(word) === one);
      return {
        terms: same[0]!.terms,
        prefix: same.some(({ prefix }) => prefix),
        typosMax: Math.max(...same.map(({ typosMax }) => typosMax)),
        typosAtLast: Math.max(...same.map(({ typosAtLast }) => typosAtLast)),
        quoted: same.every(({ quoted }) => quoted),
        count: same.length,
      };
    }),
    runs: text.runs.map((run) => run.map(({ term, word }) => ({ term, word: wordOf(word) }))),
    compounds: text.compounds.map((one) => ({ ...one, covers: [...new Set(one.covers.map(wordOf))] })),
  };
}

function typosAllowed(term: string, rules: TextRules): number {
  if (!rules.typo_on_numbers && /\p{N}/u.test(term)) return 0;
  const length = [...term].length;
  if (length < rules.min_len_1typo) return 0;
  const allowed = length < rules.min_len_2typo ? 1 : length < 12 ? 2 : length < 16 ? 3 : 4;
  return Math.min(allowed, rules.num_typos);
}

/**
 * A word that is allowed one typo gets two if it has at least five letters and is at most three letters
 * shorter than the limit for two.
 */
function typosAtLast(term: string, rules: TextRules): number {
  const allowed = typosAllowed(term, rules);
  if (allowed !== 1) return allowed;
  return typosAllowed(term, { ...rules, min_len_2typo: Math.max(5, rules.min_len_2typo - 3) });
}
