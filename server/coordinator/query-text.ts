// The query language of `q`: plain words, "quoted phrases", -excluded words and -"phrases", `*` to browse.
// A quote opens a phrase only at the start of a word and only if it is closed (15" is no phrase); a minus
// excludes only at the start of a word. Everything goes through the engine's analyser.
import type { TextAnalyser } from "./text-analyser.js";

export interface QueryWord {
  readonly term: string;
  /** Terms that start with the word match as well. */
  readonly prefix: boolean;
  /** Typos this word may have, 0..4. */
  readonly typosMax: number;
}

export interface QueryText {
  /** In the order of the query, each term once. Empty: browse. */
  readonly words: readonly QueryWord[];
  readonly phrases: readonly (readonly string[])[];
  readonly excludes: readonly (readonly string[])[];
}

/** How many typos a word of a length may have. Lengths in code points. */
export interface TypoRule {
  readonly numTypos: number;
  readonly minLength1: number;
  readonly minLength2: number;
  readonly onNumbers: boolean;
}

export interface QueryTextRules {
  readonly prefix: boolean;
  readonly typos: TypoRule;
  /** Folded. Left out of the query unless it has no other words. */
  readonly stopWords: ReadonlySet<string>;
  /** Later words are ignored. */
  readonly wordsMax: number;
}

interface Part {
  readonly text: string;
  readonly quoted: boolean;
  readonly excluded: boolean;
}

const MIN_LENGTH_3_TYPOS = 12;
const MIN_LENGTH_4_TYPOS = 16;

export function readQueryText(q: string, analyser: TextAnalyser, rules: QueryTextRules): QueryText {
  const parts = q.trim() === "*" ? [] : splitParts(q);
  const analysed = parts.map((part) => ({ ...part, terms: analyser.terms(part.text) }));
  const read = analysed.filter(({ terms }) => terms.length > 0);
  const last = read.at(-1);
  const phrases: string[][] = [];
  const excludes: string[][] = [];
  const words: QueryWord[] = [];
  for (const part of read) {
    const { terms } = part;
    if (part.excluded) {
      excludes.push(terms);
    } else if (part.quoted) {
      phrases.push(terms.slice(0, rules.wordsMax));
      words.push(...terms.map((term) => ({ term, prefix: false, typosMax: 0 })));
    } else {
      const prefixAt = rules.prefix && part === last ? terms.length - 1 : -1;
      words.push(
        ...terms.map((term, i) => ({
          term,
          prefix: i === prefixAt,
          typosMax: typosAllowed(term, rules.typos),
        })),
      );
    }
  }
  return {
    words: eachOnce(withoutStopWords(words, phrases, rules.stopWords)).slice(0, rules.wordsMax),
    phrases: phrases.slice(0, rules.wordsMax),
    excludes: excludes.slice(0, rules.wordsMax),
  };
}

/** 0 for short words, words with digits (unless allowed) and beyond `numTypos`. */
export function typosAllowed(term: string, rule: TypoRule): number {
  if (!rule.onNumbers && /\p{N}/u.test(term)) return 0;
  let length = 0;
  for (const _ of term) length++;
  let allowed = 0;
  if (length >= rule.minLength1) allowed = 1;
  if (length >= rule.minLength2) allowed = 2;
  if (allowed === 2 && length >= MIN_LENGTH_3_TYPOS) allowed = 3;
  if (allowed === 3 && length >= MIN_LENGTH_4_TYPOS) allowed = 4;
  return Math.min(allowed, rule.numTypos);
}

function splitParts(q: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  while (at < q.length) {
    if (isSpace(q, at)) {
      at++;
      continue;
    }
    const excluded = q[at] === "-" && at + 1 < q.length && !isSpace(q, at + 1);
    if (excluded) at++;
    const close = q[at] === '"' ? q.indexOf('"', at + 1) : -1;
    if (close > 0) {
      parts.push({ text: q.slice(at + 1, close), quoted: true, excluded });
      at = close + 1;
      continue;
    }
    const start = at;
    while (at < q.length && !isSpace(q, at)) at++;
    parts.push({ text: q.slice(start, at), quoted: false, excluded });
  }
  return parts;
}

function isSpace(text: string, at: number): boolean {
  return /\s/.test(text[at] as string);
}

function withoutStopWords(
  words: QueryWord[],
  phrases: readonly (readonly string[])[],
  stopWords: ReadonlySet<string>,
): QueryWord[] {
  if (stopWords.size === 0) return words;
  const quoted = new Set(phrases.flat());
  const kept = words.filter((word) => quoted.has(word.term) || !stopWords.has(word.term));
  return kept.length === 0 ? words : kept;
}

/** A repeated word counts once, at its first place, with the most tolerant of its readings. */
function eachOnce(words: readonly QueryWord[]): QueryWord[] {
  const byTerm = new Map<string, QueryWord>();
  for (const word of words) {
    const known = byTerm.get(word.term);
    byTerm.set(word.term, {
      term: word.term,
      prefix: word.prefix || known?.prefix === true,
      typosMax: Math.max(word.typosMax, known?.typosMax ?? 0),
    });
  }
  return [...byTerm.values()];
}
