// Parses a request body as a JSON value. Invalid UTF-8 and excessive nesting are refused before parsing,
// unpaired surrogates after parsing. On request, integers beyond 2^53 become bigints, so that an int64 stays
// exact.
import { isUtf8 } from "node:buffer";
import { type ErrorCode, SkeinError } from "../ground/errors.js";
import { syntaxText } from "../ground/input/json-value.js";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LONG_DIGITS = /\d{16}/;
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;
const MARK = "\u0000int:";
const STRING_OR_LONG_INTEGER = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.eE+-])-?\d{16,19}(?![\d.eE])/gs;
const MARKED_INTEGER = /^\0int:(-?\d{16,19})$/;

export interface JsonOptions {
  readonly depthMax: number;
  /** Error code of every SkeinError that parsing throws. */
  readonly code: ErrorCode;
  /** If true, integers beyond 2^53 become bigints instead of being rounded. */
  readonly exactIntegers?: boolean;
}

/** Parses the body as one JSON value. Throws a SkeinError if that is not possible. */
export function parseJson(body: Uint8Array, options: JsonOptions): unknown {
  const { depthMax, code, exactIntegers = false } = options;
  if (body.byteLength === 0) throw new SkeinError(code, "the body is empty; expected a JSON object");
  if (!isUtf8(body)) throw new SkeinError(code, "the body is not valid UTF-8");
  if (deeperThan(body, depthMax)) {
    throw new SkeinError(code, `the body is nested deeper than ${depthMax} levels`);
  }
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  const value = exactIntegers && LONG_DIGITS.test(text) ? parseExact(text, code) : parse(text, code);
  if (SURROGATE_ESCAPE.test(text)) refuseLoneSurrogates(value, code);
  return value;
}

/**
 * True if the nesting is deeper than `depthMax`. Counts brackets outside strings, so the text need not be
 * valid JSON.
 */
function deeperThan(body: Uint8Array, depthMax: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < body.length; i++) {
    const byte = body[i]!;
    if (inString) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > depthMax) return true;
    } else if (byte === 0x5d || byte === 0x7d) depth--;
  }
  return false;
}

function parse(text: string, code: ErrorCode): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new SkeinError(code, `the body is not valid JSON: ${syntaxText(error, text)}`, { cause: error });
  }
}

/**
 * First parses the text normally, to report syntax errors. Then rewrites long integers as marked strings,
 * parses the result and converts those strings to bigints.
 */
function parseExact(text: string, code: ErrorCode): unknown {
  const rounded = parse(text, code);
  const marked = text.replace(STRING_OR_LONG_INTEGER, markInteger);
  return marked === text ? rounded : JSON.parse(marked, unmarkInteger);
}

function markInteger(token: string): string {
  if (token.startsWith('"') || Number.isSafeInteger(Number(token)) || /^-?0/.test(token)) return token;
  return JSON.stringify(MARK + token);
}

function unmarkInteger(_name: string, value: unknown): unknown {
  if (typeof value !== "string" || !value.startsWith(MARK)) return value;
  const digits = MARKED_INTEGER.exec(value)?.[1];
  return digits === undefined ? value : BigInt(digits);
}

function refuseLoneSurrogates(value: unknown, code: ErrorCode): void {
  if (typeof value === "string") {
    if (/\p{Surrogate}/u.test(value)) {
      throw new SkeinError(
        code,
        "the body has a string with an unpaired surrogate (a \\u escape without its other half)",
      );
    }
  } else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      refuseLoneSurrogates(name, code);
      refuseLoneSurrogates(member, code);
    }
  }
}
