// Reads the query language of `q`: plain words, "quoted phrases", -excluded words and -"excluded phrases",
// `*` to browse. query-parts.ts separates them. Emoji and other symbols are ignored if there are words. A
// query of symbols alone finds nothing, because symbols are not indexed. All text goes through the engine's
// analyser. word-cuts.ts splits text in scripts without spaces into words.
import type { Token } from "../../../engine-wasm/host/instance/workbench.js";
import type { TextAnalyser } from "../../catalog/schema/text-analyser.js";
import { queryParts } from "./query-parts.js";
import { factsOf } from "./term-facts.js";
import { type TypoRule, typosAllowed, typosAtLast } from "./typos/typo-rule.js";
import { wordsOfTouchingTokens } from "./word-cuts.js";

export interface QueryWord {
  /** The word's term. In a script without spaces, one term for each of the word's characters. */
  readonly terms: readonly string[];
  /** True if terms that start with the word match too. Only words with a single term can be prefixes. */
  readonly prefix: boolean;
  /** Number of typos allowed, 0 to 4. */
  readonly typosMax: number;
  /** Number of typos allowed if the word occurs in no form. At least `typosMax`. */
  readonly typosAtLast: number;
  /** True if the word occurs only in quotes. It is then matched literally. */
  readonly quoted: boolean;
  /** Number of times that the word occurs in the query, by which its weight is multiplied. */
  readonly count: number;
}

/** A term of the query outside quotes, as typed. */
export interface QueryToken {
  readonly term: string;
  /** Index of the token's word in `words`; -1 for a dropped stop word. */
  readonly word: number;
}

/**
 * Words typed as one, joined by hyphens, dots or slashes. `term` is the same text without these separators.
 */
export interface Compound {
  readonly term: string;
  /** Indexes in `words` of the words that were joined. */
  readonly covers: readonly number[];
  readonly prefix: boolean;
}

export interface QueryText {
  /** In query order, without duplicates. Empty for a query that browses. */
  readonly words: readonly QueryWord[];
  /** Sequences of adjacent tokens. A quoted or excluded part ends a run. */
  readonly runs: readonly (readonly QueryToken[])[];
  readonly compounds: readonly Compound[];
  readonly phrases: readonly (readonly string[])[];
  readonly excludes: readonly (readonly string[])[];
  /** All terms that are not excluded, in query order. */
  readonly terms: readonly string[];
}

export interface QueryTextRules {
  readonly prefix: boolean;
  readonly typos: TypoRule;
  /** Folded stop words. They are dropped unless the query has no other words. */
  readonly stopWords: ReadonlySet<string>;
  /** Maximum number of words. Later words are ignored. */
  readonly wordsMax: number;
}

interface Part {
  readonly text: string;
  readonly quoted: boolean;
  readonly excluded: boolean;
  readonly tokens: readonly Token[];
}

/**
 * The query while it is being read. Stop words and repetitions are still among its words, to whose numbers
 * tokens and compounds refer.
 */
interface Draft {
  readonly words: QueryWord[];
  readonly runs: QueryToken[][];
  /** Null after a quoted or excluded part, until a token begins the next run. */
  run: QueryToken[] | null;
  readonly compounds: Compound[];
  readonly terms: string[];
}

const SYMBOL = /\p{S}|\p{Extended_Pictographic}/u;
/** Repetitions among this many words are found by comparing all pairs, otherwise with a map. */
const FEW_WORDS = 8;

const NO_COMPOUNDS: readonly Compound[] = [];
const NO_TERMS: readonly (readonly string[])[] = [];

export function readQueryText(q: string, analyser: TextAnalyser, rules: QueryTextRules): QueryText {
  const parts = q.trim() === "*" ? [] : analysedParts(q, analyser);
  return plainText(parts, rules) ?? fullText(parts, rules);
}

/**
 * Reads a query of few different words, each of one token and none of them a stop word, as most queries are.
 * Returns null for all others.
 */
function plainText(parts: readonly Part[], rules: QueryTextRules): QueryText | null {
  if (parts.length === 0 || !parts.every(isOneToken)) return null;
  const terms = parts.map(firstTerm);
  const words = terms.map((term, i) => singleWord(term, i === terms.length - 1, rules));
  if (!isEachOnce(words, rules)) return null;
  const run = terms.map((term, word) => ({ term, word }));
  return { words, runs: [run], compounds: NO_COMPOUNDS, phrases: NO_TERMS, excludes: NO_TERMS, terms };
}

function isOneToken({ quoted, excluded, tokens }: Part): boolean {
  return !quoted && !excluded && tokens.length === 1 && isPlain(tokens[0]!);
}

function firstTerm({ tokens }: Part): string {
  return tokens[0]!.term;
}

function fullText(parts: readonly Part[], rules: QueryTextRules): QueryText {
  const last = parts.findLastIndex(({ tokens }) => tokens.length > 0);
  const phrases: string[][] = [];
  const excludes: string[][] = [];
  const draft: Draft = { words: [], runs: [], run: null, compounds: [], terms: [] };
  for (let i = 0; i <= last; i++) {
    const { text, quoted, excluded, tokens } = parts[i]!;
    if (tokens.length === 0) continue;
    if (!quoted && !excluded) {
      addPlainPart(draft, text, tokens, i === last, rules);
      continue;
    }
    const terms = plainTokens(tokens).map(({ term }) => term);
    draft.run = null;
    if (excluded) {
      excludes.push(terms);
    } else {
      phrases.push(terms.slice(0, rules.wordsMax));
      for (const term of terms) draft.words.push(literalWord(term));
      draft.terms.push(...terms);
    }
  }
  if (draft.words.length === 0) draft.words.push(...symbolWords(parts));
  const { words, runs, compounds } = eachOnce(draft, rules);
  return {
    words,
    runs,
    compounds,
    phrases: phrases.slice(0, rules.wordsMax),
    excludes: excludes.slice(0, rules.wordsMax),
    terms: draft.terms,
  };
}

function analysedParts(q: string, analyser: TextAnalyser): Part[] {
  return queryParts(q).map(({ quoted, excluded, textStart, textEnd }) => {
    const text = q.slice(textStart, textEnd);
    return { text, quoted, excluded, tokens: analyser.tokens(text) };
  });
}

/**
 * Returns words made of symbols, one from each part that contains symbols. The analyser makes no terms from
 * symbols, neither here nor in documents, so these words are never found. That is intended: a person who
 * types an emoji does not want the whole catalogue.
 */
function symbolWords(parts: readonly Part[]): QueryWord[] {
  return parts
    .filter(({ excluded }) => !excluded)
    .flatMap(({ text }) => SYMBOL.exec(text) ?? [])
    .map(literalWord);
}

function literalWord(term: string): QueryWord {
  return { terms: [term], prefix: false, typosMax: 0, typosAtLast: 0, quoted: true, count: 1 };
}

function addPlainPart(
  draft: Draft,
  text: string,
  tokens: readonly Token[],
  isLast: boolean,
  rules: QueryTextRules,
): void {
  const plain = plainTokens(tokens);
  if (plain.length === 1) {
    addWord(draft, plain, isLast, rules);
    return;
  }
  const wordOfPosition: number[] = [];
  const groups = wordsOfTouchingTokens(text, plain);
  for (const [i, group] of groups.entries()) {
    for (const token of group) wordOfPosition[token.position] = draft.words.length;
    addWord(draft, group, isLast && i === groups.length - 1, rules);
  }
  const lastPosition = plain.at(-1)?.position;
  for (const { term, position, parts } of tokens) {
    if (parts === 1) continue;
    const covers = Array.from({ length: parts }, (_, i) => wordOfPosition[position + i] as number);
    draft.compounds.push({
      term,
      covers: unique(covers),
      prefix: rules.prefix && isLast && position + parts - 1 === lastPosition,
    });
  }
}

/** Adds one word, whose tokens are `tokens`. */
function addWord(draft: Draft, tokens: readonly Token[], isLast: boolean, rules: QueryTextRules): void {
  if (draft.run === null) {
    draft.run = [];
    draft.runs.push(draft.run);
  }
  for (const { term } of tokens) {
    draft.run.push({ term, word: draft.words.length });
    draft.terms.push(term);
  }
  draft.words.push(
    tokens.length === 1
      ? singleWord(tokens[0]!.term, isLast, rules)
      : cutWord(tokens.map(({ term }) => term)),
  );
}

function singleWord(term: string, isLast: boolean, { prefix, typos }: QueryTextRules): QueryWord {
  const { terms, isHangul } = factsOf(term);
  return {
    terms,
    // Korean particles follow their noun without a space, so documents contain the noun as a prefix of
    // longer words.
    prefix: prefix && (isLast || isHangul),
    typosMax: typosAllowed(term, typos),
    typosAtLast: typosAtLast(term, typos),
    quoted: false,
    count: 1,
  };
}

/** Returns a word in a script without spaces. */
function cutWord(terms: readonly string[]): QueryWord {
  return { terms, prefix: false, typosMax: 0, typosAtLast: 0, quoted: false, count: 1 };
}

/**
 * Drops stop words unless nothing else remains. Keeps a repeated word once, at its first position, with the
 * most tolerant settings of all its occurrences.
 */
function eachOnce(
  { words: all, runs, compounds }: Draft,
  rules: QueryTextRules,
): Pick<QueryText, "words" | "runs" | "compounds"> {
  if (isEachOnce(all, rules)) return { words: all, runs, compounds };
  const keys = all.map(keyOf);
  const quoted = new Set(keys.filter((_, i) => all[i]!.quoted));
  const stopped = keys.map((key) => rules.stopWords.has(key) && !quoted.has(key));
  const keepAll = !stopped.includes(false);
  const words = new Map<string, { word: QueryWord; at: number }>();
  const numbers = all.map((one, i) => {
    if (!keepAll && stopped[i]) return -1;
    const key = keys[i]!;
    const known = words.get(key);
    const at = known?.at ?? words.size;
    const word = {
      terms: one.terms,
      prefix: one.prefix || known?.word.prefix === true,
      typosMax: Math.max(one.typosMax, known?.word.typosMax ?? 0),
      typosAtLast: Math.max(one.typosAtLast, known?.word.typosAtLast ?? 0),
      quoted: one.quoted && known?.word.quoted !== false,
      count: 1 + (known?.word.count ?? 0),
    };
    words.set(key, { word, at });
    return at < rules.wordsMax ? at : -1;
  });
  return {
    words: [...words.values()].map(({ word }) => word).slice(0, rules.wordsMax),
    runs: runs.map((run) => run.map(({ term, word }) => ({ term, word: numbers[word] as number }))),
    compounds: compounds.map((compound) => ({
      ...compound,
      covers: unique(compound.covers.map((word) => numbers[word] as number)),
    })),
  };
}

/** True if the words are few, none of them is repeated, and none is a stop word. */
function isEachOnce(words: readonly QueryWord[], { stopWords, wordsMax }: QueryTextRules): boolean {
  if (words.length > Math.min(FEW_WORDS, wordsMax)) return false;
  for (let i = 0; i < words.length; i++) {
    const key = keyOf(words[i]!);
    if (stopWords.has(key)) return false;
    for (let j = 0; j < i; j++) if (keyOf(words[j]!) === key) return false;
  }
  return true;
}

/** Returns a key for the word. Terms contain no spaces, so a space can separate them. */
function keyOf({ terms }: QueryWord): string {
  return terms.length === 1 ? terms[0]! : terms.join(" ");
}

/** Returns the tokens without joined tokens. */
function plainTokens(tokens: readonly Token[]): readonly Token[] {
  return tokens.every(isPlain) ? tokens : tokens.filter(isPlain);
}

function isPlain({ parts }: Token): boolean {
  return parts === 1;
}

function unique(numbers: readonly number[]): number[] {
  return [...new Set(numbers)];
}
