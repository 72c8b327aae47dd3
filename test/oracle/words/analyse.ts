// A naive model of the analyser: plain string functions, one character at a time, written from the rules in
// docs/ranking.md. Shares no tables or code with the engine.

export interface OracleToken {
  term: string;
  position: number;
  /** UTF-8 byte offsets in the text. */
  start: number;
  end: number;
  /** Number of words joined in this token; 1 for a single word of the text. */
  parts: number;
}

export interface OracleAnalysis {
  symbols: string;
  separators: string;
}

type Kind = "separator" | "word" | "ignored" | "ideograph" | "apostrophe" | "voicing";

const PLAIN: OracleAnalysis = { symbols: "", separators: "" };
const TERM_BYTES = 120;
const DASHES = "-\u2010\u2011\u2012\u2013\u2212/";
const JOINERS = `${DASHES}._+&#:`;
const utf8 = new TextEncoder();

const SPECIALS: Record<string, string> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  þ: "th",
  ł: "l",
  ħ: "h",
  ı: "i",
  ŋ: "n",
  ſ: "s",
  ς: "σ",
};

function inRange(character: string, ranges: [number, number][]): boolean {
  const point = character.codePointAt(0)!;
  return ranges.some(([low, high]) => point >= low && point <= high);
}

function isAccent(character: string): boolean {
  if (/[\u05be\u05c0\u05c3\u05c6]/.test(character)) return false; // Hebrew punctuation among the vowel points
  return inRange(character, [
    [0x300, 0x36f],
    [0x1ab0, 0x1aff],
    [0x1dc0, 0x1dff],
    [0x20d0, 0x20ff],
    [0xfe20, 0xfe2f],
    [0x64b, 0x65f],
    [0x670, 0x670],
    [0x591, 0x5c7],
  ]);
}

/** Scripts without spaces between words, except the East Asian ones. */
const SPACELESS = /\p{Script=Thai}|\p{Script=Lao}|\p{Script=Khmer}|\p{Script=Myanmar}/u;

function kindOf(character: string): Kind {
  if ("'’ʼ".includes(character)) return "apostrophe";
  if ("\u3099\u309a\uff9e\uff9f".includes(character)) return "voicing";
  if (isAccent(character) || /\p{Default_Ignorable_Code_Point}/u.test(character)) return "ignored";
  if (/\s|\u0085/u.test(character)) return "separator";
  if (SPACELESS.test(character) && /\p{L}/u.test(character)) return "ideograph";
  if (SPACELESS.test(character) && /\p{M}/u.test(character)) return "voicing";
  if (/\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}/u.test(character)) return "ideograph";
  return /\p{L}|\p{M}|\p{N}/u.test(character) ? "word" : "separator";
}

/**
 * Converts to lower case and compatibility form and removes accents, repeatedly until nothing changes. Hangul
 * syllables are not decomposed.
 */
function simplify(text: string): string {
  let out = "";
  for (const lower of text.toLowerCase()) {
    const isSyllable = inRange(lower, [[0xac00, 0xd7a3]]);
    const plain = SPECIALS[lower] ?? (isSyllable ? lower : lower.normalize("NFKD").toLowerCase());
    for (const part of plain) if (kindOf(part) !== "ignored") out += SPECIALS[part] ?? part;
  }
  out = out.replace(/[\u1100-\u11ff]+/g, (jamo) => jamo.normalize("NFC"));
  return out === text ? out : simplify(out);
}

/** The characters that `character` contributes to a word; empty if it cannot be part of a word. */
function wordFolding(character: string): string {
  return [...simplify(character)]
    .filter((part) => !["separator", "apostrophe"].includes(kindOf(part)))
    .join("");
}

interface Piece {
  kind: Kind;
  folding: string;
  bytes: number;
}

function pieceOf(character: string, analysis: OracleAnalysis): Piece {
  const bytes = utf8.encode(character).length;
  if (analysis.separators.includes(character)) return { kind: "separator", folding: "", bytes };
  if (analysis.symbols.includes(character)) return { kind: "word", folding: character, bytes };
  const kind = kindOf(character);
  if (kind === "voicing") return { kind, folding: character.normalize("NFKD"), bytes };
  if (kind !== "word" && kind !== "ideograph") return { kind, folding: "", bytes };
  const folding = wordFolding(character);
  return folding === "" ? { kind: "separator", folding, bytes } : { kind, folding, bytes };
}

/** The longest prefix, in whole code points, that fits into a term. */
function cut(term: string): string {
  let kept = "";
  for (const character of term) {
    if (utf8.encode(kept + character).length > TERM_BYTES) break;
    kept += character;
  }
  return kept;
}

/** True if the first piece at or after `i` that is neither ignored nor a voicing mark is part of a word. */
function wordFollows(pieces: Piece[], i: number): boolean {
  while (pieces[i]?.kind === "ignored" || pieces[i]?.kind === "voicing") i++;
  return pieces[i]?.kind === "word";
}

/** Tokens of a well-formed text: its words, with each joined token right after the last of its words. */
export function analyse(text: string, analysis: OracleAnalysis = PLAIN): OracleToken[] {
  const words = findWords(text, analysis);
  const bytes = Buffer.from(text);
  const joinerBehind = ({ end }: Word, next: Word | undefined): string => {
    const gap = next === undefined ? "" : bytes.toString("utf8", end, next.start);
    return [...gap].length === 1 && JOINERS.includes(gap) && !analysis.separators.includes(gap) ? gap : "";
  };
  const tokens: OracleToken[] = [];
  let run: Word[] = [];
  let joiners = "";
  words.forEach((word, position) => {
    const { ideograph: _, ...token } = word;
    tokens.push({ ...token, position, parts: 1 });
    run.push(word);
    const joiner = joinerBehind(word, words[position + 1]);
    joiners += joiner;
    if (joiner !== "") return;
    if (isJoined(run, joiners)) {
      const term = run.map((part) => part.term).join("");
      const first = position + 1 - run.length;
      tokens.push({ term, position: first, start: run[0]!.start, end: word.end, parts: run.length });
    }
    run = [];
    joiners = "";
  });
  return tokens;
}

function isJoined(run: Word[], joiners: string): boolean {
  if (run.length < 2 || run.length > 6 || run.some((word) => word.ideograph)) return false;
  const terms = run.map((word) => word.term);
  if (utf8.encode(terms.join("")).length > TERM_BYTES) return false;
  return !terms.every((term) => /^\p{N}+$/u.test(term)) || [...joiners].every((one) => DASHES.includes(one));
}

/** A text's words, without joined tokens. */
export function words(text: string, analysis: OracleAnalysis = PLAIN): OracleToken[] {
  return analyse(text, analysis).filter((token) => token.parts === 1);
}

/** True if the terms occur in the text in this order, not necessarily adjacent. */
export function hasInOrder(
  text: string,
  terms: readonly string[],
  analysis: OracleAnalysis = PLAIN,
): boolean {
  const tokens = analyse(text, analysis);
  let from = 0;
  return terms.every((term) => {
    const found = tokens.find((token) => token.term === term && token.position >= from);
    from = (found?.position ?? 0) + 1;
    return found !== undefined;
  });
}

interface Word {
  term: string;
  start: number;
  end: number;
  ideograph: boolean;
}

function findWords(text: string, analysis: OracleAnalysis): Word[] {
  const pieces = [...text].map((character) => pieceOf(character, analysis));
  const found: Word[] = [];
  let term = "";
  let start = 0;
  let at = 0;
  let run: "none" | "word" | "ideograph" = "none";
  const finish = (): void => {
    if (run !== "none") found.push({ term: cut(term), start, end: at, ideograph: run === "ideograph" });
    run = "none";
    term = "";
  };
  pieces.forEach((piece, i) => {
    if (piece.kind === "ideograph" || (piece.kind === "word" && run !== "word")) {
      finish();
      run = piece.kind;
      start = at;
      term = piece.folding;
    } else if (piece.kind === "word") {
      term += piece.folding;
    } else if (piece.kind === "voicing") {
      if (run === "ideograph") term += piece.folding;
    } else if (piece.kind === "apostrophe") {
      if (run !== "word" || !wordFollows(pieces, i + 1)) finish();
    } else if (piece.kind === "separator") {
      finish();
    }
    at += piece.bytes;
  });
  finish();
  return found;
}

/** The whole value, folded for comparison and sorting. */
export function foldValue(text: string): string {
  let out = "";
  for (const character of text) {
    const kind = kindOf(character);
    const word = kind === "word" || kind === "ideograph" ? wordFolding(character) : "";
    const plain = simplify(character);
    if (kind === "ignored") continue;
    if (kind === "apostrophe") out += "'";
    else if (/\s|\u0085/u.test(character)) out += " ";
    else if (kind === "voicing") out += character.normalize("NFKD");
    else if (word !== "") out += word;
    else out += kind === "separator" && plain !== "" && !plain.includes(" ") ? plain : character;
  }
  return out.replace(/ +/g, " ").replace(/^ | $/g, "");
}

/** Lucene's SmallFloat.intToByte4, found by search: the largest byte whose length is at most `length`. */
export function encodeNorm(length: number): number {
  let norm = 0;
  while (norm < 255 && decodeNorm(norm + 1) <= length) norm++;
  return norm;
}

/** Lucene's SmallFloat.byte4ToInt: 24 exact values, then 3 mantissa bits with a growing exponent. */
export function decodeNorm(norm: number): number {
  if (norm < 24) return norm;
  const mantissa = (norm - 24) % 8;
  const exponent = Math.floor((norm - 24) / 8);
  return 24 + (exponent === 0 ? mantissa : (mantissa + 8) * 2 ** (exponent - 1));
}
