// Reads the query language of `q`: plain words, "quoted phrases", -excluded words and -"excluded phrases",
// `*` to browse. query-parts.ts separates them. Emoji and other symbols are ignored if there are words. A
// query of symbols alone finds nothing, because symbols are not indexed. All text goes through the engine's
// analyser. word-cuts.ts splits text in scripts without spaces into words.
import type { Token } from "../../../engine-wasm/host/instance/workbench.js";
import type { TextAnalyser } from "../../catalog/schema/text-analyser.js";
import { queryParts } from "./query-parts.js";
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

/** A word as it occurs in the query, before stop words and repetitions are removed. */
type Entry = Omit<QueryWord, "count">;

/** The query while it is being read: tokens and compounds refer to `entries`, which later become words. */
interface Draft {
  readonly entries: Entry[];
  readonly runs: QueryToken[][];
  readonly compounds: Compound[];
}

const HANGUL = /\p{Script=Hangul}/u;
const SYMBOL = /\p{S}|\p{Extended_Pictographic}/u;

export function readQueryText(q: string, analyser: TextAnalyser, rules: QueryTextRules): QueryText {
  const parts = q.trim() === "*" ? [] : analysedParts(q, analyser);
  const read = parts.filter(({ tokens }) => tokens.length > 0);
  const last = read.at(-1);
  const phrases: string[][] = [];
  const excludes: string[][] = [];
  const draft: Draft = { entries: [], runs: [[]], compounds: [] };
  for (const part of read) {
    if (!part.quoted && !part.excluded) {
      addPlainPart(draft, part.text, part.tokens, part === last, rules);
      continue;
    }
    const terms = plainTerms(part.tokens);
    draft.runs.push([]);
    if (part.excluded) {
      excludes.push(terms);
    } else {
      phrases.push(terms.slice(0, rules.wordsMax));
      for (const term of terms)
        draft.entries.push({ terms: [term], prefix: false, typosMax: 0, typosAtLast: 0, quoted: true });
    }
  }
  if (draft.entries.length === 0) draft.entries.push(...symbolWords(parts));
  const { words, wordOfEntry } = eachOnce(draft.entries, rules);
  return {
    words,
    runs: draft.runs
      .filter((run) => run.length > 0)
      .map((run) => run.map(({ term, word }) => ({ term, word: wordOfEntry[word] as number }))),
    compounds: draft.compounds.map((compound) => ({
      ...compound,
      covers: unique(compound.covers.map((entry) => wordOfEntry[entry] as number)),
    })),
    phrases: phrases.slice(0, rules.wordsMax),
    excludes: excludes.slice(0, rules.wordsMax),
    terms: read.filter((part) => !part.excluded).flatMap((part) => plainTerms(part.tokens)),
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
function symbolWords(parts: readonly Part[]): Entry[] {
  return parts
    .filter(({ excluded }) => !excluded)
    .flatMap(({ text }) => SYMBOL.exec(text) ?? [])
    .map((symbol) => ({ terms: [symbol], prefix: false, typosMax: 0, typosAtLast: 0, quoted: true }));
}

function addPlainPart(
  draft: Draft,
  text: string,
  tokens: readonly Token[],
  isLast: boolean,
  rules: QueryTextRules,
): void {
  const plain = tokens.filter((token) => token.parts === 1);
  const run = draft.runs.at(-1) as QueryToken[];
  const entryOfPosition: number[] = [];
  const groups = wordsOfTouchingTokens(text, plain);
  for (const [i, group] of groups.entries()) {
    const terms = group.map((token) => token.term);
    const [term] = terms as [string];
    const single = terms.length === 1;
    const isLastWord = isLast && i === groups.length - 1;
    for (const token of group) {
      entryOfPosition[token.position] = draft.entries.length;
      run.push({ term: token.term, word: draft.entries.length });
    }
    draft.entries.push({
      terms,
      // Korean particles follow their noun without a space, so documents contain the noun as a prefix of
      // longer words.
      prefix: rules.prefix && single && (isLastWord || HANGUL.test(term)),
      typosMax: single ? typosAllowed(term, rules.typos) : 0,
      typosAtLast: single ? typosAtLast(term, rules.typos) : 0,
      quoted: false,
    });
  }
  const lastPosition = plain.at(-1)?.position;
  for (const { term, position, parts } of tokens) {
    if (parts === 1) continue;
    const covers = Array.from({ length: parts }, (_, i) => entryOfPosition[position + i] as number);
    draft.compounds.push({
      term,
      covers,
      prefix: rules.prefix && isLast && position + parts - 1 === lastPosition,
    });
  }
}

/**
 * Converts entries to words. Drops stop words unless nothing else remains. Keeps a repeated word once, at its
 * first position, with the most tolerant settings of all its occurrences.
 */
function eachOnce(
  entries: readonly Entry[],
  rules: QueryTextRules,
): { words: QueryWord[]; wordOfEntry: number[] } {
  const keys = entries.map(keyOf);
  const quoted = new Set(keys.filter((_, i) => entries[i]!.quoted));
  const stopped = keys.map((key) => rules.stopWords.has(key) && !quoted.has(key));
  const keepAll = !stopped.includes(false);
  const words = new Map<string, { word: QueryWord; at: number }>();
  const wordOfEntry = entries.map((entry, i) => {
    if (!keepAll && stopped[i]) return -1;
    const key = keys[i]!;
    const known = words.get(key);
    const at = known?.at ?? words.size;
    const word = {
      terms: entry.terms,
      prefix: entry.prefix || known?.word.prefix === true,
      typosMax: Math.max(entry.typosMax, known?.word.typosMax ?? 0),
      typosAtLast: Math.max(entry.typosAtLast, known?.word.typosAtLast ?? 0),
      quoted: entry.quoted && known?.word.quoted !== false,
      count: 1 + (known?.word.count ?? 0),
    };
    words.set(key, { word, at });
    return at < rules.wordsMax ? at : -1;
  });
  return { words: [...words.values()].map(({ word }) => word).slice(0, rules.wordsMax), wordOfEntry };
}

/** Returns a key for the word. Terms contain no spaces, so a space can separate them. */
function keyOf({ terms }: Entry): string {
  return terms.length === 1 ? terms[0]! : terms.join(" ");
}

function plainTerms(tokens: readonly Token[]): string[] {
  return tokens.filter((token) => token.parts === 1).map((token) => token.term);
}

function unique(numbers: readonly number[]): number[] {
  return [...new Set(numbers)];
}
