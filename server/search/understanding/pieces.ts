// Splits text into words, numbers and symbols, without regard to what they mean. ASCII text is read with a
// table; only words with other characters, and numbers with separators, need a regular expression.

export type PieceKind = "word" | "number" | "symbol";

const LOWER = 1;
const UPPER = 2;
const DIGIT = 4;
const SYMBOL = 8;
const WORD_CHARACTER = LOWER | UPPER | DIGIT;

/** The class of each ASCII character; 0 if it separates pieces. */
const CLASSES = Uint8Array.from({ length: 0x80 }, (_, unit) => {
  const character = String.fromCharCode(unit);
  if (/[a-z]/.test(character)) return LOWER;
  if (/[A-Z]/.test(character)) return UPPER;
  if (/[0-9]/.test(character)) return DIGIT;
  return '$<>=+"&,-'.includes(character) ? SYMBOL : 0;
});
const SYMBOLS_BEYOND_ASCII = "€£¥″–—";
const APOSTROPHE = 0x27;

const WORD = /[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}\p{N}]+)*/uy;
const NUMBER = /(?<![\p{L}\p{M}\p{N}])\d{1,3}(?:[.,]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d+(?:[.,]\d+)?/uy;
const ASCII = /^[\x20-\x7e]*$/;

/** Iterates over the pieces of a text. */
export class Pieces {
  kind: PieceKind = "word";
  /** Position of the current piece, in UTF-16 code units. */
  start = 0;
  end = 0;
  readonly #text: string;
  /** True if the piece is its own key. */
  #isFolded = true;

  constructor(text: string) {
    this.#text = text;
  }

  /** Moves to the first piece in [from, to), a range that cuts no word in two. False if there is none. */
  next(from: number, to: number): boolean {
    for (let at = from; at < to; at += this.#text.codePointAt(at)! > 0xffff ? 2 : 1)
      if (this.#isAt(at)) return true;
    return false;
  }

  /** The piece's text without case, accents and apostrophes. */
  get key(): string {
    const piece = this.#text.slice(this.start, this.end);
    if (this.#isFolded) return piece;
    return this.kind === "symbol" ? symbolKey(piece) : fold(piece);
  }

  /** True if a piece begins at this position, which then becomes the current piece. */
  #isAt(at: number): boolean {
    const unit = this.#text.charCodeAt(at);
    if (unit >= 0x80) return this.#isBeyondAsciiAt(at);
    const first = CLASSES[unit]!;
    if (first === 0) return false;
    if (first === SYMBOL) return this.#is("symbol", at, at + 1, true);
    if (first === DIGIT) return this.#is("number", at, numberEnd(this.#text, at), true);
    return this.#isWordAt(at, first);
  }

  #isBeyondAsciiAt(at: number): boolean {
    if (SYMBOLS_BEYOND_ASCII.includes(this.#text.charAt(at))) return this.#is("symbol", at, at + 1, false);
    const end = matchEnd(WORD, this.#text, at);
    return end > 0 && this.#is("word", at, end, false);
  }

  #isWordAt(start: number, first: number): true {
    let classes = first;
    for (let at = start + 1; ; at++) {
      const unit = this.#text.charCodeAt(at);
      const its = unit < 0x80 ? CLASSES[unit]! : 0;
      if ((its & WORD_CHARACTER) !== 0) classes |= its;
      else if (unit >= 0x80 || unit === APOSTROPHE)
        return this.#is("word", start, matchEnd(WORD, this.#text, start), false);
      else return this.#is("word", start, at, (classes & UPPER) === 0);
    }
  }

  #is(kind: PieceKind, start: number, end: number, isFolded: boolean): true {
    this.kind = kind;
    this.start = start;
    this.end = end;
    this.#isFolded = isFolded;
    return true;
  }
}

/** A number is matched before a word, which would include the letters that touch it. */
function numberEnd(text: string, start: number): number {
  let end = start + 1;
  while (isDigit(text.charCodeAt(end))) end++;
  const next = text.charAt(end);
  return next === "," || next === "." ? matchEnd(NUMBER, text, start) : end;
}

/** Returns the end of the match at `start`; 0 if there is none. */
function matchEnd(sticky: RegExp, text: string, start: number): number {
  sticky.lastIndex = start;
  sticky.test(text);
  return sticky.lastIndex;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/** Removes case, accents and apostrophes. */
function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase().replaceAll("'", "");
  return text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/['’]/g, "")
    .replaceAll("ß", "ss")
    .replaceAll("æ", "ae")
    .replaceAll("œ", "oe")
    .replaceAll("ø", "o");
}

function symbolKey(symbol: string): string {
  if (symbol === "–" || symbol === "—") return "-";
  return symbol === "″" ? '"' : symbol;
}
