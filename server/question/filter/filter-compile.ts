// Compiles filters under a schema to the engine's operations, in one pass: each part of a filter is written
// as soon as it has been read. Only this file interprets a value's text according to the field type. Knows
// nothing about queries, because exports and deletions by filter use it too.
import {
  type FilterProgram,
  FilterWriter,
  operationsIn,
} from "../../../engine-wasm/host/programs/filter-program.js";
import { finished } from "../../../engine-wasm/host/runtime/steps.js";
import type { ResolvedField, ResolvedSchema } from "../../catalog/schema/resolved-schema.js";
import type { TextAnalyser } from "../../catalog/schema/text-analyser.js";
import { SkeinError } from "../../ground/errors.js";
import { FIXED_LIMITS } from "../../ground/limits.js";
import { readingOfNativeFilter } from "./filter-native.js";
import { type FilterLimits, filterError, parsingOfFilter, shorten } from "./filter-parser.js";
import type { FilterLiteral, FilterOperator, FilterSink, FilterValue } from "./filter-parts.js";
import { readBounds, readDouble, readInteger } from "./numbers.js";

const { filterOperationsMax: OPERATIONS_MAX, filterValueWordsMax: VALUE_WORDS_MAX } = FIXED_LIMITS;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** What determines the meaning of a filter. */
export interface FilteredIndex {
  readonly schema: ResolvedSchema;
  readonly analyser: TextAnalyser;
}

/** Compiles a non-empty filter expression. Throws SkeinError SK-SE-400. */
export function compileFilter(text: string, index: FilteredIndex, limits: FilterLimits): FilterProgram {
  return finished(compilingOfFilter(text, index, limits));
}

/** Like `compileFilter`, but in small steps, because a filter may have thousands of conditions. */
export function* compilingOfFilter(
  text: string,
  index: FilteredIndex,
  limits: FilterLimits,
): Generator<void, FilterProgram> {
  const compiler = new FilterCompiler(index);
  yield* parsingOfFilter(text, limits, compiler);
  return finishedFilter(compiler.out);
}

/** Compiles a native `filters` object in small steps. Throws SkeinError SK-SE-400. */
export function* compilingOfNativeFilter(
  filters: object,
  index: FilteredIndex,
  limits: FilterLimits,
): Generator<void, FilterProgram> {
  const compiler = new FilterCompiler(index);
  yield* readingOfNativeFilter(filters, limits, compiler);
  return finishedFilter(compiler.out);
}

/** The conjunction of two filters. Throws SkeinError SK-SE-400 if it needs too many operations. */
export function both(a: FilterProgram, b: FilterProgram): FilterProgram {
  if (operationsIn(a) === 0) return b;
  if (operationsIn(b) === 0) return a;
  const out = new FilterWriter();
  out.append(a);
  out.append(b);
  out.and();
  return finishedFilter(out);
}

function finishedFilter(out: FilterWriter): FilterProgram {
  const { operations } = out;
  if (operations > OPERATIONS_MAX) {
    throw new SkeinError(
      "SK-SE-400",
      `the filter needs ${operations} operations; at most ${OPERATIONS_MAX} are allowed`,
    );
  }
  return out.finish();
}

class FilterCompiler implements FilterSink {
  readonly out = new FilterWriter();
  readonly #index: FilteredIndex;
  /** The field of the current clause; null for `id`, which is not a field. */
  #field: ResolvedField | null = null;
  #operator: FilterOperator = ":";
  /** Number of values in the current clause so far. */
  #values = 0;

  constructor(index: FilteredIndex) {
    this.#index = index;
  }

  clause(name: string, operator: FilterOperator, at: number): void {
    this.#field = name === "id" ? null : filterableField(name, at, this.#index.schema);
    this.#operator = operator;
    this.#values = 0;
    if (this.#field === null) this.out.ids();
  }

  value(value: FilterValue): void {
    const { analyser } = this.#index;
    if (this.#field === null) {
      this.out.id(analyser.hash(idText(value)));
      return;
    }
    compileValue(value, this.#field, this.#operator, analyser, this.out);
    if (this.#values++ > 0) this.out.or();
  }

  clauseEnd(): void {
    if (this.#field !== null && this.#values === 0) nothing(this.out);
    if (this.#operator === ":!=") this.out.not();
  }

  and(): void {
    this.out.and();
  }

  or(): void {
    this.out.or();
  }
}

function nothing(out: FilterWriter): void {
  out.all();
  out.not();
}

function filterableField(name: string, at: number, schema: ResolvedSchema): ResolvedField {
  const field = schema.field(name);
  if (field === undefined)
    throw filterError(`unknown field '${shorten(name)}'`, at, "a field of the schema or 'id'");
  if (field.unready.includes("index"))
    throw filterError(`field '${name}' is being re-indexed and cannot be filtered yet`, at);
  if (!field.index) throw filterError(`field '${name}' has index: false and cannot be filtered`, at);
  return field;
}

function idText(value: FilterValue): string {
  if (value.kind === "literal") return value.literal.text;
  const at = value.kind === "range" ? value.low.at : value.literal.at;
  throw filterError("'id' has no order, so ranges and comparisons do not apply", at, "a document id");
}

function compileValue(
  value: FilterValue,
  field: ResolvedField,
  operator: FilterOperator,
  analyser: TextAnalyser,
  out: FilterWriter,
): void {
  switch (field.kind) {
    case "string":
      compileString(value, field, operator, analyser, out);
      break;
    case "bool":
      compileBool(value, field, out);
      break;
    case "int":
      compileInteger(value, field, out);
      break;
    case "float":
      compileFloat(value, field, out);
      break;
  }
}

function compileString(
  value: FilterValue,
  field: ResolvedField,
  operator: FilterOperator,
  analyser: TextAnalyser,
  out: FilterWriter,
): void {
  if (value.kind !== "literal") {
    const literal = value.kind === "range" ? value.low : value.literal;
    throw noOrder(field, literal, "a text (in backticks if it contains '..', '<' or '>')");
  }
  const { text } = value.literal;
  const terms = operator === ":" ? analyser.terms(text) : [];
  if (terms.length > VALUE_WORDS_MAX) {
    throw filterError(`a value of more than ${VALUE_WORDS_MAX} words`, value.literal.at);
  }
  if (terms.length > 0) out.tokens(field.slot, terms);
  else out.equals(field.slot, analyser.fold(text));
}

function compileBool(value: FilterValue, field: ResolvedField, out: FilterWriter): void {
  const literal = value.kind === "range" ? value.low : value.literal;
  if (value.kind !== "literal") throw noOrder(field, literal, "true or false");
  if (literal.text !== "true" && literal.text !== "false") {
    throw wrongLiteral(literal, field, `true or false ('${field.name}' is ${field.type})`);
  }
  const bit = literal.text === "true" ? 1n : 0n;
  out.intRange(field.slot, bit, bit);
}

/**
 * Compiles a condition on an integer field. Equality accepts only integer literals. Comparisons and ranges
 * also accept decimals and round them inwards, for example `> 1.5` to `>= 2`.
 */
function compileInteger(value: FilterValue, field: ResolvedField, out: FilterWriter): void {
  const [low, high] = integerBounds(value, field);
  if (low > high || low > INT64_MAX || high < INT64_MIN) {
    nothing(out);
    return;
  }
  const from = low < INT64_MIN ? INT64_MIN : low;
  const to = high > INT64_MAX ? INT64_MAX : high;
  out.intRange(field.slot, from, to);
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

function compileFloat(value: FilterValue, field: ResolvedField, out: FilterWriter): void {
  const { slot } = field;
  if (value.kind === "range") {
    out.floatRange(slot, double(value.low, field), double(value.high, field));
    return;
  }
  const number = double(value.literal, field);
  const comparison = value.kind === "comparison" ? value.comparison : "=";
  const low = comparison.startsWith("<") ? Number.NEGATIVE_INFINITY : number;
  const high = comparison.startsWith(">") ? Number.POSITIVE_INFINITY : number;
  out.floatRange(slot, low, high, comparison === ">", comparison === "<");
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
