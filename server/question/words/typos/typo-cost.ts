// Estimates how unlikely it is that a person meant one term but typed another word. The measure is the cost
// of the cheapest optimal string alignment (insertion, deletion, substitution, swap of neighbours), where
// every edit has its own price. 100 is roughly the price of one arbitrary edit. Pure functions;
// docs/ranking.md lists the same prices in a table.
//
// Common human errors are cheap. They are taken from Kernighan, Church and Gale 1990 ("A Spelling Correction
// Program Based on a Noisy Channel Model": confusion matrices of the four edits, which depend on the previous
// letter), Brill and Moore 2000 ("An Improved Error Model for Noisy Channel Spelling Correction": edits of
// several letters, the position in the word), and Mitton 1996 ("English Spelling and the Computer": omissions
// and doublings are the most common errors, vowels and endings are the weakest places, and the first letter
// is nearly always right). The prices are round numbers. They were chosen on every other pair in three lists
// of misspellings and measured on the remaining pairs.

const EXTRA = 105;
const EXTRA_LAST = 100;
const EXTRA_VOWEL = 90;
const EXTRA_SILENT = 90;
const EXTRA_DOUBLE = 55;
const MISSING_LAST = 90;
const MISSING = 70;
const MISSING_VOWEL = 60;
const MISSING_SILENT = 50;
const MISSING_DOUBLE = 50;
const OTHER_LETTER = 105;
const NEAR_KEY = 95;
const RARE_VOWEL = 90;
const VOWEL = 80;
const SOUND = 75;
const I_FOR_Y = 55;
const ENDING = 50;
const SWAP = 60;
const SWAP_IE = 50;
const F_FOR_PH = 75;
const FIRST_LETTER = 70;
const FIRST_SWAP = 20;
/** Extra price of a term that is longer than the typed word and only begins with it, possibly with typos. */
const COMPLETION = 50;
const COMPLETION_LETTER = 25;

/** Pairs of consonants with the same or nearly the same sound. */
const SAME_SOUND = ["ck", "cs", "ks", "sz", "cz", "kq", "cq", "gj", "fv", "dt", "bp"];
const KEY_ROWS = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];
/** Letters that are silent or nearly silent after one of the given letters. Example: h after c. */
const SILENT_AFTER: Readonly<Record<string, string>> = {
  h: "cgkprstwx",
  u: "gq",
  t: "s",
  c: "s",
  b: "m",
  n: "m",
  l: "a",
};
/**
 * Letters that are silent or nearly silent before one of the given letters. Example: k before n. A final e
 * also counts as silent.
 */
const SILENT_BEFORE: Readonly<Record<string, string>> = {
  k: "n",
  g: "n",
  w: "r",
  p: "st",
  t: "c",
  c: "kq",
  b: "t",
  d: "gj",
  l: "fkm",
  h: "o",
};

const LETTER_A = 97;
const LETTERS = 26;
const [A, B, C, E, F, H, I, L, N, O, P, R, S, T, U, Y] = Array.from("abcefhilnoprstuy", (letter) =>
  letter.charCodeAt(0),
) as [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
];
const LETTER_PAIRS = pairPrices();
const SILENT_PAIRS = { after: pairFlags(SILENT_AFTER), before: pairFlags(SILENT_BEFORE) };

// Scratch arrays for one comparison. One set per thread suffices, because nothing interrupts a comparison.
// They grow with the longest word seen; a term has at most 120 letters.
let typed = new Uint32Array(128);
let term = new Uint32Array(128);
let extra = new Uint8Array(128);
let missing = new Uint8Array(128);
let rows = [new Int32Array(129), new Int32Array(129), new Int32Array(129)] as [
  Int32Array,
  Int32Array,
  Int32Array,
];

/**
 * Computes the price of turning one typed word into each of several terms. Only one instance may be in use at
 * a time, because all instances share their scratch arrays.
 */
export class TypoCosts {
  readonly #length: number;
  readonly #unfinished: boolean;

  /** If `unfinished` is true, the word may also be the beginning of a term. */
  constructor(word: string, unfinished: boolean) {
    reserve(word.length);
    this.#length = points(word, typed);
    this.#unfinished = unfinished;
    for (let i = 0; i < this.#length; i++) extra[i] = extraPrice(i, this.#length);
  }

  of(text: string): number {
    reserve(text.length);
    const width = points(text, term);
    for (let j = 0; j < width; j++) missing[j] = missingPrice(j, width);
    let [before, above, row] = rows;
    above[0] = 0;
    for (let j = 1; j <= width; j++) {
      above[j] = (above[j - 1] as number) + (missing[j - 1] as number) + (j === 1 ? FIRST_LETTER : 0);
    }
    for (let i = 1; i <= this.#length; i++) {
      row[0] = (above[0] as number) + (extra[i - 1] as number) + FIRST_LETTER;
      fillRow(i, width, before, above, row);
      [before, above, row] = [above, row, before];
    }
    let best = above[width] as number;
    for (let j = 1; this.#unfinished && j < width; j++) {
      best = Math.min(best, (above[j] as number) + COMPLETION + COMPLETION_LETTER * (width - j));
    }
    return best;
  }
}

/**
 * Fills row i of the alignment: the prices of turning the word's first i letters into every prefix of the
 * term.
 */
function fillRow(i: number, width: number, before: Int32Array, above: Int32Array, row: Int32Array): void {
  const a = typed[i - 1] as number;
  const left = i > 1 ? (typed[i - 2] as number) : 0;
  const extraHere = extra[i - 1] as number;
  for (let j = 1; j <= width; j++) {
    const b = term[j - 1] as number;
    let cost = above[j - 1] as number;
    if (a !== b) cost += letterPrice(a, b, j, width) + (i === 1 && j === 1 ? FIRST_LETTER : 0);
    cost = Math.min(
      cost,
      (above[j] as number) + extraHere,
      (row[j - 1] as number) + (missing[j - 1] as number),
    );
    if (j > 1 && a !== b) {
      const b2 = term[j - 2] as number;
      if (i > 1 && a === b2 && left === b) {
        cost = Math.min(
          cost,
          (before[j - 2] as number) + swapPrice(a, b) + (i === 2 && j === 2 ? FIRST_SWAP : 0),
        );
      }
      if (a === F && b === H && b2 === P) cost = Math.min(cost, (above[j - 2] as number) + F_FOR_PH);
    }
    if (b === F && a === H && left === P) cost = Math.min(cost, (before[j - 1] as number) + F_FOR_PH);
    row[j] = cost;
  }
}

function swapPrice(a: number, b: number): number {
  return (a === I && b === E) || (a === E && b === I) ? SWAP_IE : SWAP;
}

/** Price of typing `a` instead of `b`, the term's j-th letter. */
function letterPrice(a: number, b: number, j: number, width: number): number {
  const x = a - LETTER_A;
  const y = b - LETTER_A;
  if (x < 0 || x >= LETTERS || y < 0 || y >= LETTERS) return OTHER_LETTER;
  return isEnding(a, b, j, width) ? ENDING : (LETTER_PAIRS[x * LETTERS + y] as number);
}

/**
 * True if the two letters differ within an ending: -able and -ible, -ant and -ent, -ance and -ence, -ar, -er
 * and -or, -tion, -sion and -cion.
 */
function isEnding(a: number, b: number, j: number, width: number): boolean {
  const next = j < width ? term[j] : 0;
  const second = j + 1 < width ? term[j + 1] : 0;
  if (next === B) return second === L && among(a, A, I, I) && among(b, A, I, I);
  if (next === N) return (second === T || second === C) && among(a, A, E, E) && among(b, A, E, E);
  if (next === R) return among(second, 0, S, Y) && among(a, A, E, O) && among(b, A, E, O);
  if (next === I)
    return second === O && j + 2 < width && term[j + 2] === N && among(a, T, S, C) && among(b, T, S, C);
  return false;
}

function among(letter: number | undefined, first: number, second: number, third: number): boolean {
  return letter === first || letter === second || letter === third;
}

/** Price of the typed word's i-th letter if it is superfluous. */
function extraPrice(i: number, length: number): number {
  const letter = typed[i] as number;
  const left = i > 0 ? (typed[i - 1] as number) : 0;
  const right = i + 1 < length ? (typed[i + 1] as number) : 0;
  if (letter === left || letter === right) return EXTRA_DOUBLE;
  if (isSilent(letter, left, right)) return EXTRA_SILENT;
  if (right === 0) return EXTRA_LAST;
  return isVowel(letter) ? EXTRA_VOWEL : EXTRA;
}

/** Price of omitting the term's j-th letter. */
function missingPrice(j: number, width: number): number {
  const letter = term[j] as number;
  const left = j > 0 ? (term[j - 1] as number) : 0;
  const right = j + 1 < width ? (term[j + 1] as number) : 0;
  if (letter === left || letter === right) return MISSING_DOUBLE;
  if (isSilent(letter, left, right)) return MISSING_SILENT;
  if (right === 0) return MISSING_LAST;
  return isVowel(letter) ? MISSING_VOWEL : MISSING;
}

function isVowel(letter: number): boolean {
  return letter === A || letter === E || letter === I || letter === O || letter === U || letter === Y;
}

function isSilent(letter: number, left: number, right: number): boolean {
  if (letter === E && right === 0) return true;
  const x = letter - LETTER_A;
  if (x < 0 || x >= LETTERS) return false;
  return has(SILENT_PAIRS.after, x, left - LETTER_A) || has(SILENT_PAIRS.before, x, right - LETTER_A);
}

function has(flags: Uint8Array, x: number, y: number): boolean {
  return y >= 0 && y < LETTERS && flags[x * LETTERS + y] === 1;
}

function points(text: string, into: Uint32Array): number {
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const point = text.codePointAt(at) as number;
    if (point > 0xffff) at++;
    into[length++] = point;
  }
  return length;
}

function reserve(length: number): void {
  if (length <= term.length) return;
  const wider = Uint32Array.from({ length }, (_, i) => typed[i] ?? 0);
  [typed, term] = [wider, new Uint32Array(length)];
  const prices = Uint8Array.from({ length }, (_, i) => extra[i] ?? 0);
  [extra, missing] = [prices, new Uint8Array(length)];
  rows = [new Int32Array(length + 1), new Int32Array(length + 1), new Int32Array(length + 1)];
}

function pairPrices(): Uint8Array {
  const prices = new Uint8Array(LETTERS * LETTERS).fill(OTHER_LETTER);
  const set = (x: string | undefined, y: string | undefined, price: number): void => {
    if (x === undefined || y === undefined) return;
    const [from, to] = [x.charCodeAt(0) - LETTER_A, y.charCodeAt(0) - LETTER_A];
    prices[from * LETTERS + to] = price;
    prices[to * LETTERS + from] = price;
  };
  KEY_ROWS.forEach((keys, at) => {
    [...keys].forEach((key, x) => {
      for (const near of [keys[x + 1], KEY_ROWS[at + 1]?.[x - 1], KEY_ROWS[at + 1]?.[x]])
        set(key, near, NEAR_KEY);
    });
  });
  for (const [x, y] of SAME_SOUND) set(x, y, SOUND);
  for (const x of "aeiouy") for (const y of "aeiouy") set(x, y, /[uy]/.test(x + y) ? RARE_VOWEL : VOWEL);
  set("i", "y", I_FOR_Y);
  return prices;
}

function pairFlags(pairs: Readonly<Record<string, string>>): Uint8Array {
  const flags = new Uint8Array(LETTERS * LETTERS);
  for (const [letter, neighbours] of Object.entries(pairs)) {
    for (const neighbour of neighbours) {
      flags[(letter.charCodeAt(0) - LETTER_A) * LETTERS + neighbour.charCodeAt(0) - LETTER_A] = 1;
    }
  }
  return flags;
}
