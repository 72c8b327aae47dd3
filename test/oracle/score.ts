// Scores one document at a time, with floating-point operations in the engine's order. The formula is in
// docs/ranking.md. Alternatives and their boosts are given; plan.ts chooses them.
import { compareBytes, type Row } from "./segments/rows.js";

export interface Alternative {
  typos: number;
  /** If true and `typos` is 0, a match by this alternative counts as the word as written. */
  exact: boolean;
  /** True if the terms must be consecutive; otherwise, any one of them matches. */
  sequence: boolean;
  useForProximity: boolean;
  /** Matches only in fields with `infix`. */
  infixOnly?: boolean;
  boost: number;
  terms: { term: string; prefix: boolean }[];
}

export interface Word {
  /** The word's inverse document frequency, used for proximity. */
  weight: number;
  alternatives: Alternative[];
}

export interface QueriedField {
  name: string;
  weight: number;
  averageLength: number;
  /** True if words are also found inside longer words. */
  infix?: boolean;
}

export interface Program {
  /** `byScore`: any word suffices, and a document with all words gets no extra points. */
  mode: "all" | "any" | "byScore";
  fields: QueriedField[];
  /**
   * Average document length, where a document's length is the sum of its queried fields' lengths times their
   * weights.
   */
  averageLength: number;
  words: Word[];
  phrases: string[][];
  excludes: string[][];
  /** Documents with similar vectors. */
  neighbours?: Neighbours | null;
}

export interface Neighbours {
  place: "added" | "first";
  rows: readonly { seq: number; points: number; matches: boolean }[];
}

/** How well a row matches, and why. */
export interface RowMatch {
  text: number;
  /** True if the row matches by its words: all or any of them, depending on the mode. */
  matched: boolean;
  /** True if the row is one of the neighbours with `matches`. */
  neighbour: boolean;
  /** True if `neighbour` is true and the row also contains one of the query's words. */
  hasWord: boolean;
}

export const K1 = 1.2;
/** Strength of the normalisation by field length and document length. */
export const B = 0.4;
export const PROXIMITY_WEIGHT = 0.15;
const CLOSE_MAX = 8;
/** Neighbours that rank before all other documents have a text match of at least this. */
export const FIRST = 2 ** 52;

/** Returns the row's text match; null if the row does not match. */
export function textMatch(row: Row, program: Program): number | null {
  return matchOf(row, program)?.text ?? null;
}

/** Null if the row does not match. */
export function matchOf(row: Row, program: Program): RowMatch | null {
  const names = program.fields.map((field) => field.name);
  if (!program.phrases.every((phrase) => hasPhrase(row, names, phrase))) return null;
  if (program.excludes.some((phrase) => hasPhrase(row, names, phrase))) return null;
  const near = program.neighbours?.rows.find(({ seq }) => seq === row.seq);
  const neighbour = near?.matches === true;
  if (program.words.length === 0 && !program.neighbours)
    return { text: 0, matched: true, neighbour: false, hasWord: false };

  const saturation = saturationOf(row, program);
  const matches = program.words.map((word) => matchWord(row, program, word, saturation));
  const matched = matches.filter((match) => match !== null);
  const full = matched.length > 0 && matched.length === matches.length;
  const byWords = full || (program.mode !== "all" && matched.length > 0);
  if (!byWords && !neighbour) return null;
  const why = { matched: byWords, neighbour, hasWord: neighbour && matched.length > 0 };
  if (neighbour && program.neighbours?.place === "first")
    return { text: FIRST + stepsOf(near.points), ...why };

  let relevance = 0;
  for (const match of matched) relevance += match.score;
  relevance += proximity(row, program);
  if (program.neighbours?.place === "added") relevance += near?.points ?? 0;
  const steps = stepsOf(relevance);
  if (!full || program.mode === "byScore") return { text: steps, ...why };
  const typos = matched.reduce((sum, match) => sum + match.typos, 0);
  const exact = matched.every((match) => match.exact);
  const text = 2 ** 51 + (15 - Math.min(15, typos)) * 2 ** 47 + (exact ? 2 ** 46 : 0) + steps;
  return { text, ...why };
}

function stepsOf(relevance: number): number {
  return Math.min(Math.floor(relevance * 2 ** 24), 2 ** 46 - 1);
}

interface WordMatch {
  score: number;
  typos: number;
  exact: boolean;
}

/**
 * Grows with the document's length (weighted sum of its field lengths, up to twice the average): a longer
 * document needs more occurrences for the same score.
 */
export function saturationOf(
  row: Row,
  { fields, averageLength }: Pick<Program, "fields" | "averageLength">,
): number {
  let length = 0;
  for (const { name, weight } of fields) length += weight * (row.texts.get(name)?.length ?? 0);
  const perToken = averageLength === 0 ? 0 : (K1 * B) / averageLength;
  return K1 * (1 - B) + perToken * Math.min(length, 2 * averageLength);
}

function matchWord(row: Row, program: Program, word: Word, saturation: number): WordMatch | null {
  let best = null as WordMatch | null;
  for (const alternative of word.alternatives) {
    const frequency = weightedFrequency(row, program, alternative);
    if (frequency === null) continue;
    const score = (alternative.boost * frequency) / (frequency + saturation);
    const exact = alternative.typos === 0 && alternative.exact;
    best = {
      score: Math.max(best?.score ?? 0, score),
      typos: Math.min(best?.typos ?? alternative.typos, alternative.typos),
      exact: exact || (best?.exact ?? false),
    };
  }
  return best;
}

/**
 * The alternative's weighted frequency in the document, summed over its terms and the fields; null if no term
 * occurs.
 */
function weightedFrequency(row: Row, program: Program, alternative: Alternative): number | null {
  let sum: number | null = null;
  const add = (field: QueriedField, places: number[] | undefined): void => {
    const text = row.texts.get(field.name);
    if (!looksIn(alternative, field)) return;
    if (text === undefined || places === undefined || places.length === 0) return;
    sum = (sum ?? 0) + places.length * occurrenceIn(text.length, field);
  };
  const positions = (name: string) => row.texts.get(name)?.positions ?? new Map<string, number[]>();
  if (alternative.sequence) {
    const terms = alternative.terms.map(({ term }) => term);
    for (const field of program.fields) add(field, placesOf(positions(field.name), terms));
    return sum;
  }
  for (const { term, prefix } of alternative.terms) {
    for (const present of prefix ? termsWithPrefix(row, program, term) : [term]) {
      for (const field of program.fields) add(field, positions(field.name).get(present));
    }
  }
  return sum;
}

/** Value of one occurrence in a field of `length` tokens; lower for longer fields. */
export function occurrenceIn(length: number, { weight, averageLength }: QueriedField): number {
  const ratio = averageLength === 0 ? B : (B * length) / averageLength;
  return weight / (1 - B + ratio);
}

function looksIn(alternative: Alternative, field: QueriedField): boolean {
  return alternative.infixOnly !== true || field.infix === true;
}

/** Positions at which the terms occur consecutively. */
function placesOf(positions: Map<string, number[]>, terms: string[]): number[] {
  return (positions.get(terms[0]!) ?? []).filter((start) =>
    terms.every((term, i) => positions.get(term)?.includes(start + i) ?? false),
  );
}

function termsWithPrefix(row: Row, program: Program, prefix: string): string[] {
  const terms = new Set<string>();
  for (const { name } of program.fields) {
    for (const term of row.texts.get(name)?.positions.keys() ?? [])
      if (term.startsWith(prefix)) terms.add(term);
  }
  return [...terms].sort(compareBytes);
}

/** Extra points if adjacent query words occur close to each other. */
function proximity(row: Row, program: Program): number {
  let sum = 0;
  for (let i = 0; i + 1 < program.words.length; i++) {
    const left = program.words[i]!;
    const right = program.words[i + 1]!;
    let closest = 0;
    for (const field of program.fields) {
      const closeness = closenessOf(positionsOf(row, field, left), positionsOf(row, field, right));
      closest = Math.max(closest, closeness);
    }
    if (closest > 0) sum += Math.min(left.weight, right.weight) * closest;
  }
  return PROXIMITY_WEIGHT * sum;
}

/** Positions of the word's alternatives that count for proximity. */
export function positionsOf(row: Row, field: QueriedField, word: Word): number[] {
  const positions = row.texts.get(field.name)?.positions;
  if (positions === undefined) return [];
  const near = word.alternatives.filter((one) => one.useForProximity && looksIn(one, field));
  const terms = near.filter((one) => !one.sequence).flatMap((one) => one.terms);
  const sequences = near.filter((one) => one.sequence).map((one) => one.terms.map(({ term }) => term));
  const found = sequences.flatMap((sequence) => placesOf(positions, sequence));
  for (const [present, places] of positions) {
    if (terms.some(({ term, prefix }) => (prefix ? present.startsWith(term) : present === term)))
      found.push(...places);
  }
  return found;
}

function closenessOf(left: number[], right: number[]): number {
  let best = 0;
  for (const p of left) {
    for (const q of right) {
      const gap = q - p;
      if (Math.abs(gap) > CLOSE_MAX) continue;
      best = Math.max(best, gap > 0 ? 1 / gap : 1 / (2 * (Math.abs(gap) + 1)));
    }
  }
  return best;
}

/** True if all terms occur at consecutive positions of one field. */
function hasPhrase(row: Row, fields: string[], phrase: string[]): boolean {
  return fields.some((name) => {
    const positions = row.texts.get(name)?.positions;
    return positions !== undefined && placesOf(positions, phrase).length > 0;
  });
}
