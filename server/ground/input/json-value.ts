// Helpers for JSON values that have not been validated. Distinguishes objects from other values, and
// describes a value or a syntax error for error messages.

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Describes a value for error messages. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "string") return value.length > 40 ? "a long string" : JSON.stringify(value);
  if (typeof value === "object") return "an object";
  return String(value);
}

/** Describes only what kind of value it is, for error messages about secrets. */
export function kindOf(value: unknown): string {
  if (typeof value === "string") return "a string";
  if (typeof value === "number" || typeof value === "bigint") return "a number";
  return describe(value);
}

/**
 * Explains why a text is not JSON: V8's message, without its quotation from the text, which may be long or
 * secret.
 */
export function syntaxText(error: SyntaxError, text: string): string {
  const position = /at position (\d+)/.exec(error.message)?.[1];
  const early = /end of JSON/.test(error.message) || Number(position) >= text.length;
  if (early) return `unexpected end at position ${text.length}`;
  return position === undefined ? "unexpected character" : `unexpected character at position ${position}`;
}
