// Turns UTF-8 text into folded tokens. It is the only analyser, so documents and queries are treated in the
// same way. The tokenizer is a resumable iterator that also contains its current token, so a token costs no
// allocation:
//
//   tokens.begin(text, bytes);
//   while (tokens.next()) { tokens.at, tokens.bytes, tokens.start, tokens.end, tokens.isIdeograph, tokens.joinerBehind() }
//
// The caller assigns positions (0, 1, 2 ...). Malformed bytes count as separators.
import {
  CLASS_APOSTROPHE,
  CLASS_IDEOGRAPH,
  CLASS_IGNORED,
  CLASS_SEPARATOR,
  CLASS_VOICING,
  JOIN_NONE,
  TERM_BYTES_MAX,
} from "../layout";
import { scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { pointAt, pointBytes } from "../memory/utf8";
import {
  ASCII_CLASS,
  ASCII_FOLD,
  ASCII_JOIN,
  ASCII_WORD,
  entryBytes,
  entryClass,
  entryPlace,
  isWordClass,
  tableEntry,
  unicodeEntry,
  wideJoin,
} from "./unicode";

const SPACE: u32 = 0x20;
const TOKEN_ROOM: usize = 256;

function tokenBegins(p: usize, end: usize): bool {
  if (p >= end) return false;
  const c = Mem.u8At(p);
  if (c < 0x80) return Mem.u8At(ASCII_WORD + c) != 0;
  const kind = entryClass(wideEntry(p, end));
  return isWordClass(kind) || kind == CLASS_IDEOGRAPH;
}

/** Table entry for the non-ASCII code point at p. Sets `pointBytes`. */
function wideEntry(p: usize, end: usize): u32 {
  const point = pointAt(p, end);
  return point < 0 ? CLASS_SEPARATOR : unicodeEntry(point);
}

/** True if the first character at or after p that is not ignored is a letter or digit. */
function wordFollows(p: usize, end: usize): bool {
  while (p < end) {
    const c = Mem.u8At(p);
    if (c < 0x80) return Mem.u8At(ASCII_WORD + c) != 0;
    const kind = entryClass(wideEntry(p, end));
    if (kind != CLASS_IGNORED && kind != CLASS_VOICING) return isWordClass(kind);
    p += pointBytes;
  }
  return false;
}

function copyShort(to: usize, from: usize, bytes: u32): void {
  for (let i: u32 = 0; i < bytes; i++) Mem.putU8(to + i, Mem.u8At(from + i));
}

/** Iterates over the tokens of one text at a time. In scratch, followed by space for the token. */
@unmanaged
export class Tokenizer {
  /** The folded token's length in bytes, 1..TERM_BYTES_MAX. */
  bytes: u32;
  /** The token's start and end in the text, in bytes. */
  start: u32;
  end: u32;
  isIdeograph: bool;

  private text: usize;
  private textEnd: usize;
  private cursor: usize;
  // Maximum token length in bytes; lowered to the token's current length once a character does not fit.
  private room: u32;

  static make(): Tokenizer {
    return changetype<Tokenizer>(scratchZeroed(offsetof<Tokenizer>() + TOKEN_ROOM));
  }

  /** Address of the folded token. Its bytes stay valid until the next `next`. */
  @inline get at(): usize {
    return changetype<usize>(this) + offsetof<Tokenizer>();
  }

  /** Starts a text, which must stay in place while its tokens are read. */
  begin(at: usize, bytes: usize): void {
    this.text = at;
    this.textEnd = at + bytes;
    this.cursor = at;
  }

  /** Moves to the next token. Returns false at the end of the text. */
  next(): bool {
    const end = this.textEnd;
    let p = this.cursor;
    this.bytes = 0;
    this.room = TERM_BYTES_MAX;
    while (p < end) {
      const c = Mem.u8At(p);
      if (c < 0x80) {
        if (Mem.u8At(ASCII_WORD + c) != 0) {
          this.word(p, end);
          return true;
        }
        p++;
        continue;
      }
      const entry = wideEntry(p, end);
      const kind = entryClass(entry);
      if (isWordClass(kind)) {
        this.word(p, end);
        return true;
      }
      if (kind == CLASS_IDEOGRAPH) {
        this.ideograph(p, end, entry);
        return true;
      }
      p += pointBytes;
    }
    this.cursor = end;
    return false;
  }

  /**
   * How the code point after the token joins it to the next one (JOIN_*); JOIN_NONE if no token begins right
   * after that code point.
   */
  joinerBehind(): u32 {
    const end = this.textEnd;
    let p = this.cursor;
    if (p >= end) return JOIN_NONE;
    const c = Mem.u8At(p);
    let join: u32;
    if (c < 0x80) {
      join = Mem.u8At(ASCII_JOIN + c);
      p++;
    } else {
      const point = pointAt(p, end);
      join = point < 0 ? JOIN_NONE : wideJoin(point);
      p += pointBytes;
    }
    return join != JOIN_NONE && tokenBegins(p, end) ? join : JOIN_NONE;
  }

  /** Reads the word at p. */
  private word(p: usize, end: usize): void {
    const to = this.at;
    let room = this.room;
    this.start = <u32>(p - this.text);
    this.isIdeograph = false;
    let n: u32 = 0;
    while (true) {
      if (p >= end) break;
      const c = Mem.u8At(p);
      let entry: u32 = 0;
      let kind: u32 = 0;
      let bytes: u32 = 1;
      if (c < 0x80) {
        const folded = Mem.u8At(ASCII_WORD + c);
        if (folded != 0) {
          if (n < room) Mem.putU8(to + n++, folded);
          p++;
          continue;
        }
        kind = Mem.u8At(ASCII_CLASS + c);
      } else {
        entry = wideEntry(p, end);
        bytes = pointBytes;
        kind = entryClass(entry);
        if (isWordClass(kind)) {
          n = this.append(n, entry, p, bytes);
          room = this.room;
          p += bytes;
          continue;
        }
      }
      if (kind != CLASS_IGNORED && kind != CLASS_VOICING) {
        if (kind != CLASS_APOSTROPHE || !wordFollows(p + bytes, end)) break;
      }
      p += bytes;
    }
    this.bytes = n;
    this.end = <u32>(p - this.text);
    this.cursor = p;
  }

  /** Reads the ideograph at p with the voicing and ignored marks that follow it. */
  private ideograph(p: usize, end: usize, entry: u32): void {
    this.start = <u32>(p - this.text);
    this.isIdeograph = true;
    let bytes = pointBytes;
    let n = this.append(0, entry, p, bytes);
    p += bytes;
    while (p < end && Mem.u8At(p) >= 0x80) {
      entry = wideEntry(p, end);
      bytes = pointBytes;
      const kind = entryClass(entry);
      if (kind == CLASS_VOICING) n = this.append(n, entry, p, bytes);
      else if (kind != CLASS_IGNORED) break;
      p += bytes;
    }
    this.bytes = n;
    this.end = <u32>(p - this.text);
    this.cursor = p;
  }

  /** Appends the folding of the character at p to a token of n bytes; returns the new length. */
  private append(n: u32, entry: u32, p: usize, bytes: u32): u32 {
    let from = p;
    let count = bytes;
    if (entryBytes(entry) != 0) {
      from = entryPlace(entry);
      count = entryBytes(entry);
    }
    if (n + count > this.room) {
      count = this.room - n;
      // Backs up to the first byte of a code point.
      while (count > 0 && (Mem.u8At(from + count) & 0xc0) == 0x80) count--;
      this.room = n + count;
    }
    copyShort(this.at + n, from, count);
    return n + count;
  }
}

/**
 * Folds a whole value for comparison and sorting: folds each character, drops ignored marks, trims white
 * space and collapses each run of white space to one space. An index's overrides do not apply. `out` needs
 * `foldBound(bytes)` bytes. Returns the number of bytes written.
 */
export function foldValue(at: usize, bytes: usize, out: usize): u32 {
  const end = at + bytes;
  let to = out;
  let gap = false; // whether a space must precede the next character
  for (let p = at; p < end; ) {
    const c = Mem.u8At(p);
    if (c < 0x80) {
      const folded = Mem.u8At(ASCII_FOLD + c);
      p++;
      if (folded == SPACE) {
        gap = to != out;
        continue;
      }
      if (gap) Mem.putU8(to++, SPACE);
      gap = false;
      Mem.putU8(to++, folded);
      continue;
    }
    const point = pointAt(p, end);
    const entry: u32 = point < 0 ? CLASS_SEPARATOR : tableEntry(point);
    const size = pointBytes;
    if (entryClass(entry) != CLASS_IGNORED) {
      let from = p;
      let count = size;
      if (entryBytes(entry) != 0) {
        from = entryPlace(entry);
        count = entryBytes(entry);
      }
      if (count == 1 && Mem.u8At(from) == SPACE) {
        gap = to != out;
      } else {
        if (gap) Mem.putU8(to++, SPACE);
        gap = false;
        copyShort(to, from, count);
        to += count;
      }
    }
    p += size;
  }
  return <u32>(to - out);
}
