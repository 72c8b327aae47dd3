// Finds facet values in a query, such as a brand, colour or category, with the field's name (`brand adidas`)
// or without it. A value may be in the plural, a colour in another language, or misspelt. Without the field's
// name, a value is read only if it occurs in exactly one field.

import { editsWithin } from "../../question/words/typos/edits-within.js";
import { type IndexFacts, lettersOf, type NamedValue } from "./facts.js";
import { LANGUAGES } from "./languages/all.js";
import {
  AND,
  ARTICLE,
  COLOUR,
  CONNECTIVE,
  cuesOf,
  FIELD_NAME,
  GOES_WITH,
  NEGATION,
} from "./languages/cues.js";
import type { Language } from "./languages/language.js";
import { filled, labelOf, type Reading, valueFilter } from "./reading.js";
import type { TextPiece } from "./tokens.js";

const LETTERS_MIN = 3;
/**
 * Minimum number of letters in a brand. Lower than for other values, because a brand may be as short as HP.
 */
const BRAND_LETTERS_MIN = 2;
const ONE_EDIT_LETTERS_MIN = 5;
const TWO_EDITS_LETTERS_MIN = 9;

/** Reads a field name followed by a value: `brand adidas`, `colour: black`. */
export function namedValueAt(tokens: readonly TextPiece[], at: number, facts: IndexFacts): Reading | null {
  const word = tokens[at];
  const field = word?.kind === "word" ? facts.fieldNamed(word.key) : null;
  if (word === undefined || field === null || field.kind !== "string") return null;
  const found = longestValue(tokens, at + 1, facts, (value) => value.field === field);
  if (found === null) return null;
  return { ...readingOf(found.value, at, found.to, languageOfName(word.key)), doubt: "share" };
}

/**
 * Returns the facet value that begins at token `at`. `isLast(place)` returns true if all tokens from `place`
 * on belong to readings.
 */
export function valueAt(
  tokens: readonly TextPiece[],
  at: number,
  facts: IndexFacts,
  isLast: (place: number) => boolean,
  language: Language,
): Reading | null {
  if (followsGoesWith(tokens, at)) return null;
  const found = longestValue(tokens, at, facts, () => true) ?? colourAt(tokens, at, facts, language);
  if (found === null || !isSaid(found.value)) return null;
  // The product itself comes last in most languages: `shoe rack` does not name a shoe. So a category counts
  // only at the end.
  if (found.value.subject === "category" && !language.headFirst && !isLast(found.to)) return null;
  if (found.value.subject === "category" && language.headFirst && at > 0 && !isLast(found.to)) return null;
  return { ...readingOf(found.value, at, found.to, language), doubt: "share" };
}

/**
 * Returns the facet value that a word misspells, if exactly one value is within the allowed number of edits.
 */
export function misspeltValueAt(
  tokens: readonly TextPiece[],
  at: number,
  facts: IndexFacts,
  language: Language,
): Reading | null {
  const { kind, key, opens, closes } = tokens[at]!;
  if (!opens || !closes) return null;
  if (kind !== "word" || key.length < ONE_EDIT_LETTERS_MIN || !/^\p{L}+$/u.test(key)) return null;
  if (followsGoesWith(tokens, at)) return null;
  const editsMax = key.length < TWO_EDITS_LETTERS_MIN ? 1 : 2;
  const letters = lettersOf(key);
  let near: NamedValue | null = null;
  for (let length = key.length - editsMax; length <= key.length + editsMax; length++) {
    for (const spelled of facts.valuesLike(length, key.charAt(0))) {
      // Most words differ in more letters than the edits could change.
      if (bitsIn(letters ^ spelled.letters) > 2 * editsMax || !editsWithin(key, spelled.word, editsMax))
        continue;
      if (near !== null) return null;
      near = spelled.value;
    }
  }
  if (near === null || near.subject === "category") return null;
  return { ...readingOf(near, at, at + 1, language), doubt: "share", corrected: near.spellings[0]! };
}

/** Number of bits that are set. */
function bitsIn(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count++;
  return count;
}

/** False if no value can begin at the token. */
export function mayBeginValue({ kind, key, opens }: TextPiece, facts: IndexFacts): boolean {
  return opens && kind !== "sealed" && (facts.beginsValue(key) || (cuesOf(key) & COLOUR) !== 0);
}

/** True after a word such as `for`: what follows is not the product, but what it goes with. */
function followsGoesWith(tokens: readonly TextPiece[], at: number): boolean {
  return (cuesOf(tokens[at - 1]?.key ?? "") & GOES_WITH) !== 0;
}

interface Found {
  readonly value: NamedValue;
  readonly to: number;
}

function longestValue(
  tokens: readonly TextPiece[],
  at: number,
  facts: IndexFacts,
  wanted: (value: NamedValue) => boolean,
): Found | null {
  if (tokens[at]?.opens !== true) return null;
  const keys: string[] = [];
  let found: Found | null = null;
  for (let to = at; to < tokens.length && keys.length < facts.wordsMax; to++) {
    const { kind, key } = tokens[to]!;
    if (kind === "sealed") break;
    if (kind === "symbol") {
      if (to === at || !tokens[to]!.touches) break;
      continue;
    }
    keys.push(key);
    if (!tokens[to]!.closes) continue;
    const all = facts.values(keys);
    if (all.length === 0) continue;
    const fields = new Set(all.map(({ field }) => field));
    const named = all.filter(wanted);
    const [value] = named;
    // A value that occurs in two fields is ambiguous unless the query names its field.
    if (
      value !== undefined &&
      new Set(named.map(({ field }) => field)).size === 1 &&
      (fields.size === 1 || named.length < all.length)
    )
      found = { value: named.length === 1 ? value : merged(named), to: to + 1 };
    else found = null;
  }
  return found;
}

/** Combines values of one field, such as singular and plural, into one value with all their spellings. */
function merged(values: readonly NamedValue[]): NamedValue {
  return { ...values[0]!, spellings: values.flatMap(({ spellings }) => spellings) };
}

/**
 * Finds a colour that the index has only in another language: maps the query's word to the index's word for
 * that colour.
 */
function colourAt(
  tokens: readonly TextPiece[],
  at: number,
  facts: IndexFacts,
  language: Language,
): Found | null {
  const number = language.colours.get(tokens[at]?.key ?? "");
  if (number === undefined || facts.values([tokens[at]!.key]).length > 0) return null;
  for (const { colours } of LANGUAGES) {
    for (const [word, its] of colours) {
      if (its !== number) continue;
      const value = facts.values([word]).find(({ subject }) => subject === "colour");
      if (value !== undefined) return { value, to: at + 1 };
    }
  }
  return null;
}

/**
 * True if people would name the value in a query. It needs enough letters, or both letters and digits, and
 * must not be a single function word.
 */
function isSaid({ keys, subject }: NamedValue): boolean {
  const letters = keys.join("").replace(/[^\p{L}]/gu, "").length;
  const isMixed = /\d/.test(keys.join("")) && letters > 0;
  if (letters < (subject === "brand" ? BRAND_LETTERS_MIN : LETTERS_MIN) && !isMixed) return false;
  return !(keys.length === 1 && isFunctionWord(keys[0] as string));
}

const FUNCTION_WORD = ARTICLE | CONNECTIVE | GOES_WITH | AND | FIELD_NAME | NEGATION;

/** True if the word only joins others, or names a field or a negation. */
export function isFunctionWord(key: string): boolean {
  return (cuesOf(key) & FUNCTION_WORD) !== 0;
}

function readingOf(value: NamedValue, from: number, to: number, language: Language): Reading {
  const { field, subject, spellings } = value;
  return {
    from,
    to,
    kind: "value",
    // Colours match by word, so `Wine Red` counts as red. Other values match whole: `Nike Golf` is not
    // `Nike`.
    filter: valueFilter(field, spellings, subject === "colour"),
    said: filled(language.sentences.equals, { field: labelOf(field), n: spellings[0] as string }),
    doubt: "share",
    language,
  };
}

function languageOfName(key: string): Language {
  return LANGUAGES.find(({ names }) => names.has(key)) ?? LANGUAGES[0];
}
