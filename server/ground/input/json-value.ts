// JSON values that nobody has checked yet: telling objects from the rest, and naming a value, or what is wrong with a text, in an
// error text.

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a value is, for error texts. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "string") return value.length > 40 ? "a long string" : JSON.stringify(value);
  if (typeof value === "object") return "an object";
  return String(value);
}

/** What kind of value it is, for error texts about secrets. */
export function kindOf(value: unknown): string {
  if (typeof value === "string") return "a string";
  if (typeof value === "number" || typeof value === "bigint") return "a number";
  return describe(value);
}

/** Why a text is no JSON: V8's message without the quoted text, which may be long or secret. */
export function syntaxText(error: SyntaxError, text: string): string {
  const position = /at position (\d+)/.exec(error.message)?.[1];
  const early = /end of JSON/.test(error.message) || Number(position) >= text.length;
  if (early) return `it ends too early, at position ${text.length}`;
  return position === undefined ? "unexpected character" : `unexpected character at position ${position}`;
}
