// The oracle's documents: parsed JSON with int64 values as bigint, a schema, and conversion from and to text.
// Deliberately simple: every fast path of the product is compared with results computed here.

export type FieldType = "string" | "int32" | "int64" | "float" | "bool" | "string[]" | "int32[]" | "float[]";

export interface Field {
  name: string;
  type: FieldType;
  facet?: boolean;
  optional?: boolean;
  index?: boolean;
  sort?: boolean;
  infix?: boolean;
  language?: string;
}

export interface Schema {
  fields: Field[];
  default_sorting_field?: string;
}

export type Json = null | boolean | number | bigint | string | Json[] | { [name: string]: Json };

export type Document = { id: string } & { [name: string]: Json };

/** Characters for which an index overrides the general rules: it treats them as letters, or as separators. */
export interface Analysis {
  symbols: string;
  separators: string;
}

/** One value of a field: text, an integer (0 or 1 for a bool), or a float. */
export type Value = string | bigint | number;

export function isText(field: Field): boolean {
  return field.type === "string" || field.type === "string[]";
}

/** The field's values in a document, in order; empty if the field is missing, null or an empty array. */
export function valuesOf(document: Document, field: Field): Value[] {
  const raw = Object.hasOwn(document, field.name) ? document[field.name] : undefined;
  if (raw === undefined || raw === null) return [];
  const elements = Array.isArray(raw) ? raw : [raw];
  return elements.map((element) => toValue(element, field.type));
}

function toValue(raw: Json, type: FieldType): Value {
  if (type === "string" || type === "string[]") return raw as string;
  if (type === "float" || type === "float[]") return Number(raw);
  if (type === "bool") return raw === true ? 1n : 0n;
  return BigInt(raw as number | bigint);
}

/** JSON text; a bigint is printed as an integer. */
export function printJson(value: Json): string {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return `[${value.map(printJson).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(
      ([name, member]) => `${JSON.stringify(name)}:${printJson(member)}`,
    );
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(value);
}

/** Parses JSON; integers outside the range in which a double is exact become bigint. */
export function parseJson(text: string): Json {
  const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) =>
    /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"\\u0000${token}"` : token,
  );
  return JSON.parse(marked, (_name, value) =>
    typeof value === "string" && value.startsWith("\u0000") ? BigInt(value.slice(1)) : value,
  ) as Json;
}

/**
 * True if the field's value in the document has the right type. Values are not converted. Null means missing,
 * and only optional fields may be missing.
 */
export function fits(document: Document, field: Field): boolean {
  const raw = Object.hasOwn(document, field.name) ? document[field.name] : undefined;
  if (raw === undefined || raw === null) return field.optional !== false;
  if (!field.type.endsWith("[]")) return fitsOne(raw, field.type);
  return Array.isArray(raw) && raw.every((element) => fitsOne(element, field.type.slice(0, -2)));
}

function fitsOne(raw: Json, type: string): boolean {
  if (type === "string") return typeof raw === "string";
  if (type === "bool") return typeof raw === "boolean";
  if (type === "float") return typeof raw === "number" || typeof raw === "bigint";
  if (typeof raw !== "bigint" && !(typeof raw === "number" && Number.isInteger(raw))) return false;
  const [low, high] = rangeOf(type);
  return BigInt(raw) >= low && BigInt(raw) <= high;
}

function rangeOf(type: string): [bigint, bigint] {
  if (type === "int32") return [-(2n ** 31n), 2n ** 31n - 1n];
  if (type === "int64") return [-(2n ** 63n), 2n ** 63n - 1n];
  throw new Error(`the oracle does not know the type ${type}`);
}
