// Makes one typing error in one word of a query, repeatable from a seed. Covers the four kinds of error that
// typo tolerance promises to forgive. Keeps the first letter, which people usually get right.

import type { Random } from "../random.js";

export const ERROR_KINDS = ["substitution", "deletion", "insertion", "transposition"] as const;
export type ErrorKind = (typeof ERROR_KINDS)[number];

const LONG_WORD_LETTERS = 5;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz";

/**
 * Returns `text` with one error in one of its words of five or more letters or, if all are shorter, in one of
 * its longest words. A word without two different letters to swap gets a substitution instead. Null if no
 * word has at least two letters.
 */
export function mistype(text: string, kind: ErrorKind, random: Random): string | null {
  const candidates = wordsToHit(text);
  if (candidates.length === 0) return null;
  const { 0: word, index } = random.pick(candidates);
  return text.slice(0, index) + mistypeWord(word, kind, random) + text.slice(index + word.length);
}

/** True if `mistype` is certain to change a word of at least `letters` letters. */
export function hitsWordOf(letters: number, text: string): boolean {
  const candidates = wordsToHit(text);
  return candidates.length > 0 && candidates.every((match) => match[0].length >= letters);
}

function wordsToHit(text: string): RegExpExecArray[] {
  const words = [...text.matchAll(/\p{L}+/gu)].filter((match) => match[0].length >= 2);
  const long = words.filter((match) => match[0].length >= LONG_WORD_LETTERS);
  const longest = words.reduce((most, match) => Math.max(most, match[0].length), 0);
  return long.length > 0 ? long : words.filter((match) => match[0].length === longest);
}

/**
 * Returns a different word that is one edit away and has the same first letter. Needs at least two letters.
 */
export function mistypeWord(word: string, kind: ErrorKind, random: Random): string {
  const at = random.from(1, word.length - 1);
  switch (kind) {
    case "substitution":
      return word.slice(0, at) + otherLetter(word[at]!, random) + word.slice(at + 1);
    case "deletion":
      return word.slice(0, at) + word.slice(at + 1);
    case "insertion":
      return word.slice(0, at) + random.pick([...ALPHABET]) + word.slice(at);
    case "transposition": {
      const swaps = [...word].flatMap((letter, i) => (i > 0 && letter !== word[i + 1] ? [i] : []));
      swaps.splice(swaps.indexOf(word.length - 1), 1);
      if (swaps.length === 0) return mistypeWord(word, "substitution", random);
      const i = random.pick(swaps);
      return word.slice(0, i) + word[i + 1] + word[i] + word.slice(i + 2);
    }
  }
}

function otherLetter(letter: string, random: Random): string {
  return random.pick([...ALPHABET].filter((other) => other !== letter.toLowerCase()));
}
