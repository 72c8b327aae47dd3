// Ranking beyond the text match: bonuses, and the key that combines text match, bonus and boosts. Follows
// docs/ranking.md and performs floating-point operations in the engine's order.

import { FIRST, type Program, positionsOf } from "./score.js";
import type { Row } from "./segments/rows.js";
import { brandTerm, skuTerm } from "./words/markers.js";
import type { QueryText } from "./words/text.js";
import { partNumber } from "./words/variants.js";

const POINT = 2 ** 24;
const FULL = 2 ** 51;
const BONUS_LINE = 2 ** 52;
const BRAND_WORDS = 16;
const BRAND_TERMS = 4;

export interface BonusFields {
  skus: string[];
  brand: string | null;
}

/** Returns the row's bonus. `score` is its text match; null if the row does not match. */
export function bonusOf(
  row: Row,
  text: QueryText,
  program: Program,
  fields: BonusFields,
  score: number | null,
): number {
  if (text.words.length === 0 || (score !== null && score >= FIRST)) return 0;
  return (
    skuBonus(row, text, fields.skus) + brandBonus(row, text, fields.brand) + fieldBonus(row, program, score)
  );
}

function termsOf(row: Row, field: string): string[] {
  return [...(row.texts.get(field)?.positions.keys() ?? [])];
}

function skuBonus(row: Row, text: QueryText, fields: string[]): number {
  const number = partNumber(text);
  if (number === null) return 0;
  const terms = fields.flatMap((field) => termsOf(row, field));
  if (terms.includes(skuTerm(number))) return BONUS_LINE;
  const begins = terms.some((term) => term.startsWith(skuTerm(number)));
  const isPart = number.length === 1 && terms.includes(number[0]!);
  return begins || isPart ? 4 * POINT : 0;
}

function brandBonus(row: Row, text: QueryText, field: string | null): number {
  const first = text.terms.slice(0, BRAND_WORDS);
  const stretches = first.flatMap((_, i) =>
    Array.from({ length: BRAND_TERMS }, (_, j) => first.slice(i, i + j + 1)),
  );
  const terms = field === null ? [] : termsOf(row, field);
  return stretches.some((stretch) => terms.includes(brandTerm(stretch))) ? POINT : 0;
}

/** Bonus for a row with a field that begins with the query's words or consists of them. */
function fieldBonus(row: Row, program: Program, score: number | null): number {
  if (score === null || score < FULL) return 0;
  const started = program.fields.filter((field) =>
    program.words.every((word, i) => positionsOf(row, field, word).includes(i)),
  );
  if (started.length === 0) return 0;
  const isExact = Math.floor(score / 2 ** 46) % 2 === 1 && Math.floor((score - FULL) / 2 ** 47) === 15;
  const isWhole = started.some(({ name }) => row.texts.get(name)!.length === program.words.length);
  return isExact && isWhole ? POINT : POINT / 16;
}

/** The final sort key; larger is better. `boosts` is the sum of the row's boost weights. */
export function finalKey(score: number, bonus: number, boosts: number, program: Program): bigint {
  if (program.neighbours?.place !== "first") return keyOf(score, bonus, boosts, program);
  if (score >= FIRST) return 2n ** 63n + boostedOf(score - FIRST, boosts);
  const key = keyOf(score, bonus, boosts, program);
  const relevance = key % 2n ** 57n;
  return (key - relevance) / 2n + (relevance < 2n ** 56n ? relevance : 2n ** 56n - 1n);
}

function keyOf(score: number, bonus: number, boosts: number, program: Program): bigint {
  const browsing = program.words.length === 0 && !program.neighbours;
  const full = score >= FULL;
  const q = full ? score % 2 ** 46 : score;
  const relevance = q + Math.min(bonus % BONUS_LINE, 2 ** 46 - 1) + (browsing ? POINT : 0);
  const state = full ? BigInt(Math.floor((score - FULL) / 2 ** 46)) : 0n; // 2 * (15 - typos), plus 1 if exact
  let key = boostedOf(relevance, boosts);
  if (full) key += 2n ** 62n + (state / 2n) * 2n ** 58n;
  if (full && (state % 2n === 1n || boosts > 0)) key += 2n ** 57n;
  return bonus >= BONUS_LINE ? key + 2n ** 63n : key;
}

function boostedOf(relevance: number, boosts: number): bigint {
  const boosted = Math.floor((relevance * (10 + boosts)) / 10);
  return boosted >= 2 ** 57 ? 2n ** 57n - 1n : BigInt(boosted);
}
