// Compiles a filter tree under a schema to the engine's postfix operations. Only this file interprets a
// value's text according to the field type. Knows nothing about queries, because exports and deletions by
// filter use it too.
import type { FilterOp } from "../../../engine-wasm/host/programs/filter-program.js";
import { finished } from "../../../engine-wasm/host/runtime/steps.js";
import type { ResolvedField, ResolvedSchema } from "../../catalog/schema/resolved-schema.js";
import type { TextAnalyser } from "../../catalog/schema/text-analyser.js";
import { SkeinError } from "../../ground/errors.js";
import { FIXED_LIMITS } from "../../ground/limits.js";
import type { FilterClause, FilterLiteral, FilterNode, FilterValue } from "./filter-ast.js";
import { filterError, shorten } from "./filter-parser.js";
import { readBounds, readDouble, readInteger } from "./numbers.js";

const { filterOperationsMax: OPERATIONS_MAX, filterValueWordsMax: VALUE_WORDS_MAX } = FIXED_LIMITS;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
/** The operations that have no parameters. */
const ALL: FilterOp = { op: "all" };
const NOT: FilterOp = { op: "not" };
const AND: FilterOp = { op: "and" };
const OR: FilterOp = { op: "or" };

/** Compilation yields after about this many operations. */
const OPERATIONS_A_STEP = 100;

/** Compiles a filter; null gives an empty list. Throws SkeinError SK-SE-400. */
export function compileFilter(
  node: FilterNode | null,
  schema: ResolvedSchema,
  analyser: TextAnalyser,
): FilterOp[] {
  return finished(compilingOfFilter(node, schema, analyser));
}

/** Like `compileFilter`, but in small steps, because a filter may have thousands of conditions. */
export function* compilingOfFilter(
  node: FilterNode | null,
  schema: ResolvedSchema,
  analyser: TextAnalyser,
): Generator<void, FilterOp[]> {
  const out: FilterOp[] = [];
  if (node !== null) yield* compileNode(node, schema, analyser, out);
  if (out.length > OPERATIONS_MAX) {
    throw new SkeinError(
      "SK-SE-400",
      `the filter needs ${out.length} operations; at most ${OPERATIONS_MAX} are allowed`,
    );
  }
  return out;
}

/**
 * Compiles a group's conditions in a plain loop, because one generator per condition would create thousands
 * of garbage objects.
 */
function* compileNode(
  node: FilterNode,
  schema: ResolvedSchema,
  analyser: TextAnalyser,
  out: FilterOp[],
): Generator<void, void> {
  if (node.kind === "clause") {
    compileClause(node, schema, analyser, out);
    return;
  }
  let paused = out.length;
  let first = true;
  for (const child of node.children) {
    if (out.length - paused >= OPERATIONS_A_STEP) {
      yield;
      paused = out.length;
    }
    if (child.kind === "clause") compileClause(child, schema, analyser, out);
    else yield* compileNode(child, schema, analyser, out);
    if (!first) out.push(node.kind === "and" ? AND : OR);
    first = false;
  }
}

function compileClause(
  clause: FilterClause,
  schema: ResolvedSchema,
  analyser: TextAnalyser,
  out: FilterOp[],
): void {
  if (clause.field === "id") {
    out.push({ op: "ids", hashes: clause.values.map((value) => analyser.hash(idText(value, clause))) });
  } else {
    const field = filterableField(clause, schema);
    if (clause.values.length === 0) out.push(ALL, NOT);
    let first = true;
    for (const value of clause.values) {
      compileValue(value, field, clause, analyser, out);
      if (!first) out.push(OR);
      first = false;
    }
  }
  if (clause.operator === ":!=") out.push(NOT);
}

function filterableField(clause: FilterClause, schema: ResolvedSchema): ResolvedField {
  const field = schema.field(clause.field);
  if (field === undefined)
    throw filterError(`unknown field '${shorten(clause.field)}'`, clause.at, "a field of the schema or 'id'");
  if (field.unready.includes("index"))
    throw filterError(`field '${clause.field}' is being re-indexed and cannot be filtered yet`, clause.at);
  if (!field.index)
    throw filterError(`field '${clause.field}' has index: false and cannot be filtered`, clause.at);
  return field;
}

function idText(value: FilterValue, clause: FilterClause): string {
  if (value.kind === "literal") return value.literal.text;
  const at = value.kind === "range" ? value.low.at : value.literal.at;
  throw filterError(
    `'${clause.field}' has no order, so ranges and comparisons do not apply`,
    at,
    "a document id",
  );
}

function compileValue(
  value: FilterValue,
  field: ResolvedField,
  clause: FilterClause,
  analyser: TextAnalyser,
  out: FilterOp[],
): void {
  switch (field.kind) {
    case "string":
      out.push(compileString(value, field, clause, analyser));
      break;
    case "bool":
      out.push(compileBool(value, field));
      break;
    case "int":
      compileInteger(value, field, out);
      break;
    case "float":
      out.push(compileFloat(value, field));
      break;
  }
}

function compileString(
  value: FilterValue,
  field: ResolvedField,
  clause: FilterClause,
  analyser: TextAnalyser,
): FilterOp {
  if (value.kind !== "literal") {
    const literal = value.kind === "range" ? value.low : value.literal;
    throw noOrder(field, literal, "a text (in backticks if it contains '..', '<' or '>')");
  }
  const { text } = value.literal;
  if (clause.operator === ":") {
    const terms = analyser.terms(text);
    if (terms.length > VALUE_WORDS_MAX) {
      throw filterError(`a value of more than ${VALUE_WORDS_MAX} words`, value.literal.at);
    }
    if (terms.length > 0) return { op: "tokens", slot: field.slot, terms };
  }
  return { op: "equals", slot: field.slot, folded: analyser.fold(text) };
}

function compileBool(value: FilterValue, field: ResolvedField): FilterOp {
  const literal = value.kind === "range" ? value.low : value.literal;
  if (value.kind !== "literal") throw noOrder(field, literal, "true or false");
  if (literal.text !== "true" && literal.text !== "false") {
    throw wrongLiteral(literal, field, `true or false ('${field.name}' is ${field.type})`);
  }
  const bit = literal.text === "true" ? 1n : 0n;
  return { op: "intRange", slot: field.slot, low: bit, high: bit };
}

/**
 * Compiles a condition on an integer field. Equality accepts only integer literals. Comparisons and ranges
 * also accept decimals and round them inwards, for example `> 1.5` to `>= 2`.
 */
function compileInteger(value: FilterValue, field: ResolvedField, out: FilterOp[]): void {
  const [low, high] = integerBounds(value, field);
  if (low > high || low > INT64_MAX || high < INT64_MIN) {
    out.push(ALL, NOT);
    return;
  }
  const from = low < INT64_MIN ? INT64_MIN : low;
  const to = high > INT64_MAX ? INT64_MAX : high;
  out.push({ op: "intRange", slot: field.slot, low: from, high: to });
}

/**
 * Returns the inclusive bounds of the matching integers. They may lie outside int64 if the filter's value
 * does.
 */
function integerBounds(value: FilterValue, field: ResolvedField): [low: bigint, high: bigint] {
  if (value.kind === "literal") {
    const exact = value.literal.rounded ? null : readInteger(value.literal.text);
    if (exact === null)
      throw wrongLiteral(value.literal, field, `an integer ('${field.name}' is ${field.type})`);
    return [exact, exact];
  }
  if (value.kind === "range") return [bounds(value.low, field).ceil, bounds(value.high, field).floor];
  const { floor, ceil } = bounds(value.literal, field);
  switch (value.comparison) {
    case ">":
      return [floor + 1n, INT64_MAX];
    case ">=":
      return [ceil, INT64_MAX];
    case "<":
      return [INT64_MIN, ceil - 1n];
    case "<=":
      return [INT64_MIN, floor];
  }
}

function bounds(literal: FilterLiteral, field: ResolvedField): { floor: bigint; ceil: bigint } {
  const found = readBounds(literal.text);
  if (found === null) throw wrongLiteral(literal, field, `a number ('${field.name}' is ${field.type})`);
  return found;
}

function compileFloat(value: FilterValue, field: ResolvedField): FilterOp {
  const { slot } = field;
  if (value.kind === "range") {
    const low = double(value.low, field);
    return {
      op: "floatRange",
      slot,
      low,
      high: double(value.high, field),
      lowExclusive: false,
      highExclusive: false,
    };
  }
  const number = double(value.literal, field);
  const comparison = value.kind === "comparison" ? value.comparison : "=";
  return {
    op: "floatRange",
    slot,
    low: comparison.startsWith("<") ? Number.NEGATIVE_INFINITY : number,
    high: comparison.startsWith(">") ? Number.POSITIVE_INFINITY : number,
    lowExclusive: comparison === ">",
    highExclusive: comparison === "<",
  };
}

function double(literal: FilterLiteral, field: ResolvedField): number {
  const value = readDouble(literal.text);
  if (value === null)
    throw wrongLiteral(literal, field, `a finite number ('${field.name}' is ${field.type})`);
  return value;
}

function noOrder({ name, type }: ResolvedField, { at }: FilterLiteral, expected: string): SkeinError {
  return filterError(`ranges and comparisons need a numeric field, but '${name}' is ${type}`, at, expected);
}

function wrongLiteral(literal: FilterLiteral, field: ResolvedField, expected: string): SkeinError {
  const range = !literal.quoted && literal.text.includes("..") ? "; a range is written [low..high]" : "";
  return filterError(
    `'${shorten(literal.text)}' is not a value of field '${field.name}'`,
    literal.at,
    expected + range,
  );
}
