// Reads a query: finds the words that express a range, a sort, something to leave out or a facet value, and
// the words that mean nothing for the search. Pure functions: the same text and facts produce the same
// readings. meaning.ts, which can query the index, decides which readings are used.
import type { IndexFacts } from "./facts.js";
import { LANGUAGES } from "./languages/all.js";
import { AND, ARTICLE, BOUND, CONNECTIVE, cuesOf, FILLER, WITHOUT } from "./languages/cues.js";
import { type Language, type Phrases, phraseAt } from "./languages/language.js";
import { negationAt } from "./negations.js";
import { rangeAt } from "./ranges.js";
import type { Reading } from "./reading.js";
import { sortAt } from "./sorts.js";
import { type TextPiece, tokensOf } from "./tokens.js";
import { isFunctionWord, mayBeginValue, misspeltValueAt, namedValueAt, valueAt } from "./values.js";

/** A text's readings. */
export class ReadText {
  readonly text: string;
  readonly tokens: readonly TextPiece[];
  /** What the query says explicitly: ranges, sorts, negations, and values with their field's name. */
  readonly named: readonly Reading[];
  /** Polite and interrogative words that mean nothing for the search. */
  readonly fillers: readonly Reading[];
  /** Language of the first named reading, otherwise of the first filler, otherwise English. */
  readonly language: Language;
  readonly #facts: IndexFacts;
  #values: readonly Reading[] | null = null;

  constructor(text: string, tokens: readonly TextPiece[], facts: IndexFacts) {
    this.text = text;
    this.tokens = tokens;
    this.fillers = fillersOf(tokens);
    this.named = namedReadings(text, tokens, facts, this.fillers);
    this.language = this.named[0]?.language ?? this.fillers[0]?.language ?? LANGUAGES[0];
    this.#facts = facts;
  }

  /**
   * Facet values mentioned in the text, in words that no named reading uses. They are read when first asked
   * for, because they take longest and most texts are answered without them.
   */
  get values(): readonly Reading[] {
    this.#values ??= valueReadings(this.tokens, this.#facts, [...this.named, ...this.fillers], this.language);
    return this.#values;
  }
}

/**
 * Returns the text's readings. Returns null for a text without tokens, and for one with more than `tokensMax`
 * tokens, which nobody would type as a query.
 */
export function readText(text: string, facts: IndexFacts, tokensMax: number): ReadText | null {
  const tokens = tokensOf(text);
  if (tokens.length === 0 || tokens.length > tokensMax) return null;
  return new ReadText(text, tokens, facts);
}

function namedReadings(
  text: string,
  tokens: readonly TextPiece[],
  facts: IndexFacts,
  fillers: readonly Reading[],
): Reading[] {
  const isBareEnd = (place: number): boolean =>
    place >= tokens.length || fillers.some(({ from }) => from === place);
  const isCue = (place: number): boolean => isBareEnd(place) || beginsCue(tokens, place, facts);
  const isAnd = (place: number): boolean => (cuesOf(tokens[place]?.key ?? "") & AND) !== 0;
  const ends = (place: number): boolean => isCue(place) || (isAnd(place) && isCue(place + 1));
  const hasNumber = tokens.some(({ value }) => value !== null);
  const found: Reading[] = [];
  for (let at = 0; at < tokens.length; ) {
    const filler = fillers.find(({ from }) => from === at);
    const reading =
      filler === undefined
        ? ((hasNumber ? rangeAt(tokens, at, facts, ends) : null) ??
          sortAt(tokens, at, facts) ??
          negationAt(text, tokens, at, isCue) ??
          namedValueAt(tokens, at, facts))
        : null;
    if (reading !== null && !fillers.some((other) => overlap(reading, other))) found.push(reading);
    at = filler?.to ?? reading?.to ?? at + 1;
  }
  if (found.length === 0) return found;
  return withArticles(tokens, clear(tokens, facts, found, fillers), fillers);
}

/**
 * True if a range, a sort or a negation may begin at a position, so that the reading before it ends there.
 */
function beginsCue(tokens: readonly TextPiece[], place: number, facts: IndexFacts): boolean {
  const keyAt = (at: number): string | undefined => tokens[at]?.key;
  const cues = cuesOf(keyAt(place) ?? "");
  if ((cues & CONNECTIVE) !== 0 || sortAt(tokens, place, facts) !== null) return true;
  return (
    (cues & (WITHOUT | BOUND)) !== 0 &&
    LANGUAGES.some(({ without, before, between }) =>
      [without, before, between].some((table) => phraseAt(table as Phrases<unknown>, place, keyAt) !== null),
    )
  );
}

/**
 * Drops contradictory and misplaced readings. If a field has several ranges, or the query has several sorts,
 * all of them are dropped. A sort must be at the start or end of the query. A negation must follow something
 * else to search for. A query that begins with an article is a title rather than a request, so its negations
 * and values are words: `a day without rain`, `the color purple`.
 */
function clear(
  tokens: readonly TextPiece[],
  facts: IndexFacts,
  found: readonly Reading[],
  fillers: readonly Reading[],
): Reading[] {
  const fieldOf = (reading: Reading): string => reading.filter?.split(":")[0] ?? "";
  const ranges = found.filter(({ kind }) => kind === "range");
  const isDouble = (reading: Reading): boolean =>
    reading.kind === "range" &&
    ranges.some((other) => other !== reading && fieldOf(other) === fieldOf(reading));
  const sorts = found.filter(({ kind }) => kind === "sort");
  const taken = new Set([...found, ...fillers].flatMap(({ from, to }) => places(from, to)));
  const isArticle = (place: number): boolean => (cuesOf(tokens[place]!.key) & ARTICLE) !== 0;
  const isTaken = (place: number): boolean => taken.has(place) || isArticle(place);
  const isThing = (place: number): boolean =>
    !isTaken(place) && !isFunctionWord(tokens[place]!.key) && !beginsCue(tokens, place, facts);
  const isTitle = !taken.has(0) && isArticle(0);
  const isOutside = ({ from, to }: Reading): boolean =>
    places(0, from).every(isTaken) || places(to, tokens.length).every(isTaken);
  const isKept = (reading: Reading): boolean => {
    if (reading.kind === "sort") return sorts.length === 1 && isOutside(reading);
    if (reading.kind === "range") return !isDouble(reading);
    return !isTitle && (reading.kind !== "without" || places(0, reading.from).some(isThing));
  };
  return found.filter(isKept);
}

/** Extends sorts to the article before them: `the cheapest`, `les mieux notés`. */
function withArticles(
  tokens: readonly TextPiece[],
  readings: readonly Reading[],
  fillers: readonly Reading[],
): Reading[] {
  const others = [...readings, ...fillers];
  return readings.map((reading) => {
    const { language, from, kind } = reading;
    const before = tokens[from - 1];
    const goes = kind === "sort" && before !== undefined && language.articles.has(before.key);
    return goes && !others.some(({ to }) => to === from) ? { ...reading, from: from - 1 } : reading;
  });
}

function overlap(a: Reading, b: Reading): boolean {
  return a.from < b.to && b.from < a.to;
}

/**
 * Finds polite and interrogative phrases at the beginning, with the articles that follow them, and one such
 * phrase at the end. Returns none if the query consists of nothing else.
 */
function fillersOf(tokens: readonly TextPiece[]): Reading[] {
  const keyAt = (place: number): string | undefined => tokens[place]?.key;
  const at = (place: number): Reading | null => {
    if ((cuesOf(keyAt(place) ?? "") & FILLER) === 0) return null;
    for (const language of LANGUAGES) {
      const phrase = phraseAt(language.fillers, place, keyAt);
      if (phrase === null) continue;
      const to = place + phrase.keys.length;
      return { from: place, to, kind: "filler", said: "", doubt: null, language };
    }
    return null;
  };
  const fillers: Reading[] = [];
  let from = 0;
  for (let filler = at(from); filler !== null; filler = at(from)) {
    const { language } = filler;
    let { to } = filler;
    while (
      language.articles.has(keyAt(to) ?? "") ||
      (to > from && keyAt(to) === "for" && language.code === "en")
    )
      to++;
    fillers.push({ ...filler, to });
    from = to;
  }
  for (let place = Math.max(from, tokens.length - 3); place < tokens.length; place++) {
    const filler = at(place);
    if (filler !== null && filler.to === tokens.length) {
      fillers.push(filler);
      break;
    }
  }
  const all = fillers.reduce((sum, { from: first, to }) => sum + to - first, 0);
  return all < tokens.length ? fillers : [];
}

function valueReadings(
  tokens: readonly TextPiece[],
  facts: IndexFacts,
  taken: readonly Reading[],
  language: Language,
): Reading[] {
  const isTaken = (place: number): boolean => taken.some(({ from, to }) => from <= place && place < to);
  const found: Reading[] = [];
  const isFree = (place: number): boolean =>
    !isTaken(place) && !found.some(({ from, to }) => from <= place && place < to);
  const isLast = (place: number): boolean => places(place, tokens.length).every((at) => !isFree(at));
  const add = (at: number, reading: Reading | null): void => {
    if (reading !== null && places(reading.from, reading.to).every(isFree)) found.push(reading);
    else if (reading === null && isFree(at)) {
      const misspelt = misspeltValueAt(tokens, at, facts, language);
      if (misspelt !== null) found.push(misspelt);
    }
  };
  // Start at the end, so that a category followed only by values is recognised as the last word.
  for (let at = tokens.length - 1; at >= 0; at--) {
    if (!isFree(at)) continue;
    add(at, longestFrom(tokens, at, facts, isLast, language, isFree));
  }
  return oneForEachField(found.reverse());
}

/** Returns the longest value that ends at a token. */
function longestFrom(
  tokens: readonly TextPiece[],
  end: number,
  facts: IndexFacts,
  isLast: (place: number) => boolean,
  language: Language,
  isFree: (place: number) => boolean,
): Reading | null {
  for (let at = Math.max(0, end - facts.wordsMax + 1); at <= end; at++) {
    if (!mayBeginValue(tokens[at]!, facts) || !places(at, end + 1).every(isFree)) continue;
    const reading = valueAt(
      tokens.slice(0, end + 1),
      at,
      facts,
      (place) => place === end + 1 && isLast(place),
      language,
    );
    if (reading?.to === end + 1) return reading;
  }
  return null;
}

/**
 * Drops all values of a field if the query names several: someone who names two brands wants a choice or a
 * comparison, not a filter.
 */
function oneForEachField(readings: readonly Reading[]): Reading[] {
  const fieldOf = ({ filter }: Reading): string => filter?.split(":")[0] ?? "";
  return readings.filter(
    (reading) => !readings.some((other) => other !== reading && fieldOf(other) === fieldOf(reading)),
  );
}

function places(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}
