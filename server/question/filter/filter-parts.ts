// The parts of a filter. Both input forms, the legacy string and the native object, pass them one by one to a
// FilterSink, so that a long filter never exists as a tree. Values are kept as text with their position,
// because their meaning depends on the field's type, which only filter-compile.ts knows. `at` is the 0-based
// offset in the filter text, in UTF-16 code units, or -1 for parts of a native filter.

export interface FilterLiteral {
  readonly text: string;
  /**
   * True if the value was written in backticks or given natively. It is then never parsed as a range or a
   * comparison.
   */
  readonly quoted: boolean;
  /** True for a native number that may have been rounded when it was parsed. Integer fields refuse it. */
  readonly rounded?: true;
  readonly at: number;
}

export type Comparison = ">" | "<" | ">=" | "<=";

export type FilterValue =
  | { readonly kind: "literal"; readonly literal: FilterLiteral }
  | { readonly kind: "range"; readonly low: FilterLiteral; readonly high: FilterLiteral }
  | { readonly kind: "comparison"; readonly comparison: Comparison; readonly literal: FilterLiteral };

/**
 * `:` matches fields that contain the words or equal the number, `:=` fields that equal the value; `:!=` is
 * the complement of `:=`.
 */
export type FilterOperator = ":" | ":=" | ":!=";

/** Takes a filter's parts as they are read, in postfix order: `a && b || c` is a, b, and, c, or. */
export interface FilterSink {
  /** Begins a clause. Its values follow, and then `clauseEnd`. */
  clause(field: string, operator: FilterOperator, at: number): void;
  /** A document matches a clause if it has any of its values. Without values, none does. */
  value(value: FilterValue): void;
  clauseEnd(): void;
  and(): void;
  or(): void;
}
