// Converts a feed's value to a schema field's type. The result is JSON text, or the reason why the conversion
// is impossible. docs/feeds.md has the conversion tables.
import { FIELD_TYPES, type FieldType } from "../../ground/field-types.js";
import { parseDate } from "./dates.js";
import { isFeedObject } from "./field-path.js";
import { toJson } from "./json-text.js";
import { parseNumber } from "./numbers.js";

export type Coerced =
  | { readonly json: string; readonly currency?: string | undefined }
  /** An error message without its first word, the field's name. */
  | { readonly problem: string }
  /** Null means that the field is absent. */
  | null;

const TRUE: ReadonlySet<string> = new Set([
  ...["true", "yes", "y", "on", "1"],
  ...["in stock", "in_stock", "instock", "available", "limited availability"],
]);
/** Texts that mean false. They include those for products that can be ordered but are not in stock yet. */
const FALSE: ReadonlySet<string> = new Set([
  ...["false", "no", "n", "off", "0"],
  ...["out of stock", "out_of_stock", "outofstock", "sold out", "sold_out", "unavailable", "discontinued"],
  ...["preorder", "pre-order", "backorder", "available for order"],
]);
const INT_RANGES = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
} as const;
const SHOWN_MAX = 60;

export function coerce(value: unknown, type: FieldType): Coerced {
  if (FIELD_TYPES[type].array) return coerceList(value, type);
  const one = Array.isArray(value) ? value.find((element) => !isAbsent(element)) : value;
  return isAbsent(one) ? null : coerceOne(one, type);
}

function coerceList(value: unknown, type: FieldType): Coerced {
  const elements = listOf(value).filter((element) => !isAbsent(element));
  if (elements.length === 0) return null;
  const parts: string[] = [];
  for (const element of elements) {
    const part = coerceOne(element, type);
    if (part === null) continue;
    if ("problem" in part) return part;
    parts.push(part.json);
  }
  return { json: `[${parts.join(",")}]` };
}

/**
 * Returns a list's elements. In a text, elements are separated by vertical bars, semicolons or commas. A path
 * such as `Shoes > Men, wide` is one element.
 */
function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap((element) => (Array.isArray(element) ? element : [element]));
  if (typeof value !== "string") return [value];
  const text = value.trim();
  if (text.startsWith("[") && text.endsWith("]")) {
    const parsed = parsedList(text);
    if (parsed !== null) return parsed;
  }
  const separator = ["|", ";", ","].find((mark) => text.includes(mark));
  if (separator === undefined || (separator === "," && text.includes(" > "))) return [text];
  return text.split(separator).map((part) => part.trim());
}

function parsedList(text: string): readonly unknown[] | null {
  try {
    return JSON.parse(text) as readonly unknown[];
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === "string" && value.trim() === "");
}

function coerceOne(value: unknown, type: FieldType): Coerced {
  const { kind, takes } = FIELD_TYPES[type];
  if (isFeedObject(value) || Array.isArray(value))
    return { problem: `must be ${takes}, not ${shown(value)}` };
  const coerced =
    kind === "string" ? asString(value) : kind === "bool" ? asBool(value) : asNumber(value, type);
  return coerced ?? { problem: `must be ${takes}, not ${shown(value)}` };
}

function asString(value: unknown): Coerced {
  return { json: JSON.stringify(typeof value === "string" ? value : String(value)) };
}

function asBool(value: unknown): Coerced {
  const text = String(value).trim().toLowerCase();
  if (TRUE.has(text)) return { json: "true" };
  return FALSE.has(text) ? { json: "false" } : null;
}

/**
 * Converts a number or price, or for an integer field also a date (to seconds since 1970). Returns null if
 * the value is none of these or is out of the type's range.
 */
function asNumber(value: unknown, type: FieldType): Coerced {
  const isInteger = FIELD_TYPES[type].kind === "int";
  if (typeof value === "boolean") return null;
  if (typeof value === "bigint")
    return isInteger ? integer(value.toString(), type) : { json: value.toString() };
  const plain = typeof value === "number" ? value : plainNumber(value as string);
  if (plain !== null) return isInteger ? integer(String(plain), type) : float(plain);
  const number = parseNumber(value as string);
  if (number !== null) {
    const { digits, currency } = number;
    const coerced = isInteger ? integer(digits, type) : float(Number(digits));
    return coerced === null ? null : { ...coerced, currency: currency ?? undefined };
  }
  const seconds = isInteger ? parseDate(value as string) : null;
  return seconds === null ? null : integer(String(seconds), type);
}

/**
 * Reads a number that is written as JavaScript would write it, otherwise returns null. Most numbers are, and
 * this check is ten times cheaper than parsing the other forms.
 */
function plainNumber(text: string): number | null {
  const value = Number(text);
  return Number.isFinite(value) && String(value) === text ? value : null;
}

function integer(digits: string, type: FieldType): { json: string } | null {
  const whole = /^(-?\d+)(?:\.0*)?$/.exec(digits)?.[1];
  const [low, high] = type === "int32" || type === "int32[]" ? INT_RANGES.int32 : INT_RANGES.int64;
  if (whole === undefined || whole.length > 20) return null;
  const exact = BigInt(whole);
  return exact >= low && exact <= high ? { json: exact.toString() } : null;
}

function float(value: number): { json: string } | null {
  return Number.isFinite(value) ? { json: JSON.stringify(value) } : null;
}

function shown(value: unknown): string {
  const text = toJson(value);
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}...` : text;
}
