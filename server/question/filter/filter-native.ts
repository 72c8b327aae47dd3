// Converts the native `filters` object to the same tree as the legacy string. Every key is a condition, and
// all conditions must match. A scalar means equality, and an array means any of its values. Values are
// literals: operators in them have no meaning.
import { SkeinError } from "../../ground/errors.js";
import { describe } from "../../ground/input/json-value.js";
import type { FilterClause, FilterNode, FilterValue } from "./filter-ast.js";
import { type FilterLimits, shorten } from "./filter-parser.js";

/** Converts the object. Returns null if it has no keys. Throws SkeinError SK-SE-400. */
export function nativeFilter(filters: object, limits: FilterLimits): FilterNode | null {
  let values = 0;
  const children = Object.entries(filters).map(([field, value]: [string, unknown]): FilterClause => {
    const wanted: unknown[] = Array.isArray(value) ? value : [value];
    values += 1 + wanted.length;
    if (values > limits.filterClausesMax) {
      throw new SkeinError("SK-SE-400", `filters has more than ${limits.filterClausesMax} keys and values`);
    }
    return {
      kind: "clause",
      field,
      at: -1,
      operator: ":=",
      values: wanted.map((entry) => literal(field, entry)),
    };
  });
  if (children.length === 0) return null;
  return children.length === 1 ? (children[0] as FilterClause) : { kind: "and", children };
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
