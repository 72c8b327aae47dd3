// Writes engine-wasm/unicode/fold.bin, the frozen table of character classes and foldings (layout: FOLD_* in
// engine-wasm/assembly/layout.ts). Run it by hand to move to another Unicode version. Every index folded with
// the old table must then be rebuilt.
//
// npm run build && node dist/scripts/generate-unicode.js
import { writeFileSync } from "node:fs";
import {
  CLASS_APOSTROPHE,
  CLASS_DIGIT,
  CLASS_IDEOGRAPH,
  CLASS_IGNORED,
  CLASS_LETTER,
  CLASS_SEPARATOR,
  CLASS_VOICING,
  FOLD_BLOCK_SHIFT,
  FOLD_BYTES_AT,
  FOLD_ENTRIES_AT,
  FOLD_GROWTH_AT,
  FOLD_LENGTH_SHIFT,
  FOLD_MAGIC,
  FOLD_MAGIC_AT,
  FOLD_PLACE_SHIFT,
  FOLD_POOL_AT,
  FOLD_STAGE1_AT,
  FOLD_UNICODE_AT,
  FOLD_VERSION,
  FOLD_VERSION_AT,
} from "../engine-wasm/assembly/layout.js";

const POINTS = 0x110000;
const BLOCK = 1 << FOLD_BLOCK_SHIFT;

/** Latin, Greek and Cyrillic accents, Arabic vowel signs and Hebrew points: dropped everywhere. */
const ACCENT =
  /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f\u064b-\u065f\u0670\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]/u;
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/u;
/**
 * Kana voicing marks, and vowel signs, tone marks and similar marks in scripts where each letter is a token.
 */
const VOICING =
  /[\u3099\u309a\uff9e\uff9f]|(?=\p{M})(?!\p{Default_Ignorable_Code_Point})[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const APOSTROPHE = /['\u2019\u02bc]/u;
/** Characters of scripts written without spaces. */
const IDEOGRAPH =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|(?=\p{L})[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const LETTER = /[\p{L}\p{M}]/u;
const NUMBER = /\p{N}/u;
const WHITE_SPACE = /\p{White_Space}/u;
const HANGUL = /[\uac00-\ud7a3]/u;

/** Letters that Unicode does not decompose but readers equate with their base letters. */
const SPECIAL = new Map([
  ["ß", "ss"],
  ["æ", "ae"],
  ["œ", "oe"],
  ["ø", "o"],
  ["đ", "d"],
  ["ð", "d"],
  ["þ", "th"],
  ["ł", "l"],
  ["ħ", "h"],
  ["ı", "i"],
  ["ŋ", "n"],
  ["ſ", "s"],
  ["ς", "σ"],
]);

function classOf(character: string): number {
  if (APOSTROPHE.test(character)) return CLASS_APOSTROPHE;
  if (VOICING.test(character)) return CLASS_VOICING;
  if (ACCENT.test(character) || IGNORABLE.test(character)) return CLASS_IGNORED;
  if (WHITE_SPACE.test(character)) return CLASS_SEPARATOR;
  if (IDEOGRAPH.test(character)) return CLASS_IDEOGRAPH;
  if (NUMBER.test(character)) return CLASS_DIGIT;
  return LETTER.test(character) ? CLASS_LETTER : CLASS_SEPARATOR;
}

/** One round of lower(NFKD(lower(text))) without accents; Hangul syllables stay whole. */
function foldOnce(text: string): string {
  let folded = "";
  for (const character of text.toLowerCase()) {
    const special = SPECIAL.get(character);
    if (special !== undefined) folded += special;
    else folded += HANGUL.test(character) ? character : character.normalize("NFKD").toLowerCase();
  }
  let kept = "";
  for (const character of folded) {
    const kind = classOf(character);
    if (kind !== CLASS_IGNORED) kept += SPECIAL.get(character) ?? character;
  }
  return kept.replace(/[\u1100-\u11ff]+/gu, (jamo) => jamo.normalize("NFC"));
}

function foldFully(text: string): string {
  for (;;) {
    const folded = foldOnce(text);
    if (folded === text) return text;
    text = folded;
  }
}

/** Returns one character's class and folding. */
function describe(character: string): { kind: number; folding: string } {
  const kind = classOf(character);
  if (kind === CLASS_IGNORED) return { kind, folding: character };
  if (kind === CLASS_APOSTROPHE) return { kind, folding: "'" };
  if (kind === CLASS_VOICING) return { kind, folding: character.normalize("NFKD") };
  if (WHITE_SPACE.test(character)) return { kind, folding: " " };
  const folding = foldFully(character);
  if (kind === CLASS_SEPARATOR) return { kind, folding: /^$| /.test(folding) ? character : folding };
  const word = [...folding].filter((part) => {
    const inner = classOf(part);
    return inner !== CLASS_SEPARATOR && inner !== CLASS_APOSTROPHE;
  });
  if (word.length === 0) return { kind: CLASS_SEPARATOR, folding: character };
  return { kind, folding: word.join("") };
}

/** The foldings' bytes. Each distinct folding is stored once. */
class FoldingPool {
  readonly #places = new Map<string, number>();
  readonly #parts: Buffer[] = [];
  bytes = 0;

  place(folding: string): number {
    const known = this.#places.get(folding);
    if (known !== undefined) return known;
    const place = this.bytes;
    const bytes = Buffer.from(folding, "utf8");
    this.#places.set(folding, place);
    this.#parts.push(bytes);
    this.bytes += bytes.length;
    return place;
  }

  toBuffer(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

function generate(): Buffer {
  const pool = new FoldingPool();
  const blocks: Uint32Array[] = [];
  const blockNumbers = new Map<string, number>();
  const stage1 = new Uint16Array(POINTS / BLOCK);
  let growth = 1;
  for (let first = 0; first < POINTS; first += BLOCK) {
    const block = new Uint32Array(BLOCK);
    for (let i = 0; i < BLOCK; i++) {
      const point = first + i;
      if (point >= 0xd800 && point < 0xe000) continue;
      const character = String.fromCodePoint(point);
      const { kind, folding } = describe(character);
      block[i] = kind;
      if (folding === character) continue;
      const bytes = Buffer.byteLength(folding);
      if (bytes > 63) throw new Error(`U+${point.toString(16)} folds to ${bytes} bytes, at most 63 fit`);
      if (folding !== " " && folding.includes(" "))
        throw new Error(`U+${point.toString(16)} folds to a space`);
      growth = Math.max(growth, Math.ceil(bytes / Buffer.byteLength(character)));
      block[i] = (pool.place(folding) << FOLD_PLACE_SHIFT) | (bytes << FOLD_LENGTH_SHIFT) | kind;
    }
    const key = block.join();
    let number = blockNumbers.get(key);
    if (number === undefined) {
      number = blocks.length;
      blockNumbers.set(key, number);
      blocks.push(block);
    }
    stage1[first / BLOCK] = number;
  }
  const entriesAt = FOLD_STAGE1_AT + stage1.byteLength;
  const poolAt = entriesAt + blocks.length * BLOCK * 4;
  const table = Buffer.alloc(poolAt + pool.bytes);
  table.writeUInt32LE(FOLD_MAGIC, FOLD_MAGIC_AT);
  table.writeUInt32LE(FOLD_VERSION, FOLD_VERSION_AT);
  table.writeUInt32LE(table.length, FOLD_BYTES_AT);
  table.writeUInt32LE(entriesAt, FOLD_ENTRIES_AT);
  table.writeUInt32LE(poolAt, FOLD_POOL_AT);
  table.writeUInt32LE(growth, FOLD_GROWTH_AT);
  table.writeUInt32LE(Math.round(Number(process.versions.unicode) * 10), FOLD_UNICODE_AT);
  stage1.forEach((number, i) => {
    table.writeUInt16LE(number, FOLD_STAGE1_AT + i * 2);
  });
  blocks.forEach((block, b) => {
    block.forEach((entry, i) => {
      table.writeUInt32LE(entry >>> 0, entriesAt + (b * BLOCK + i) * 4);
    });
  });
  pool.toBuffer().copy(table, poolAt);
  return table;
}

const target = process.argv[2] ?? "engine-wasm/unicode/fold.bin";
const table = generate();
writeFileSync(target, table);
console.log(`${target}: ${table.length} bytes, Unicode ${process.versions.unicode}`);
