// The table of field types, with their engine codes, values and capabilities. The schema, filters, documents,
// the command line and the OpenAPI document use it. A new type needs one entry here, and its own code in the
// engine. Knows nothing about indexes.
import {
  TYPE_BOOL,
  TYPE_FLOAT,
  TYPE_FLOATS,
  TYPE_INT32,
  TYPE_INT32S,
  TYPE_INT64,
  TYPE_STRING,
  TYPE_STRINGS,
} from "../../engine-wasm/assembly/layout.js";

/**
 * The kind of a single value. Determines how filters and CSV cells are read and how facet values are shown.
 */
export type ValueKind = "string" | "int" | "float" | "bool";

interface FieldTypeEntry {
  /** The engine's TYPE_* constant for the type. */
  readonly code: number;
  readonly kind: ValueKind;
  /** True if the field's value in a document is a list. */
  readonly array: boolean;
  /** Default of `sort` for an indexed field. Null if fields of this type cannot be used for sorting. */
  readonly sortDefault: boolean | null;
  /** True if a field of this type can be the default sorting field. */
  readonly ranks: boolean;
  /** The accepted JSON values, worded for error messages and the OpenAPI document. */
  readonly takes: string;
}

export const FIELD_TYPES = {
  string: {
    code: TYPE_STRING,
    kind: "string",
    array: false,
    sortDefault: false,
    ranks: false,
    takes: "a string",
  },
  int32: {
    code: TYPE_INT32,
    kind: "int",
    array: false,
    sortDefault: true,
    ranks: true,
    takes: "an integer from -2147483648 to 2147483647",
  },
  int64: {
    code: TYPE_INT64,
    kind: "int",
    array: false,
    sortDefault: true,
    ranks: true,
    takes: "an integer from -9223372036854775808 to 9223372036854775807",
  },
  float: {
    code: TYPE_FLOAT,
    kind: "float",
    array: false,
    sortDefault: true,
    ranks: true,
    takes: "a finite number",
  },
  bool: {
    code: TYPE_BOOL,
    kind: "bool",
    array: false,
    sortDefault: true,
    ranks: false,
    takes: "true or false",
  },
  "string[]": {
    code: TYPE_STRINGS,
    kind: "string",
    array: true,
    sortDefault: null,
    ranks: false,
    takes: "an array of strings",
  },
  "int32[]": {
    code: TYPE_INT32S,
    kind: "int",
    array: true,
    sortDefault: null,
    ranks: false,
    takes: "an array of integers from -2147483648 to 2147483647",
  },
  "float[]": {
    code: TYPE_FLOATS,
    kind: "float",
    array: true,
    sortDefault: null,
    ranks: false,
    takes: "an array of finite numbers",
  },
} as const satisfies Record<string, FieldTypeEntry>;

export type FieldType = keyof typeof FIELD_TYPES;

/** The names of all field types, in table order. */
export const FIELD_TYPE_NAMES = Object.keys(FIELD_TYPES) as readonly FieldType[];

/** True if fields of this type contain words to search and can have a language. */
export function isTextType(type: FieldType): boolean {
  return FIELD_TYPES[type].kind === "string";
}

/** Lists the types for which `holds` returns true, phrased for a sentence: "int32, int64 or float". */
export function typesThat(holds: (entry: FieldTypeEntry) => boolean): string {
  const names = FIELD_TYPE_NAMES.filter((name) => holds(FIELD_TYPES[name]));
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} or ${last}`;
}
