// Finds ranges and other numbers in a query, such as `under 50`, `between 20 and 40 euro`, `4 stars and up`,
// `55 inch`, `size 42`. A number refers to the price, to the rating, or to the field whose name contains the
// number's unit. A number without a unit is not read if it could count the word after it, as in `up to 10
// devices`.

import type { ResolvedField } from "../../catalog/schema/resolved-schema.js";
import type { Comparison } from "../../question/filter/filter-parts.js";
import type { IndexFacts } from "./facts.js";
import { LANGUAGES } from "./languages/all.js";
import { type Language, phraseAt } from "./languages/language.js";
import { filled, labelOf, type Reading } from "./reading.js";
import { isGluedWord, type TextPiece } from "./tokens.js";
import { converted, isCurrency, isStars, type Unit, unitNamed } from "./units.js";

interface Amount {
  readonly value: number;
  /** The number's unit. `plus` is true if a plus sign follows the number, as in `4+ stars`. */
  readonly of: "money" | "stars" | Unit | null;
  readonly plus: boolean;
  readonly to: number;
}

interface Lead {
  readonly to: number;
  readonly field: ResolvedField | null;
  /** True if the query names the field. */
  readonly said: boolean;
}

interface Range {
  readonly low: number | null;
  readonly high: number | null;
  readonly lowOpen: boolean;
  readonly highOpen: boolean;
}

/** Returns the longest reading that begins at a token, in any language. */
export function rangeAt(
  tokens: readonly TextPiece[],
  at: number,
  facts: IndexFacts,
  ends: EndsAt,
): Reading | null {
  let best: Reading | null = null;
  for (const language of LANGUAGES) {
    const reading = new RangeReader(tokens, at, facts, language, ends).read();
    if (reading !== null && (best === null || reading.to > best.to)) best = reading;
  }
  return best;
}

/**
 * Returns true if a number without a unit may end at a position, because nothing follows that it could count.
 */
export type EndsAt = (place: number) => boolean;

const ABOUT_SHARE = 0.2;
const LEAD_WORDS_MAX = 4;

class RangeReader {
  readonly #keyAt: (place: number) => string | undefined;

  constructor(
    private readonly tokens: readonly TextPiece[],
    private readonly at: number,
    private readonly facts: IndexFacts,
    private readonly language: Language,
    private readonly ends: EndsAt,
  ) {
    this.#keyAt = (place) => tokens[place]?.key;
  }

  read(): Reading | null {
    // Try the longest lead first.
    for (const { to, field, said } of this.#leads(this.at).reverse()) {
      const reading = this.#number(to, field, said);
      if (reading !== null) return reading;
    }
    return null;
  }

  /**
   * Returns the possible leads, shortest first. A lead consists of words before the number that may belong to
   * it, such as `with`, `priced at` or `rating`.
   */
  #leads(from: number): Lead[] {
    const leads: Lead[] = [{ to: from, field: null, said: false }];
    for (let to = from; leads.length <= LEAD_WORDS_MAX; to++) {
      const key = this.#keyAt(to);
      if (key === undefined || this.tokens[to]?.kind !== "word") break;
      const last = leads.at(-1) as Lead;
      const named = last.said ? null : this.#numberField(key);
      if (named !== null) leads.push({ to: to + 1, field: named, said: true });
      else if (this.language.connectives.has(key)) leads.push({ ...last, to: to + 1 });
      else break;
    }
    return leads;
  }

  #numberField(key: string): ResolvedField | null {
    const field = this.facts.fieldNamed(key) ?? (isStars(key) ? this.facts.roles.rating : null);
    return field !== null && field.kind !== "string" && !field.array ? field : null;
  }

  #number(at: number, field: ResolvedField | null, said: boolean): Reading | null {
    return (
      this.#between(at, field) ??
      this.#compared(at, field) ??
      this.#spread(at, field) ??
      this.#after(at, field) ??
      this.#about(at, field) ??
      this.#equal(at, field, said)
    );
  }

  #between(at: number, named: ResolvedField | null): Reading | null {
    const phrase = phraseAt(this.language.between, at, this.#keyAt);
    if (phrase === null) return null;
    const first = this.#amount(at + phrase.keys.length);
    if (first === null) return null;
    for (const second of phrase.means) {
      if (!second.every((key, i) => this.#keyAt(first.to + i) === key)) continue;
      const last = this.#amount(first.to + second.length);
      if (last !== null) return this.#twoSided(first, last, named, false);
    }
    return null;
  }

  #compared(at: number, named: ResolvedField | null): Reading | null {
    const phrase = phraseAt(this.language.before, at, this.#keyAt);
    if (phrase === null) return null;
    const amount = this.#amount(at + phrase.keys.length);
    if (amount === null || amount.plus) return null;
    const { bound, needsUnit } = phrase.means;
    const isBare = amount.of === null && named === null;
    if (isBare && (needsUnit || this.#isFalling(at, amount.value))) return null;
    return this.#bounded(amount, bound, named);
  }

  /** True if the word at `at` joins the number before it to a smaller one, as in `von 9 bis 5`. */
  #isFalling(at: number, value: number): boolean {
    const before = this.tokens[at - 1]?.value ?? null;
    return before !== null && before >= value && phraseAt(this.language.to, at, this.#keyAt) !== null;
  }

  /** Reads `20 to 40 euro`, `$20-$40`. */
  #spread(at: number, named: ResolvedField | null): Reading | null {
    const first = this.#amount(at);
    if (first === null) return null;
    const phrase = phraseAt(this.language.to, first.to, this.#keyAt);
    const last = phrase === null ? null : this.#amount(first.to + phrase.keys.length);
    if (last === null || (last.of === null && first.of === null && named === null)) return null;
    if (phrase?.keys[0] === "and" && first.of === null) return null;
    return this.#twoSided(first, last, named, true);
  }

  /** Reads `4 stars and up`, `50 euros or less`, `4+ stars`. */
  #after(at: number, named: ResolvedField | null): Reading | null {
    const amount = this.#amount(at);
    if (amount === null || (amount.of === null && named === null)) return null;
    if (amount.plus) return this.#bounded(amount, ">=", named);
    const phrase = phraseAt(this.language.after, amount.to, this.#keyAt);
    if (phrase === null) return null;
    return this.#bounded({ ...amount, to: amount.to + phrase.keys.length }, phrase.means, named);
  }

  #about(at: number, named: ResolvedField | null): Reading | null {
    const phrase = phraseAt(this.language.about, at, this.#keyAt);
    const amount = phrase === null ? null : this.#amount(at + phrase.keys.length);
    if (amount === null || amount.of !== "money") return null;
    const range = { low: amount.value * (1 - ABOUT_SHARE), high: amount.value * (1 + ABOUT_SHARE) };
    return this.#reading(amount, { ...range, lowOpen: false, highOpen: false }, named);
  }

  /**
   * Reads an exact number: `55 inch`, `size 42`. Prices and ratings are not read this way, because nobody
   * wants an exact one.
   */
  #equal(at: number, named: ResolvedField | null, said: boolean): Reading | null {
    const amount = this.#amount(at);
    if (amount === null || amount.plus || amount.of === "money" || amount.of === "stars") return null;
    if (amount.of === null && (!said || named === null || this.#hasRole(named))) return null;
    const reading = this.#reading(
      amount,
      { low: amount.value, high: amount.value, lowOpen: false, highOpen: false },
      named,
    );
    return reading === null || reading.doubt === "unit" ? reading : { ...reading, doubt: "share" };
  }

  #hasRole(field: ResolvedField): boolean {
    return Object.values(this.facts.roles).includes(field);
  }

  /** Both numbers have the same unit, which may be written only once: `20 to 40 euro`. */
  #twoSided(first: Amount, last: Amount, named: ResolvedField | null, symbols: boolean): Reading | null {
    const of = last.of ?? first.of;
    if (first.of !== null && first.of !== of && last.of !== null) return null;
    if (first.value >= last.value || first.plus || last.plus) return null;
    const range = { low: first.value, high: last.value, lowOpen: false, highOpen: false };
    const reading = this.#reading({ ...last, of }, range, named);
    return reading !== null && symbols && of === null ? { ...reading, doubt: "words" } : reading;
  }

  #bounded(amount: Amount, bound: Comparison, named: ResolvedField | null): Reading | null {
    const isLow = bound.startsWith(">");
    const open = bound.length === 1;
    return this.#reading(
      amount,
      {
        low: isLow ? amount.value : null,
        high: isLow ? null : amount.value,
        lowOpen: isLow && open,
        highOpen: !isLow && open,
      },
      named,
    );
  }

  #reading(amount: Amount, range: Range, named: ResolvedField | null): Reading | null {
    const target = this.#target(amount, named);
    if (target === null) return null;
    const scaled = { ...range, low: target.scale(range.low), high: target.scale(range.high) };
    const isBare = amount.of === null && named === null;
    if (isBare && !this.ends(amount.to)) return null;
    const filter = filterOf(target.field, scaled);
    if (filter === null) return null;
    return {
      from: this.at,
      to: amount.to,
      kind: "range",
      filter,
      said: saidOf(target.field, scaled, this.language),
      doubt: isBare ? "words" : isUnit(amount.of) ? "unit" : null,
      language: this.language,
    };
  }

  #target(
    { of }: Amount,
    named: ResolvedField | null,
  ): { field: ResolvedField; scale: (value: number | null) => number | null } | null {
    const plain = (value: number | null): number | null => value;
    const { price, rating } = this.facts.roles;
    const only = (field: ResolvedField | null) =>
      field === null || (named !== null && named !== field) ? null : { field, scale: plain };
    if (of === "money") return only(price);
    if (of === "stars") return only(rating);
    if (of === null) return only(named ?? price);
    const fields = this.facts.measured.filter(
      ({ field, unit }) => unit.dimension === of.dimension && (named === null || named === field),
    );
    // Prefer fields with exactly this unit, then fields in the same system of units, then any field for the
    // dimension. If several fields are equally good, none is used.
    const exact = fields.filter(({ unit }) => unit.factor === of.factor);
    const alike = fields.filter(({ unit }) => unit.imperial === of.imperial);
    const [first, second] = [exact, alike, fields].find((some) => some.length > 0) ?? [];
    if (first === undefined || second !== undefined) return null;
    const scale = (value: number | null) => (value === null ? null : converted(value, of, first.unit));
    return { field: first.field, scale };
  }

  #amount(at: number): Amount | null {
    const { tokens } = this;
    let place = at;
    let of: Amount["of"] = null;
    const sign = tokens[place];
    if (sign !== undefined && sign.kind !== "number" && isCurrency(sign.key)) {
      of = "money";
      place++;
    }
    const number = tokens[place];
    if (number === undefined || number.value === null) return null;
    place++;
    const plus = this.#keyAt(place) === "+" && tokens[place]?.touches === true;
    if (plus) place++;
    const unit = tokens[place];
    const meant = unit === undefined || of === "money" ? null : unitOf(unit);
    if (meant !== null) {
      place++;
      of = meant;
    } else if (unit !== undefined && (isGluedWord(unit) || (of === "money" && isCurrency(unit.key)))) {
      // The number touches letters that are not a unit, so it is not an amount. A currency may be given twice
      // ($50 usd).
      if (isGluedWord(unit)) return null;
      place++;
    }
    return { value: number.value, of, plus, to: place };
  }
}

function isUnit(of: Amount["of"]): of is Unit {
  return of !== null && of !== "money" && of !== "stars";
}

function unitOf(token: TextPiece): Amount["of"] {
  if (isCurrency(token.key)) return "money";
  if (isStars(token.key)) return "stars";
  return unitNamed(token.key) ?? null;
}

/**
 * Returns the range as a filter. Null if the range is a single fractional number but the field contains whole
 * numbers.
 */
function filterOf({ name, kind }: ResolvedField, { low, high, lowOpen, highOpen }: Range): string | null {
  if (low !== null && high !== null && low === high) {
    return kind === "int" && !Number.isInteger(low) ? null : `${name}:=${low}`;
  }
  if (low !== null && high !== null) return `${name}:[${low}..${high}]`;
  if (high !== null) return `${name}:${highOpen ? "<" : "<="}${high}`;
  return `${name}:${lowOpen ? ">" : ">="}${low}`;
}

function saidOf(
  field: ResolvedField,
  { low, high, lowOpen, highOpen }: Range,
  { sentences }: Language,
): string {
  const values = { field: labelOf(field), n: low ?? high ?? 0, m: high ?? 0 };
  if (low !== null && high !== null)
    return filled(low === high ? sentences.equals : sentences.between, values);
  if (high !== null) return filled(highOpen ? sentences.below : sentences.upTo, values);
  return filled(lowOpen ? sentences.above : sentences.from, values);
}
