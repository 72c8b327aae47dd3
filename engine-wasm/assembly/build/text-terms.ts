// Records a text's terms in a segment being built: its tokens, the joined tokens, and the marker terms
// (TERM_* in layout.ts) that its field requires. The marker terms are stems and the whole value, either
// joined into one word or with its spaces.

import { stemTerm } from "../env";
import {
  FLAG_BRAND,
  FLAG_SKU,
  TERM_BYTES_MAX,
  TERM_LANGUAGE,
  TERM_SKU,
  TERM_STEM,
  TERM_VALUE,
} from "../layout";
import { scratch } from "../memory/arena";
import { Mem } from "../memory/mem";
import { hasDigit } from "../text/digits";
import { JoinedTokens } from "../text/join";
import { Tokenizer } from "../text/tokenize";
import { Column } from "./build-schema";
import { KeyTable, tableEnter } from "./key-table";
import { entryOccurs, TERM_STEMMED, termOccurs } from "./term-table";

const SPACE: u32 = 0x20;
const NO_STEM: u32 = 1; // value of TERM_STEMMED for a term known to have no stem; 0 = not looked up yet
const STEM_HEAD: u32 = 2;
const TOO_LONG: u32 = TERM_BYTES_MAX + 1;

const TERM_ROOM: usize = 128;

/** Records text terms in a build's term table. Allocated in scratch memory. */
@unmanaged
export class TextTerms {
  terms: KeyTable;
  tokens: Tokenizer;
  joined: JoinedTokens;
  stem: usize; // buffer for building a TERM_STEM term
  sku: usize; // buffers for building the TERM_SKU and the TERM_VALUE term
  value: usize;
  // Current length in bytes of each of these two terms, or TOO_LONG if it does not fit.
  skuBytes: u32;
  valueBytes: u32;

  static make(terms: KeyTable): TextTerms {
    const made = changetype<TextTerms>(scratch(offsetof<TextTerms>()));
    made.terms = terms;
    made.tokens = Tokenizer.make();
    made.joined = JoinedTokens.make(made.tokens);
    made.stem = scratch(TERM_ROOM);
    made.sku = scratch(TERM_ROOM);
    made.value = scratch(TERM_ROOM);
    return made;
  }

  /**
   * Records a text's terms. Its first token has position `first`. Returns the position after the last token.
   */
  index(column: Column, field: u32, row: u32, at: usize, bytes: u32, first: u32): u32 {
    const terms = this.terms;
    const tokens = this.tokens;
    const joined = this.joined;
    const language = column.language;
    const whole = (column.flags & (FLAG_SKU | FLAG_BRAND)) != 0;
    let position = first;
    if (whole) this.beginWhole();
    tokens.begin(at, bytes);
    while (tokens.next()) {
      const entry = termOccurs(terms, tokens.at, tokens.bytes, field, row, position);
      if (language != 0) this.stemOccurs(entry, language, field, row, position);
      if (whole) this.extendWhole();
      if (joined.endsHere()) {
        termOccurs(terms, joined.at, joined.bytes, field, row, position + 1 - joined.parts);
      }
      position++;
    }
    if (whole && position > first) this.wholeOccurs(column.flags, field, row, first);
    return position;
  }

  /** Records the current token's stem. `entry` is the token's table entry. */
  private stemOccurs(entry: usize, language: u32, field: u32, row: u32, position: u32): void {
    let stemmed = Mem.u32At(entry + TERM_STEMMED);
    if (stemmed == 0) {
      stemmed = this.stemEntry(language, field);
      Mem.putU32(entry + TERM_STEMMED, stemmed);
    }
    if (stemmed != NO_STEM) entryOccurs(this.terms, stemmed, row, position);
  }

  /** Entry of the current token's stem, or NO_STEM if the token has a digit or its stem is too long. */
  private stemEntry(language: u32, field: u32): u32 {
    const tokens = this.tokens;
    const stem = this.stem;
    if (hasDigit(tokens.at, tokens.bytes)) return NO_STEM;
    const most = <u32>TERM_BYTES_MAX - STEM_HEAD;
    const bytes = stemTerm(language, tokens.at, tokens.bytes, stem + STEM_HEAD, most);
    if (bytes == 0) return NO_STEM;
    Mem.putU8(stem, TERM_STEM);
    Mem.putU8(stem + 1, TERM_LANGUAGE + language);
    return <u32>tableEnter(this.terms, stem, STEM_HEAD + bytes, field);
  }

  private beginWhole(): void {
    Mem.putU8(this.sku, TERM_SKU);
    Mem.putU8(this.value, TERM_VALUE);
    this.skuBytes = 1;
    this.valueBytes = 1;
  }

  /** Appends the current token to both whole-value terms. */
  private extendWhole(): void {
    this.skuBytes = this.extended(this.sku, this.skuBytes);
    if (this.valueBytes > 1 && this.valueBytes < <u32>TERM_BYTES_MAX)
      Mem.putU8(this.value + this.valueBytes++, SPACE);
    this.valueBytes = this.extended(this.value, this.valueBytes);
  }

  /** Appends the current token to a term of `bytes` bytes at `at`. Returns the new length, or TOO_LONG. */
  private extended(at: usize, bytes: u32): u32 {
    const tokens = this.tokens;
    if (bytes + tokens.bytes > <u32>TERM_BYTES_MAX) return TOO_LONG;
    Mem.copy(at + bytes, tokens.at, tokens.bytes);
    return bytes + tokens.bytes;
  }

  private wholeOccurs(flags: u32, field: u32, row: u32, position: u32): void {
    if ((flags & FLAG_SKU) != 0 && this.skuBytes != TOO_LONG)
      termOccurs(this.terms, this.sku, this.skuBytes, field, row, position);
    if ((flags & FLAG_BRAND) != 0 && this.valueBytes != TOO_LONG) {
      termOccurs(this.terms, this.value, this.valueBytes, field, row, position);
    }
  }
}
