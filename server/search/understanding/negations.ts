// Finds negations in a query, such as `without strap`, `ohne Schnalle`, `sans boucle`, `sin hebilla`.
// Documents that contain the negated words come last.
import { LANGUAGES } from "./languages/all.js";
import { ARTICLE, CONNECTIVE, cuesOf, WITHOUT } from "./languages/cues.js";
import { type Language, phraseAt } from "./languages/language.js";
import { filled, type Reading, spanText } from "./reading.js";
import type { TextPiece } from "./tokens.js";

/** Maximum number of words in a negated phrase. A longer phrase is a sentence rather than a thing. */
const WORDS_MAX = 2;
const FOLLOWED_BY_NOUN = new Set(["no", "kein", "keine", "keinen", "not", "nicht", "pas"]);

/**
 * Returns the negation that begins at token `at`. It ends before the next reading: `isCue` tells whether one
 * may begin at a position.
 */
export function negationAt(
  text: string,
  tokens: readonly TextPiece[],
  at: number,
  isCue: (place: number) => boolean,
): Reading | null {
  if ((cuesOf(tokens[at]!.key) & WITHOUT) === 0) return null;
  const keyAt = (place: number): string | undefined => tokens[place]?.key;
  for (const language of LANGUAGES) {
    if (phraseAt(language.setPhrases, at, keyAt) !== null) return null;
  }
  for (const language of LANGUAGES) {
    const phrase = phraseAt(language.without, at, keyAt);
    if (phrase === null) continue;
    const denied = deniedAt(tokens, at + phrase.keys.length, language, isCue);
    if (denied === null) continue;
    const isDeterminer = FOLLOWED_BY_NOUN.has(phrase.keys[0] as string);
    // A determiner such as `no` negates only a single word at the end of a query: `no show socks` does not
    // exclude `show socks`.
    if (isDeterminer && (denied.to < tokens.length || denied.words.length > 1)) continue;
    const avoided = denied.words.map(({ from, to }) => spanText(text, tokens, from, to));
    return {
      from: at,
      to: denied.to,
      kind: "without",
      avoided,
      said: avoided.map((n) => filled(language.sentences.avoided, { n })).join(", "),
      doubt: phrase.means.weak ? "all" : "lacking",
      language,
    };
  }
  return null;
}

interface Denied {
  readonly words: readonly { readonly from: number; readonly to: number }[];
  readonly to: number;
}

/**
 * Returns the negated words: one word, two words as a phrase, or two of these joined by `and`. Null if it is
 * unclear where they end.
 */
function deniedAt(
  tokens: readonly TextPiece[],
  start: number,
  language: Language,
  isCue: (place: number) => boolean,
): Denied | null {
  const keyAt = (place: number): string | undefined => tokens[place]?.key;
  let at = start;
  while (at < tokens.length && language.articles.has(tokens[at]!.key)) at++;
  const words: { from: number; to: number }[] = [];
  for (;;) {
    const from = at;
    while (at < tokens.length && isDeniable(tokens[at]!, language) && !(at > from && isCue(at))) at++;
    if (at === from || at - from > WORDS_MAX) return null;
    words.push({ from, to: at });
    const and = phraseAt(language.and, at, keyAt);
    if (and === null || words.length === WORDS_MAX) return { words, to: at };
    const next = at + and.keys.length;
    if (next >= tokens.length || !isDeniable(tokens[next]!, language)) return { words, to: at };
    at = next;
  }
}

function isDeniable({ kind, key }: TextPiece, language: Language): boolean {
  if (kind !== "word" || key.length < 2 || !/\p{L}/u.test(key)) return false;
  return (cuesOf(key) & (CONNECTIVE | ARTICLE)) === 0 && !isJoining(key, language);
}

function isJoining(key: string, { and }: Language): boolean {
  return and.has(key) || isPronoun(key);
}

/** True for words that continue a sentence rather than name a thing. */
export function isPronoun(key: string): boolean {
  return PRONOUNS.has(key);
}

const PRONOUNS: ReadonlySet<string> = new Set(
  (
    "your my our his her their its you me us them it this these those yourself myself him everything nothing be been " +
    "dein mein sein ihr unser dich mich uns euch dir mir ihn ihm ihnen alles nichts " +
    "ton mon son toi moi nous vous lui elle eux tout rien tu mi su ti nosotros todo nada ser"
  ).split(" "),
);
