// Splits a query into tokens whose positions are known, so that readings can be cut out of it. Numbers are
// separated from units that touch them (55inch, 50€). Quoted parts and excluded words are sealed: nothing in
// them is read. The engine's analyser is not used, because it drops currency signs and decimal points. Knows
// nothing about languages and indexes.

import { queryParts } from "../../question/words/query-parts.js";
import { type PieceKind, Pieces } from "./pieces.js";

export interface TextPiece {
  readonly kind: PieceKind | "sealed";
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

const LETTERS = /^[\p{L}\p{M}]/u;

export function tokensOf(text: string): TextPiece[] {
  const tokens: TextPiece[] = [];
  const pieces = new Pieces(text);
  for (const { quoted, excluded, start, end } of queryParts(text)) {
    if (quoted || excluded) tokens.push(sealed(start, end));
    else
      for (let at = start; pieces.next(at, end); at = pieces.end)
        tokens.push(tokenOf(text, pieces, start, at, end));
  }
  return tokens;
}

/** Returns the keys of a phrase, without treating quotes and minus signs as sealing. */
export function keysOf(text: string): string[] {
  return keysIn(text, true);
}

/**
 * Returns the keys of a value's words and numbers, ignoring symbols between them: `Brand-X` becomes `brand
 * x`.
 */
export function valueKeys(text: string): string[] {
  return keysIn(text, false);
}

function keysIn(text: string, symbols: boolean): string[] {
  const keys: string[] = [];
  const pieces = new Pieces(text);
  for (let at = 0; pieces.next(at, text.length); at = pieces.end)
    if (symbols || pieces.kind !== "symbol") keys.push(pieces.key);
  return keys;
}

function sealed(start: number, end: number): TextPiece {
  return { kind: "sealed", key: "", value: null, start, end, touches: false, opens: true, closes: true };
}

/**
 * Returns the token of a piece in the part [from, to), which contains no spaces. `last` is the end of the
 * piece before it.
 */
function tokenOf(
  text: string,
  { kind, key, start, end }: Pieces,
  from: number,
  last: number,
  to: number,
): TextPiece {
  return {
    kind,
    key,
    value: kind === "number" && standsAlone(text, from, start, end, to) ? numberOf(key) : null,
    start,
    end,
    touches: start > from && last === start,
    opens: start === from || OPENERS.includes(text.charAt(start - 1)),
    closes: isClosed(text, end, to),
  };
}

const OPENERS = ",;:(!?";
const CLOSERS = ",;:)!?.'’\"";

/** True if only punctuation follows in the part, or a comma or semicolon immediately. */
function isClosed(text: string, end: number, to: number): boolean {
  let at = end;
  while (at < to && CLOSERS.includes(text.charAt(at))) at++;
  return at === to || text[end] === "," || text[end] === ";";
}

/**
 * True if the number is not part of a longer word or code: no letter or joining sign precedes it, and no
 * joining sign follows it.
 */
function standsAlone(text: string, from: number, start: number, end: number, to: number): boolean {
  if (start === from && end === to) return true;
  const before = text.slice(from, start);
  if (/[\p{L}\p{M}\p{N}/:.#*_]$/u.test(before)) return false;
  if (/[-–—]$/.test(before) && /[\p{L}\p{M}]/u.test(before)) return false;
  return (
    !/^(?:[/:#*_]|\.\d|[\p{L}\p{M}]+[\p{N}-])/u.test(text.slice(end, to)) && !before.slice(-2).includes("/")
  );
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

/** True for letters that touch a number, such as `inch` in 55inch. */
export function isGluedWord({ kind, touches, key }: TextPiece): boolean {
  return kind === "word" && touches && LETTERS.test(key);
}
