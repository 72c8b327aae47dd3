// Compares the texts of two queries: which words differ, and whether they differ only in spelling or word
// form.
import { languageNumber, stem } from "../../engine-wasm/host/stemmer.js";
import { editsWithin } from "../question/words/typos/edits-within.js";

const INNER_APOSTROPHE = /(?<=[\p{L}\p{N}\p{M}])['’](?=[\p{L}\p{N}\p{M}])/gu;

/** Splits a normalised text into words, as the analyser does. `men's` becomes the single word `mens`. */
export function wordsIn(text: string): string[] {
  return text
    .replace(INNER_APOSTROPHE, "")
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((word) => word !== "");
}

export interface Difference {
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Number of equal words removed from the start and the end. */
  readonly shared: number;
}

/**
 * Removes the words that two texts share at their start and at their end, and returns the rest of each text.
 */
export function differenceOf(before: readonly string[], after: readonly string[]): Difference {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return {
    before: before.slice(head, before.length - tail),
    after: after.slice(head, after.length - tail),
    shared: head + tail,
  };
}

/** Reduces words to their stems: `shoes` becomes `shoe`. If `language` is null, uses English stems. */
export function stemsOf(words: readonly string[], language: string | null): string[] {
  const number = languageNumber(language ?? "en");
  return words.map((word) => stem(number, word));
}

/** Two keys for a text. If two texts have either key in common, one is a form of the other. */
export interface WordForm {
  readonly joined: string;
  readonly stems: string;
}

export function wordForm(words: readonly string[], language: string | null): WordForm {
  return { joined: words.join(""), stems: stemsOf(words, language).sort().join(" ") };
}

/** True if the texts differ only in endings, word order, or whether words are joined. */
export function areSameForm(a: WordForm, b: WordForm): boolean {
  return a.joined === b.joined || a.stems === b.stems;
}

export function areForms(a: readonly string[], b: readonly string[], language: string | null): boolean {
  return areSameForm(wordForm(a, language), wordForm(b, language));
}

/** Number of letters for each allowed typing error. */
const LETTERS_PER_ERROR = 4;
const ERRORS_MAX = 2;

/** True if one text may be a misspelling of the other. */
export function areSpellings(a: string, b: string): boolean {
  const errors = Math.min(ERRORS_MAX, Math.floor(Math.max(a.length, b.length) / LETTERS_PER_ERROR));
  // Each error adds at most one letter and removes at most one. This cheap test rules out most pairs.
  if (bitsOf(lettersOf(a) ^ lettersOf(b)) > errors * 2) return false;
  return editsWithin(a, b, errors);
}

/** The letters of a text as a 32-bit set, in which several letters share a bit. */
function lettersOf(text: string): number {
  let letters = 0;
  for (let i = 0; i < text.length; i++) letters |= 1 << text.charCodeAt(i);
  return letters;
}

function bitsOf(letters: number): number {
  let bits = 0;
  for (let left = letters; left !== 0; left &= left - 1) bits++;
  return bits;
}
