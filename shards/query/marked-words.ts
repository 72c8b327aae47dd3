// Finds the tokens in a text that the query's words stand for. Terms, prefixes and sequences mean the same as
// in the engine, so marks agree with matches. This file works on tokens; highlight.ts handles the text.
import { TERM_LANGUAGE, TERM_SKU, TERM_STEM } from "../../engine-wasm/assembly/layout.js";
import type { Token } from "../../engine-wasm/host/instance/workbench.js";
import { stem } from "../../engine-wasm/host/stemmer.js";
import type { HighlightField, HighlightWord } from "../protocol/fetch.js";

/** A mark that covers plain tokens `first` to `last` of a text. */
export interface Mark {
  readonly first: number;
  readonly last: number;
  /**
   * If only the beginning of the last token's term was typed, that beginning, at which the mark ends. Null if
   * the whole token is marked.
   */
  readonly typed: string | null;
  /** Last token of the match. It comes after `last` if the typed part ends before it. */
  readonly matchedLast: number;
  /** Indexes of the query words that the mark stands for. */
  readonly words: readonly number[];
}

/** A text's plain tokens, and its marks in ascending order. No two marks share a token. */
export interface MarkedTokens {
  readonly tokens: readonly Token[];
  readonly marks: readonly Mark[];
}

interface Prefix {
  readonly prefix: string;
  readonly words: readonly number[];
}

interface Sequence {
  readonly terms: readonly string[];
  readonly words: readonly number[];
}

/** Indexes of the query words that a term stands for. */
interface Stands {
  /** Words that list the term in their `terms` or, for an entry of `#infixes`, in their `infixes`. */
  readonly words: number[];
  /** Words that list the term in their `typos`. */
  readonly typos: number[];
}

const SKU = String.fromCharCode(TERM_SKU);
/** Separates terms joined into a key. Terms never contain it. */
const BETWEEN_TERMS = " ";

export class MarkedWords {
  readonly #terms = new Map<string, Stands>();
  /** Terms that stand for words only in fields with `infix`. */
  readonly #infixes = new Map<string, Stands>();
  /** By language and stem. */
  readonly #stems = new Map<number, Map<string, Stands>>();
  /** Longest first. */
  readonly #prefixes: readonly Prefix[];
  /** By first term. */
  readonly #sequences = new Map<string, Sequence[]>();

  constructor(words: readonly HighlightWord[]) {
    const prefixes = new Map<string, number[]>();
    const sequences = new Map<string, number[]>();
    for (const [i, word] of words.entries()) {
      for (const term of word.terms) this.#standsOf(term).words.push(i);
      for (const term of word.typos) this.#standsOf(term).typos.push(i);
      for (const term of word.infixes) entry(this.#infixes, term).words.push(i);
      for (const prefix of word.prefixes) listed(prefixes, prefix).push(i);
      for (const terms of word.sequences) listed(sequences, terms.join(BETWEEN_TERMS)).push(i);
    }
    this.#prefixes = [...prefixes]
      .filter(([prefix]) => prefix !== "" && prefix !== SKU)
      .map(([prefix, of]) => ({ prefix, words: of }))
      .sort((a, b) => b.prefix.length - a.prefix.length);
    for (const [joined, of] of sequences) {
      const terms = joined.split(BETWEEN_TERMS);
      listed(this.#sequences, terms[0] as string).push({ terms, words: of });
    }
  }

  /** `tokens`: the analyser's output for one value of the field. */
  mark(tokens: readonly Token[], { language, sku, infix }: HighlightField): MarkedTokens {
    const text = new TextTokens(tokens);
    const { plain } = text;
    const stems = this.#stems.get(language);
    const infixes = infix ? this.#infixes : null;
    const found: Mark[] = [];
    for (let i = 0; i < plain.length; i++) {
      const { term } = plain[i] as Token;
      this.#markTerm(found, plain, i, i, term, stems?.get(stem(language, term)), infixes?.get(term));
      this.#markSequences(found, text, i, term);
    }
    for (const { term, position, parts } of text.joined.values()) {
      this.#markTerm(found, plain, position, position + parts - 1, term, undefined, infixes?.get(term));
      this.#markSequences(found, text, position, term);
    }
    if (sku && plain.length > 0) {
      const value = SKU + plain.map(({ term }) => term).join("");
      this.#markTerm(found, plain, 0, plain.length - 1, value, undefined, undefined);
    }
    return { tokens: plain, marks: merged(found) };
  }

  #standsOf(term: string): Stands {
    let stands = this.#terms;
    let key = term;
    if (term.charCodeAt(0) === TERM_STEM) {
      const language = term.charCodeAt(1) - TERM_LANGUAGE;
      stands = this.#stems.get(language) ?? new Map();
      this.#stems.set(language, stands);
      key = term.slice(2);
    }
    return entry(stands, key);
  }

  /**
   * Adds a mark for tokens first..last if `term`, which they form together, stands for a word. `form`: the
   * words that share the term's stem. `infix`: the words that the term contains.
   */
  #markTerm(
    found: Mark[],
    plain: readonly Token[],
    first: number,
    last: number,
    term: string,
    form: Stands | undefined,
    infix: Stands | undefined,
  ): void {
    const own = this.#terms.get(term);
    const prefix = this.#prefixOf(term);
    if (own === undefined && form === undefined && infix === undefined && prefix === null) return;
    const begun = this.#prefixes.filter((one) => term.startsWith(one.prefix)).flatMap(({ words }) => words);
    const typos = [...(own?.typos ?? []), ...(form?.typos ?? [])].filter((word) => !begun.includes(word));
    const whole = [...(own?.words ?? []), ...(form?.words ?? []), ...(infix?.words ?? []), ...typos];
    if (whole.length > 0) {
      found.push({ first, last, typed: null, matchedLast: last, words: [...whole, ...begun] });
    } else if (prefix !== null) {
      const typed = prefix.startsWith(SKU) ? prefix.slice(SKU.length) : prefix;
      found.push(typedMark(plain, first, last, typed, begun));
    }
  }

  /** The longest prefix that the term starts with. */
  #prefixOf(term: string): string | null {
    for (const { prefix } of this.#prefixes) if (term.startsWith(prefix)) return prefix;
    return null;
  }

  /** Adds marks for the sequences that begin with `term` at `position`. */
  #markSequences(found: Mark[], text: TextTokens, position: number, term: string): void {
    const sequences = this.#sequences.get(term);
    if (sequences === undefined) return;
    for (const sequence of sequences) markSequence(found, text, position, sequence);
  }
}

function entry(all: Map<string, Stands>, term: string): Stands {
  const known = all.get(term) ?? { words: [], typos: [] };
  all.set(term, known);
  return known;
}

function listed<T>(lists: Map<string, T[]>, key: string): T[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

/** A text's tokens by position. */
class TextTokens {
  readonly plain: Token[] = [];
  /** Joined tokens, by their first part's position. */
  readonly joined = new Map<number, Token>();

  constructor(tokens: readonly Token[]) {
    for (const token of tokens) {
      if (token.parts === 1) this.plain.push(token);
      else this.joined.set(token.position, token);
    }
  }

  /** If `term` occurs at `position`, returns the last plain token that it covers; otherwise -1. */
  lastOf(term: string, position: number): number {
    if (this.plain[position]?.term === term) return position;
    const joined = this.joined.get(position);
    return joined?.term === term ? position + joined.parts - 1 : -1;
  }
}

/** Marks the typed part of tokens first..last. The mark may end before `last`. */
function typedMark(
  plain: readonly Token[],
  first: number,
  last: number,
  typed: string,
  words: readonly number[],
): Mark {
  let rest = typed;
  let at = first;
  for (; at < last; at++) {
    const { length } = (plain[at] as Token).term;
    if (rest.length <= length) break;
    rest = rest.slice(length);
  }
  const complete = rest.length >= (plain[at] as Token).term.length;
  // If the typed part lies within the first token, that token alone is the match, not the whole joined token.
  const matchedLast = at === first ? first : last;
  return { first, last: at, typed: complete ? null : rest, matchedLast, words };
}

/** Adds marks if the sequence occurs at the position: one mark per term, but adjoining terms share a mark. */
function markSequence(found: Mark[], text: TextTokens, position: number, { terms, words }: Sequence): void {
  const ranges: { first: number; last: number }[] = [];
  for (const [i, term] of terms.entries()) {
    const first = position + i;
    const last = text.lastOf(term, first);
    if (last < 0) return;
    const before = ranges.at(-1);
    if (before !== undefined && text.plain[before.last]?.end === text.plain[first]?.start) before.last = last;
    else ranges.push({ first, last });
  }
  for (const { first, last } of ranges) found.push({ first, last, typed: null, matchedLast: last, words });
}

function merged(found: Mark[]): Mark[] {
  found.sort((a, b) => a.first - b.first);
  const marks: Mark[] = [];
  for (const mark of found) {
    const before = marks.at(-1);
    if (before === undefined || before.last < mark.first) marks.push(mark);
    else marks[marks.length - 1] = union(before, mark);
  }
  return marks;
}

/** Merges two marks that share a token. `a` must not begin after `b`. */
function union(a: Mark, b: Mark): Mark {
  const longer = a.last === b.last ? longerTyped(a.typed, b.typed) : a.last > b.last ? a.typed : b.typed;
  return {
    first: a.first,
    last: Math.max(a.last, b.last),
    typed: longer,
    matchedLast: Math.max(a.matchedLast, b.matchedLast),
    words: [...new Set([...a.words, ...b.words])],
  };
}

function longerTyped(a: string | null, b: string | null): string | null {
  return a === null || b === null ? null : a.length >= b.length ? a : b;
}
