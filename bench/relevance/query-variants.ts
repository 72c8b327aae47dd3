// Derives variants of a query, repeatable from a seed: with a typing error, cut down to a few words, and
// inside a sentence as people would ask it.

import { languageStopWords } from "../../server/question/words/stop-words.js";
import { Random } from "../random.js";
import { ERROR_KINDS, mistype } from "./typing-error.js";

/** Ways to change a query. Append only: each change's seed depends on its position in this list. */
const CHANGES = [...ERROR_KINDS, "short", "natural"] as const;
export type Variant = "clean" | (typeof CHANGES)[number];

const SHORTENED_WORDS_MIN = 3;
const STOP_WORDS: ReadonlySet<string> = new Set(languageStopWords("en"));

/** Sentences to wrap around a query. Most of them contain words that are neither stop words nor on topic. */
const WRAPPINGS: readonly ((query: string) => string)[] = [
  (query) => `what is known about ${query}?`,
  (query) => `i am looking for ${query}`,
  (query) => `where do i find ${query} and which of them is the best one`,
  (query) => `can you show me ${query}, please?`,
  (query) => `tell me more about ${query}`,
  (query) => `we would like to see everything you have on ${query}`,
];

/** Returns all texts in one form. The result depends only on the seed, the variant and the texts. */
export function variantTexts(texts: readonly string[], variant: Variant, seed: number): readonly string[] {
  if (variant === "clean") return texts;
  const random = new Random(seed + CHANGES.indexOf(variant));
  return texts.map((text) => {
    switch (variant) {
      case "short":
        return shorten(text, random);
      case "natural":
        return asSentence(text, random);
      default:
        return mistype(text, variant, random) ?? text;
    }
  });
}

/**
 * Keeps half of the words that are not stop words, rounded up and in order. A text with fewer than three such
 * words stays unchanged.
 */
export function shorten(text: string, random: Random): string {
  const words = text.split(/\s+/).filter(isTopicWord);
  if (words.length < SHORTENED_WORDS_MIN) return text;
  let wanted = Math.ceil(words.length / 2);
  const kept = words.filter((_, i) => {
    const taken = random.below(words.length - i) < wanted;
    if (taken) wanted--;
    return taken;
  });
  return kept.join(" ");
}

/** Puts the text, without its trailing punctuation, inside one of the wrappings. */
export function asSentence(text: string, random: Random): string {
  return random.pick(WRAPPINGS)(text.trim().replace(/[\s.?!]+$/, ""));
}

/** True if the word, ignoring punctuation around it, has a letter or digit and is not a stop word. */
function isTopicWord(word: string): boolean {
  const bare = word.toLowerCase().replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "");
  return bare !== "" && !STOP_WORDS.has(bare);
}
