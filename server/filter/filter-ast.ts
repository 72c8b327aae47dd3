// The tree of a filter, as both input shapes (the legacy string, the native object) produce it. Values are
// kept as text with their position: what a text means depends on the field's type, which only
// filter-compile.ts knows. `at` is the 0-based offset in UTF-16 code units of the filter text, or -1 for
// parts of a native filter.

export interface FilterLiteral {
  readonly text: string;
  /** Written in backticks (or given natively): never read as a range or a comparison. */
  readonly quoted: boolean;
  /** A native number that may have been rounded when it was read; integer fields refuse it. */
  readonly rounded?: true;
  readonly at: number;
}

export type Comparison = ">" | "<" | ">=" | "<=";

export type FilterValue =
  | { readonly kind: "literal"; readonly literal: FilterLiteral }
  | { readonly kind: "range"; readonly low: FilterLiteral; readonly high: FilterLiteral }
  | { readonly kind: "comparison"; readonly comparison: Comparison; readonly literal: FilterLiteral };

/** `:` contains the words or equals the number, `:=` equals, `:!=` the complement of `:=`. */
export type FilterOperator = ":" | ":=" | ":!=";

export interface FilterClause {
  readonly kind: "clause";
  readonly field: string;
  readonly at: number;
  readonly operator: FilterOperator;
  /** Any of them; an empty list (native only) matches nothing. */
  readonly values: readonly FilterValue[];
}

export interface FilterGroup {
  readonly kind: "and" | "or";
  /** At least two, except for an empty native object: an "and" of nothing, which matches everything. */
  readonly children: readonly FilterNode[];
}

export type FilterNode = FilterClause | FilterGroup;
