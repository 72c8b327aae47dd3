// A filter's syntax tree. Both input forms, the legacy string and the native object, produce it. Values are
// kept as text with their position, because their meaning depends on the field's type, which only
// filter-compile.ts knows. `at` is the 0-based offset in the filter text, in UTF-16 code units, or -1 for
// parts of a native filter.

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

export interface FilterClause {
  readonly kind: "clause";
  readonly field: string;
  readonly at: number;
  readonly operator: FilterOperator;
  /**
   * A document matches if it has any of these values. An empty list (native filters only) matches nothing.
   */
  readonly values: readonly FilterValue[];
}

export interface FilterGroup {
  readonly kind: "and" | "or";
  /** At least two nodes. */
  readonly children: readonly FilterNode[];
}

export type FilterNode = FilterClause | FilterGroup;

/** The conjunction of both nodes. A null node matches everything. */
export function both(a: FilterNode | null, b: FilterNode | null): FilterNode | null {
  if (a === null || b === null) return a ?? b;
  return { kind: "and", children: [a, b] };
}
