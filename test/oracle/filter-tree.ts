// A parsed filter as a tree, in which tests compare filters and print them. The parser passes on parts in
// postfix order; this sink puts them together.
import { finished } from "../../engine-wasm/host/runtime/steps.js";
import { DEFAULT_LIMITS } from "../../server/ground/limits.js";
import { parsingOfFilter } from "../../server/question/filter/filter-parser.js";
import type { FilterOperator, FilterSink, FilterValue } from "../../server/question/filter/filter-parts.js";

export interface FilterClause {
  readonly kind: "clause";
  readonly field: string;
  readonly at: number;
  readonly operator: FilterOperator;
  readonly values: readonly FilterValue[];
}

export interface FilterPair {
  readonly kind: "and" | "or";
  readonly left: FilterNode;
  readonly right: FilterNode;
}

export type FilterNode = FilterClause | FilterPair;

/** Parses a filter expression with the product's parser. Throws what the parser throws. */
export function treeOf(text: string): FilterNode {
  const nodes: FilterNode[] = [];
  let values: FilterValue[] = [];
  const join = (kind: FilterPair["kind"]): void => {
    const [right, left] = [nodes.pop()!, nodes.pop()!];
    nodes.push({ kind, left, right });
  };
  const sink: FilterSink = {
    clause: (field, operator, at) => {
      values = [];
      nodes.push({ kind: "clause", field, at, operator, values });
    },
    value: (value) => values.push(value),
    clauseEnd: () => undefined,
    and: () => join("and"),
    or: () => join("or"),
  };
  finished(parsingOfFilter(text, DEFAULT_LIMITS, sink));
  const [tree, ...others] = nodes;
  if (tree === undefined || others.length > 0) throw new Error(`${nodes.length} trees: ${text}`);
  return tree;
}

/** Returns the tree without positions. */
export function withoutPositions(node: FilterNode): unknown {
  return JSON.parse(JSON.stringify(node, (key, value: unknown) => (key === "at" ? 0 : value)));
}

/** Prints a tree with no more parentheses than the language needs. */
export function printTree(node: FilterNode, printClause: (clause: FilterClause) => string): string {
  if (node.kind === "clause") return printClause(node);
  const print = (child: FilterNode, bare: boolean): string => {
    const text = printTree(child, printClause);
    return bare ? text : `(${text})`;
  };
  const { kind, left, right } = node;
  if (kind === "and") return `${print(left, left.kind !== "or")} && ${print(right, right.kind === "clause")}`;
  return `${print(left, true)} || ${print(right, right.kind !== "or")}`;
}
