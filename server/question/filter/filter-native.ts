// Reads the native `filters` object and passes the same parts to a sink as the legacy string does. Every key
// is a condition, and all conditions must match. A scalar means equality, and an array means any of its
// values. Values are literals: operators in them have no meaning.
import { SkeinError } from "../../ground/errors.js";
import { describe } from "../../ground/input/json-value.js";
import { type FilterLimits, shorten } from "./filter-parser.js";
import type { FilterSink, FilterValue } from "./filter-parts.js";

/** Reading yields after this many keys and values. */
const PARTS_A_STEP = 100;

/** Reads the object in small steps. An object without keys has no parts. Throws SkeinError SK-SE-400. */
export function* readingOfNativeFilter(
  filters: object,
  limits: FilterLimits,
  sink: FilterSink,
): Generator<void, void> {
  let parts = 0;
  for (const [i, field] of Object.keys(filters).entries()) {
    const value = (filters as Record<string, unknown>)[field];
    const wanted: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (parts + 1 + wanted.length > limits.filterClausesMax) {
      throw new SkeinError("SK-SE-400", `filters has more than ${limits.filterClausesMax} keys and values`);
    }
    sink.clause(field, ":=", -1);
    if (++parts % PARTS_A_STEP === 0) yield;
    for (const entry of wanted) {
      sink.value(literal(field, entry));
      if (++parts % PARTS_A_STEP === 0) yield;
    }
    sink.clauseEnd();
    if (i > 0) sink.and();
  }
}

function literal(field: string, value: unknown): FilterValue {
  const text = literalText(field, value);
  // Long integers arrive as bigint, so an unsafe number must have been written with a decimal point or
  // exponent.
  const rounded = Number.isInteger(value) && !Number.isSafeInteger(value);
  return { kind: "literal", literal: { text, quoted: true, at: -1, ...(rounded ? { rounded } : {}) } };
}

function literalText(field: string, value: unknown): string {
  if (typeof value === "boolean" || typeof value === "number" || typeof value === "bigint")
    return String(value);
  if (typeof value === "string") {
    if (/\p{Surrogate}/u.test(value)) {
      throw refused(field, "must be well-formed Unicode; it has an unpaired surrogate");
    }
    return value;
  }
  throw refused(field, `must be a string, a number, a boolean or an array of these, not ${describe(value)}`);
}

function refused(field: string, problem: string): SkeinError {
  return new SkeinError("SK-SE-400", `filters.${shorten(field)} ${problem}`);
}
