// Ways to match words besides the word itself, its prefix and its typos, as listed in docs/ranking.md. They
// follow from the query alone, whatever words the documents contain.
import { isDeepStrictEqual } from "node:util";
import type { SynonymGroup } from "../curation.js";
import type { Analysis } from "../segments/values.js";
import { words as wordsOf } from "./analyse.js";
import { skuTerm, stemTerms } from "./markers.js";
import type { QueryText, QueryWord } from "./text.js";

export interface Variant {
  kind: "stem" | "joined" | "synonym" | "split";
  /** Numbers of the query words that a document matches if it contains this variant. */
  covers: number[];
  terms: string[];
  /** True if the terms must be consecutive; otherwise, any one of them matches. */
  sequence: boolean;
  prefix: boolean;
  exact: boolean;
  factor: number;
}

const LETTERS_MAX = 40;
const SKU_TERMS_MAX = 8;
const ENTRIES_MAX = 200;

const hasDigit = (text: string): boolean => /\p{N}/u.test(text);

export function variantsOf(
  text: QueryText,
  languages: number[],
  groups: SynonymGroup[],
  hasSkuField: boolean,
  analysis: Analysis,
): Variant[] {
  const alone = text.words.flatMap((word, i) =>
    word.quoted || word.terms.length > 1
      ? []
      : [...stems(word, i, languages), ...splits(word.terms[0]!).map((parts) => split([i], parts))],
  );
  const together = [...compounds(text), ...neighbours(text)];
  const all = [
    ...alone,
    ...together,
    ...together.filter(({ prefix }) => !prefix).flatMap(cutAnew),
    ...(hasSkuField ? partNumbers(text) : []),
    ...synonyms(text, groups, languages, analysis),
  ];
  return all.filter((one, i) => all.findIndex((other) => isDeepStrictEqual(other, one)) === i);
}

function stems(word: QueryWord, i: number, languages: number[]): Variant[] {
  const terms = stemTerms(word.terms[0]!, languages);
  if (terms.length === 0) return [];
  return [{ kind: "stem", covers: [i], terms, sequence: false, prefix: false, exact: true, factor: 1 }];
}

function joined(term: string, covers: number[]): Variant {
  return { kind: "joined", covers, terms: [term], sequence: false, prefix: false, exact: true, factor: 0.95 };
}

/**
 * If the variant's last word may be unfinished, adds a second variant that matches longer words that start
 * with it.
 */
function withBegun(whole: Variant, unfinished: boolean): Variant[] {
  const begun = { ...whole, prefix: true, exact: false, factor: whole.factor * 0.8 };
  return unfinished ? [whole, begun] : [whole];
}

/** `wi-fi` matched as wifi. */
function compounds(text: QueryText): Variant[] {
  return text.compounds
    .filter(({ covers }) => !covers.includes(-1))
    .flatMap(({ term, covers, prefix }) => withBegun(joined(term, covers), prefix));
}

/** `wi fi` matched as wifi, `ab 123 4` as ab1234. */
function neighbours(text: QueryText): Variant[] {
  const found: Variant[] = [];
  for (const run of text.runs) {
    for (const count of [2, 3]) {
      for (let first = 0; first + count <= run.length; first++) {
        const tokens = run.slice(first, first + count);
        const covers = tokens.map(({ word }) => word);
        const words = covers.map((word) => text.words[word]);
        if (words.some((word) => word === undefined || word.terms.length > 1)) continue;
        if (new Set(covers).size < count) continue;
        const term = tokens.map((token) => token.term).join("");
        const last = words.at(-1)!;
        const numeric = hasDigit(term);
        if ([...term].length > LETTERS_MAX || (count === 3 && !numeric)) continue;
        if (!numeric && last.prefix && [...last.terms[0]!].length === 1) continue;
        found.push(...withBegun(joined(term, covers), numeric && last.prefix));
      }
    }
  }
  return found;
}

/** `ab 1234` matched as AB 123 4. */
function cutAnew({ terms, covers }: Variant): Variant[] {
  return hasDigit(terms[0]!) ? splits(terms[0]!).map((parts) => split(covers, parts)) : [];
}

/** The query's terms if the whole query may be a part number, otherwise null. */
export function partNumber(text: QueryText): string[] | null {
  const { terms, phrases, excludes } = text;
  if (terms.length === 0 || terms.length > SKU_TERMS_MAX) return null;
  if (phrases.length > 0 || excludes.length > 0) return null;
  return [...terms.join("")].length <= LETTERS_MAX ? terms : null;
}

function partNumbers(text: QueryText): Variant[] {
  const terms = partNumber(text);
  if (terms === null) return [];
  const all = text.words.map((_, i) => i);
  const whole = { ...joined(skuTerm(terms), all), factor: 1 };
  const letters = terms.join("");
  const begun = hasDigit(letters) && [...letters].length >= 3 && text.words.at(-1)!.prefix;
  return withBegun(whole, begun);
}

/**
 * If consecutive query words equal an entry of a synonym group (in a one-way group, its root), they also
 * match the group's other entries.
 */
function synonyms(
  text: QueryText,
  groups: SynonymGroup[],
  languages: number[],
  analysis: Analysis,
): Variant[] {
  const termsOf = (entry: string): string[] => wordsOf(entry, analysis).map(({ term }) => term);
  const enabled = groups.filter((group) => group.enabled);
  const found: Variant[] = [];
  for (const run of text.runs) {
    for (let first = 0; first < run.length; first++) {
      for (let end = first + 1; end <= run.length; end++) {
        const tokens = run.slice(first, end);
        const stretch = tokens.map(({ term }) => term).join(" ");
        const covers = [...new Set(tokens.map(({ word }) => word))].filter((word) => word >= 0);
        if (covers.length === 0) continue;
        const others = new Set<string>();
        for (const { type, root, synonyms: entries } of enabled) {
          const from = type === "multi_way" ? entries : [root!];
          if (!from.some((entry) => termsOf(entry).join(" ") === stretch)) continue;
          for (const entry of entries) others.add(termsOf(entry).join(" "));
        }
        others.delete(stretch);
        others.delete("");
        for (const other of [...others].slice(0, ENTRIES_MAX)) {
          const terms = other.split(" ");
          const sequence = terms.length > 1;
          if (!sequence) terms.push(...stemTerms(other, languages));
          found.push({ kind: "synonym", covers, terms, sequence, prefix: false, exact: false, factor: 0.9 });
        }
      }
    }
  }
  return found;
}

function split(covers: number[], terms: string[]): Variant {
  const edges = terms.slice(1).map((right, i) => [[...terms[i]!].at(-1)!, [...right][0]!] as const);
  const exact = edges.every(([left, right]) => hasDigit(left) !== hasDigit(right));
  return { kind: "split", covers, terms, sequence: true, prefix: false, exact, factor: 0.9 };
}

/** Cuts a text at these positions, which are in ascending order. */
function cutAt(letters: string[], places: number[]): string[] {
  const edges = [0, ...places, letters.length];
  return edges.slice(1).map((end, i) => letters.slice(edges[i], end).join(""));
}

/**
 * Returns ways to split a word. A word of letters is split in two. A word with digits is split where letters
 * and digits meet: at one such position, at all of them, or at all of them and once within a number.
 */
function splits(term: string): string[][] {
  const letters = [...term];
  const places = letters.map((_, at) => at).slice(1);
  if (!hasDigit(term)) {
    const first = letters.length === 4 ? 2 : 1;
    if (letters.length < 4) return [];
    return places.filter((at) => at >= first && letters.length - at >= 2).map((at) => cutAt(letters, [at]));
  }
  const changes = places.filter((at) => hasDigit(letters[at - 1]!) !== hasDigit(letters[at]!));
  if (changes.length === 0) return [];
  const single = changes.map((at) => cutAt(letters, [at]));
  if (letters.length > 12 || changes.length > 3) return single;
  const pieces = cutAt(letters, changes);
  const isCode = pieces.every((piece) => hasDigit(piece) || [...piece].length <= 4);
  const inNumbers = places.filter((at) => {
    const start = Math.max(0, ...changes.filter((change) => change <= at));
    const end = Math.min(letters.length, ...changes.filter((change) => change > at));
    return isCode && !changes.includes(at) && hasDigit(letters[at]!) && end - start >= 3;
  });
  const finer = inNumbers.map((at) =>
    cutAt(
      letters,
      [...changes, at].sort((a, b) => a - b),
    ),
  );
  return [...(changes.length > 1 ? [cutAt(letters, changes)] : []), ...single, ...finer];
}

/**
 * Returns all ways to split a word with digits into two or three parts; none if the word is quoted or has
 * more than twelve characters.
 */
export function looseSplits(word: QueryWord, i: number): Variant[] {
  const letters = [...word.terms[0]!];
  const loose = word.terms.length === 1 && !word.quoted && hasDigit(word.terms[0]!) && letters.length <= 12;
  if (!loose) return [];
  const places = letters.map((_, at) => at).slice(1);
  const rest = (at: number): number[] => places.filter((other) => other > at);
  return places.flatMap((at) => [
    split([i], cutAt(letters, [at])),
    ...rest(at).map((other) => split([i], cutAt(letters, [at, other]))),
  ]);
}
