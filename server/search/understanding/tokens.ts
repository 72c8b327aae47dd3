// Splits a query into tokens whose positions are known, so that readings can be cut out of it. Numbers are
// separated from units that touch them (55inch, 50€). Quoted parts and excluded words are sealed: nothing in
// them is read. The engine's analyser is not used, because it drops currency signs and decimal points. Knows
// nothing about languages and indexes.

import { queryParts } from "../../question/words/query-parts.js";

export interface TextPiece {
  readonly kind: "word" | "number" | "symbol" | "sealed";
  /** The token's text without case and accents. Empty for a sealed token, so that it equals no word. */
  readonly key: string;
  /**
   * Value of a number that is separate or followed by a unit. Null for other tokens, and for numbers in
   * fractions such as 1/2 and in part numbers such as TN-2110.
   */
  readonly value: number | null;
  /** Position in the text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  /** True if the token directly follows the previous token, without a space. */
  readonly touches: boolean;
  /**
   * `opens` is true if the token is at the start of a whole word of the text, and `closes` if it is at the
   * end. The middle of a code such as MH01-XS-Black has neither.
   */
  readonly opens: boolean;
  readonly closes: boolean;
}

const PIECE =
  /(?<number>(?<![\p{L}\p{M}\p{N}])\d{1,3}(?:[.,]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d+(?:[.,]\d+)?)|(?<word>[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}\p{N}]+)*)|(?<symbol>[$€£¥<>=+"″&,–—-])/gu;
const SEALED = { kind: "sealed", key: "", value: null, touches: false, opens: true, closes: true } as const;
const LETTERS = /^[\p{L}\p{M}]/u;
const APOSTROPHES = /['’]/g;
/** Most words of queries and values match this; their keys need no character-by-character processing. */
const PLAIN_WORD = /^[A-Za-z]+$/;
const PLAIN_WORDS = /^[A-Za-z]+(?: [A-Za-z]+)*$/;
const ASCII = /^[\x20-\x7e]*$/;

export function tokensOf(text: string): TextPiece[] {
  const tokens: TextPiece[] = [];
  for (const { quoted, excluded, start, end } of queryParts(text)) {
    if (quoted || excluded) tokens.push({ ...SEALED, start, end });
    else addPart(tokens, text, start, end);
  }
  return tokens;
}

/** Returns the keys of a phrase or value, without treating quotes and minus signs as sealing. */
export function keysOf(text: string): string[] {
  const tokens: TextPiece[] = [];
  addPieces(tokens, text, 0, text.length);
  return tokens.map(({ key }) => key);
}

/**
 * Returns the keys of a value's words and numbers, ignoring symbols between them: `Brand-X` becomes `brand
 * x`.
 */
export function valueKeys(text: string): string[] {
  if (PLAIN_WORDS.test(text)) return text.toLowerCase().split(" ");
  const keys: string[] = [];
  for (const { 0: piece, groups } of text.matchAll(PIECE))
    if (groups?.symbol === undefined) keys.push(fold(piece));
  return keys;
}

/** Removes case, accents and apostrophes. */
function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase().replaceAll("'", "");
  return text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(APOSTROPHES, "")
    .replaceAll("ß", "ss")
    .replaceAll("æ", "ae")
    .replaceAll("œ", "oe")
    .replaceAll("ø", "o");
}

/** Adds the tokens of a part that contains no spaces. */
function addPart(tokens: TextPiece[], text: string, start: number, end: number): void {
  const part = text.slice(start, end);
  if (!PLAIN_WORD.test(part)) addPieces(tokens, text, start, end);
  else {
    const key = part.toLowerCase();
    tokens.push({ kind: "word", key, value: null, start, end, touches: false, opens: true, closes: true });
  }
}

function addPieces(tokens: TextPiece[], text: string, from: number, to: number): void {
  const part = text.slice(from, to);
  let last = -1;
  for (const match of part.matchAll(PIECE)) {
    const [piece] = match;
    const { number, symbol } = match.groups as { number?: string; symbol?: string };
    const at = match.index;
    // Numbers are matched first: the word pattern would join a number and the word after it.
    const kind = number !== undefined ? "number" : symbol !== undefined ? "symbol" : "word";
    tokens.push({
      kind,
      key: kind === "symbol" ? symbolKey(piece) : fold(piece),
      value: kind === "number" && standsAlone(part, at, at + piece.length) ? numberOf(piece) : null,
      start: from + at,
      end: from + at + piece.length,
      touches: at > 0 && last === at,
      opens: at === 0 || /[\s,;:(!?]$/.test(part.slice(0, at)),
      closes: /^(?:[,;:)!?.'’"]*(?:\s|$)|[,;])/.test(part.slice(at + piece.length)),
    });
    last = at + piece.length;
  }
}

/**
 * True if the number is not part of a longer word or code: no letter or joining sign precedes it, and no
 * joining sign follows it.
 */
function standsAlone(part: string, start: number, end: number): boolean {
  const before = part.slice(0, start);
  if (/[\p{L}\p{M}\p{N}]$/u.test(before) || /[/:.#*_]$/u.test(before)) return false;
  if (/[\p{L}\p{M}][^\s]*[-–—]$/u.test(before)) return false;
  return !/^(?:[/:#*_]|\.\d|[\p{L}\p{M}]+[\p{N}-])/u.test(part.slice(end)) && !isFraction(part, start);
}

function isFraction(part: string, start: number): boolean {
  return part.slice(Math.max(0, start - 2), start).includes("/");
}

/**
 * Parses a number with commas or points. 1,299.99 and 1.299,99 are the same number, and so are 1,299 and
 * 1.299, because prices do not have three decimals.
 */
function numberOf(text: string): number | null {
  const separators = [...text.matchAll(/[.,]/g)].map(({ index }) => index);
  const last = separators.at(-1);
  let digits = text;
  if (last !== undefined) {
    const decimals = text.length - last - 1;
    const kinds = new Set(separators.map((at) => text[at]));
    const isThousand = decimals === 3 && kinds.size === 1 && !text.startsWith("0");
    const whole = text.slice(0, isThousand ? undefined : last).replace(/[.,]/g, "");
    digits = isThousand ? whole : `${whole}.${text.slice(last + 1)}`;
  }
  const value = Number(digits);
  return Number.isFinite(value) && value < 1e15 ? value : null;
}

function symbolKey(symbol: string): string {
  if (symbol === "–" || symbol === "—") return "-";
  return symbol === "″" ? '"' : symbol;
}

/** True for letters that touch a number, such as `inch` in 55inch. */
export function isGluedWord({ kind, touches, key }: TextPiece): boolean {
  return kind === "word" && touches && LETTERS.test(key);
}
