// Classes and foldings of code points. They come from the frozen table that the host puts into a region in
// this instance, overridden by an index's symbols_to_index and token_separators. ASCII entries are copied
// into flat tables, so that the tokenizer uses the big table only for other characters. The tables are
// globals: an instance uses one set, from setUnicode and setOverrides, for all texts.
import {
  CLASS_DIGIT,
  CLASS_IGNORED,
  CLASS_LETTER,
  CLASS_SEPARATOR,
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
  FOLD_VERSION,
  FOLD_VERSION_AT,
  JOIN_ALL,
  JOIN_NONE,
  JOIN_WORDS,
  OVERRIDE_SEPARATOR,
  STATUS_DAMAGED,
  STATUS_OK,
} from "../layout";
import { Mem } from "../memory/mem";

const FOLD_LEAST_BYTES: u32 = FOLD_STAGE1_AT + 2 * (0x110000 >> FOLD_BLOCK_SHIFT);
const BLOCK_MASK: u32 = (1 << FOLD_BLOCK_SHIFT) - 1;

/** u8[128]: a letter's or digit's folded byte, 0 for every other character. */
export const ASCII_WORD: usize = memory.data(128);
/** u8[128]: each character's class (CLASS_*). */
export const ASCII_CLASS: usize = memory.data(128);
/** u8[128]: the byte that each character is folded to, before overrides. No character is dropped. */
export const ASCII_FOLD: usize = memory.data(128);
/** u8[128]: whether each character joins tokens (JOIN_*). */
export const ASCII_JOIN: usize = memory.data(128);

// The joiners: . _ + & # : - /
const ASCII_JOINERS: usize = memory.data<u8>([0x2e, 0x5f, 0x2b, 0x26, 0x23, 0x3a, 0x2d, 0x2f]);
const ASCII_JOINER_COUNT: u32 = 8;
const ASCII_JOIN_ALL: u32 = 6; // joiners at this index and later join numbers too
const NO_OVERRIDE: u32 = 0xffffffff;

let stage1: usize = 0;
let entries: usize = 0;
let pool: usize = 0;
let growth: u32 = 1;
let overrides: usize = 0;
let overrideCount: u32 = 0;
let wideOverrides: u32 = 0; // number of overrides for characters beyond ASCII

/**
 * Sets the Unicode table, which must stay in place, and removes all overrides. Returns -STATUS_DAMAGED if the
 * bytes at `table` are not a table of this version.
 */
export function setUnicode(table: usize): i32 {
  if (Mem.u32At(table + FOLD_MAGIC_AT) != FOLD_MAGIC) return -STATUS_DAMAGED;
  if (Mem.u32At(table + FOLD_VERSION_AT) != FOLD_VERSION) return -STATUS_DAMAGED;
  if (Mem.u32At(table + FOLD_BYTES_AT) < FOLD_LEAST_BYTES) return -STATUS_DAMAGED;
  stage1 = table + FOLD_STAGE1_AT;
  entries = table + Mem.u32At(table + FOLD_ENTRIES_AT);
  pool = table + Mem.u32At(table + FOLD_POOL_AT);
  growth = Mem.u32At(table + FOLD_GROWTH_AT);
  return setOverrides(0, 0);
}

/**
 * Sets `count` overrides at `list` (see OVERRIDE_SEPARATOR), which must stay in place. Symbols become letters
 * that fold to themselves; separators take precedence over everything else.
 */
export function setOverrides(list: usize, count: u32): i32 {
  overrides = list;
  overrideCount = count;
  wideOverrides = 0;
  for (let i: u32 = 0; i < count; i++) {
    if ((Mem.u32At(list + ((<usize>i) << 2)) & ~OVERRIDE_SEPARATOR) >= 0x80) wideOverrides++;
  }
  for (let c: u32 = 0; c < 128; c++) {
    const entry = overridden(c, tableEntry(c));
    const kind = entryClass(entry);
    Mem.putU8(ASCII_CLASS + c, kind);
    Mem.putU8(ASCII_WORD + c, isWordClass(kind) ? asciiFolding(c, entry) : 0);
    Mem.putU8(ASCII_FOLD + c, asciiFolding(c, tableEntry(c)));
    Mem.putU8(ASCII_JOIN + c, JOIN_NONE);
  }
  for (let i: u32 = 0; i < ASCII_JOINER_COUNT; i++) {
    const c = Mem.u8At(ASCII_JOINERS + i);
    if (overrideOf(c) == NO_OVERRIDE) Mem.putU8(ASCII_JOIN + c, i < ASCII_JOIN_ALL ? JOIN_WORDS : JOIN_ALL);
  }
  return STATUS_OK;
}

/** How a code point above ASCII joins tokens (JOIN_*). Hyphens, dashes and the minus sign are joiners. */
export function wideJoin(point: u32): u32 {
  if ((point < 0x2010 || point > 0x2013) && point != 0x2212) return JOIN_NONE;
  return overrideOf(point) == NO_OVERRIDE ? JOIN_ALL : JOIN_NONE;
}

function asciiFolding(c: u32, entry: u32): u32 {
  return entryBytes(entry) == 0 ? c : Mem.u8At(entryPlace(entry));
}

/** Upper bound on the folded size in bytes of a text that has `bytes` bytes. */
export function foldBound(bytes: usize): usize {
  return bytes * growth;
}

/** Table entry for a code point (0..0x10ffff), overrides included. */
export function unicodeEntry(point: u32): u32 {
  const entry = tableEntry(point);
  return wideOverrides == 0 ? entry : overridden(point, entry);
}

/** An entry's class (CLASS_*). */
export function entryClass(entry: u32): u32 {
  return entry & 7;
}

/** Number of bytes in the folding, 0 if the code point folds to itself. */
export function entryBytes(entry: u32): u32 {
  return (entry >> FOLD_LENGTH_SHIFT) & 63;
}

/** Address of the folding's UTF-8 bytes. */
export function entryPlace(entry: u32): usize {
  return pool + (entry >> FOLD_PLACE_SHIFT);
}

/** Table entry for a code point, ignoring overrides. */
export function tableEntry(point: u32): u32 {
  const block: u32 = Mem.u16At(stage1 + ((<usize>(point >> FOLD_BLOCK_SHIFT)) << 1));
  return Mem.u32At(entries + ((<usize>((block << FOLD_BLOCK_SHIFT) | (point & BLOCK_MASK))) << 2));
}

function overridden(point: u32, entry: u32): u32 {
  const change = overrideOf(point);
  if (change == NO_OVERRIDE) return entry;
  if ((change & OVERRIDE_SEPARATOR) == 0) return CLASS_LETTER;
  if (entryClass(entry) == CLASS_IGNORED) return CLASS_SEPARATOR;
  return (entry & ~7) | CLASS_SEPARATOR;
}

/** A code point's override, or NO_OVERRIDE. */
function overrideOf(point: u32): u32 {
  let low: u32 = 0;
  let high = overrideCount;
  while (low < high) {
    const middle = (low + high) >> 1;
    const change = Mem.u32At(overrides + ((<usize>middle) << 2));
    const at = change & ~OVERRIDE_SEPARATOR;
    if (at == point) return change;
    if (at < point) low = middle + 1;
    else high = middle;
  }
  return NO_OVERRIDE;
}

/** True for letters and digits, which form words. */
export function isWordClass(kind: u32): bool {
  return kind == CLASS_LETTER || kind == CLASS_DIGIT;
}
