// Finds the rows that have the first word at position 0 of some queried slot; only these rows can get a place
// bonus. Decodes the positions of whole blocks in one pass, which is much faster than reading them row by row
// and pays off if many rows need it. A one-word query needs no further position check.

import { checkDeadline } from "../env";
import { BLOCK_ENTRY_BYTES, BLOCK_POSITIONS, STATUS_DAMAGED } from "../layout";
import { listAt } from "../match/alternative-lists";
import { scratch, scratchZeroed } from "../memory/arena";
import { Bits, bitsNone } from "../memory/bitset";
import { Mem } from "../memory/mem";
import { decodeNorm } from "../memory/norm";
import { NORMS } from "../program/length-tables";
import { alternativeAt, SearchProgram } from "../program/search-program";
import {
  BLOCK_BUFFER_BYTES,
  Cursor,
  cursorBlockFrom,
  cursorBlockOf,
  cursorGoToBlock,
  cursorRestart,
  cursorUseBuffer,
} from "../segment/postings";
import { Field, findField, Seg } from "../segment/segment";
import { fail } from "../status";

const PIECE_SHIFT: u32 = 15; // log2 of the number of rows per piece; `known` has one entry per piece
const LISTS_A_CHECK: u32 = 63; // bit mask: a deadline check every 64 lists

/**
 * False if no position in a block is 0. A zero byte can only be a posting's first position: the others are
 * stored as distances, which are above 0.
 */
function mayHaveStart(cursor: Cursor, block: u32): bool {
  let at = blockStart(cursor, block);
  if (at > cursor.positionsEnd) return true; // the list is damaged, which decoding will report
  const end = blockEnd(cursor, block, at);
  for (; at + 16 <= end; at += 16) if (!i8x16.all_true(Mem.v128At(at))) return true;
  for (; at < end; at++) if (Mem.u8At(at) == 0) return true;
  return false;
}

function blockStart(cursor: Cursor, block: u32): usize {
  if (block >= cursor.blocks) return cursor.tailPositions;
  const entry = cursor.directory + <usize>block * BLOCK_ENTRY_BYTES;
  return cursor.positions + <usize>Mem.u32At(entry + BLOCK_POSITIONS);
}

/**
 * End of the block's positions, which begin at `start`, unless the list is damaged. Never beyond the end of
 * the list.
 */
function blockEnd(cursor: Cursor, block: u32, start: usize): usize {
  if (block >= cursor.blocks) return cursor.positionsEnd;
  if (block + 1 == cursor.blocks) return max(cursor.tailPositions, start);
  const next = Mem.u32At(cursor.directory + <usize>(block + 1) * BLOCK_ENTRY_BYTES + BLOCK_POSITIONS);
  return max(start, cursor.positions + min(<usize>next, cursor.positionsEnd - cursor.positions));
}

/** The current segment's rows with a field that begins with the first word. Allocated in scratch memory. */
@unmanaged
export class Starts {
  program: SearchProgram;
  segment: usize;
  rows: u32;
  known: usize; // u8 by piece: 1 = `find` has covered its rows; address 0 = it has covered no piece
  starts: usize; // bitset: rows with a slot in which the first word is at position 0
  // Bitset: rows of `starts` in which that slot has exactly as many tokens as the query has words.
  wholes: usize;
  norms: usize; // norm bytes of the current list's slot
  normOfWords: u32; // norm byte of the length that equals the query's word count; NORMS = there is none
  buffer: usize;

  static make(program: SearchProgram): Starts {
    const made = changetype<Starts>(scratchZeroed(offsetof<Starts>()));
    made.program = program;
    while (made.normOfWords < NORMS && decodeNorm(made.normOfWords) < program.wordCount) made.normOfWords++;
    if (decodeNorm(made.normOfWords) != program.wordCount) made.normOfWords = NORMS;
    return made;
  }

  /** Starts a new segment. The words' lists must be open. */
  beginSegment(used: usize): void {
    this.segment = used;
    this.rows = Seg.rows(used);
    this.known = 0;
  }

  /** False if the row certainly has no slot in which the first word is at position 0. */
  mayStart(row: u32): bool {
    return !this.isKnown(row) || Bits.has(this.starts, row);
  }

  /**
   * False if the row certainly has no slot in which the first word is at position 0 and which has as many
   * tokens as the query has words.
   */
  mayBeWhole(row: u32): bool {
    return !this.isKnown(row) || Bits.has(this.wholes, row);
  }

  /** True if `find` has covered the row's piece. */
  isKnown(row: u32): bool {
    return this.known != 0 && Mem.u8At(this.known + <usize>(row >> PIECE_SHIFT)) != 0;
  }

  /** True if all rows of [from, to) are known. */
  areKnown(from: u32, to: u32): bool {
    for (let row = from; row < to; row += 1 << PIECE_SHIFT) if (!this.isKnown(row)) return false;
    return to == from || this.isKnown(to - 1);
  }

  /** True if a norm byte represents a length equal to the query's word count. */
  lengthIsWords(norm: u32): bool {
    return norm == this.normOfWords;
  }

  /** Rows of one bitset word with the first word at position 0. The rows must be known. */
  among(word: u32): u64 {
    return this.known == 0 ? 0 : Bits.word(this.starts, word);
  }

  /** Approximate number of postings that `find` would read. */
  postings(first: u32, end: u32): u64 {
    const word = this.program.wordAt(0);
    let postings: u64 = 0;
    for (let i: u32 = 0; i < word.alternativeCount; i++) {
      const alternative = alternativeAt(word, i);
      if (alternative.near == 0) continue;
      for (let list: u32 = 0; list < alternative.listCount; list++)
        postings += listAt(alternative.lists, list).count;
    }
    return (postings * (end - first)) / this.rows;
  }

  /** Fills in `starts` and `wholes` for all rows in the pieces that overlap [first, end). */
  find(first: u32, end: u32): void {
    const from = (first >> PIECE_SHIFT) << PIECE_SHIFT;
    const to = min(this.rows, (((end - 1) >> PIECE_SHIFT) + 1) << PIECE_SHIFT);
    if (this.buffer == 0) this.buffer = scratch(BLOCK_BUFFER_BYTES);
    if (this.known == 0) {
      this.known = scratchZeroed(<usize>(this.rows >> PIECE_SHIFT) + 1);
      this.starts = bitsNone(this.rows);
      this.wholes = bitsNone(this.rows);
    }
    const word = this.program.wordAt(0);
    let lists: u32 = 0;
    for (let i: u32 = 0; i < word.alternativeCount; i++) {
      const alternative = alternativeAt(word, i);
      if (alternative.near == 0) continue;
      for (let list: u32 = 0; list < alternative.listCount; list++) {
        if ((++lists & LISTS_A_CHECK) == 0) checkDeadline();
        this.findIn(listAt(alternative.lists, list), from, to);
      }
    }
    for (let piece = from >> PIECE_SHIFT; piece << PIECE_SHIFT < to; piece++)
      Mem.putU8(this.known + <usize>piece, 1);
  }

  private findIn(cursor: Cursor, from: u32, to: u32): void {
    const field = findField(this.segment, cursor.slot);
    this.norms = field == 0 ? 0 : Field.norms(this.segment, field);
    if (this.norms == 0) {
      fail(STATUS_DAMAGED);
      return;
    }
    cursorRestart(cursor);
    cursorUseBuffer(cursor, this.buffer);
    for (
      let block = cursorBlockOf(cursor, from);
      block <= cursor.blocks && cursorBlockFrom(cursor, block) < to;
      block++
    ) {
      if (!mayHaveStart(cursor, block)) continue;
      if (!cursorGoToBlock(cursor, block)) return;
      this.findInBlock(cursor);
    }
  }

  /**
   * Reads all postings in the current block, including those outside the range: the result is also valid for
   * them. A zero byte is position 0. Its posting is found by counting: the number of positions that end
   * before that byte equals the number of positions in earlier postings.
   */
  private findInBlock(cursor: Cursor): void {
    const held = cursor.held;
    let at = cursor.positionAt;
    const end = blockEnd(cursor, cursor.block, at);
    if (end - at == <usize>held) return this.findSingles(cursor, at);
    let ended: u32 = 0; // number of positions that end before the current bytes
    let i: u32 = 0;
    let before: u32 = 0; // number of positions in the postings before posting i
    for (; at < end; at += 16) {
      let finals: u32 = 0;
      let zeros: u32 = 0;
      if (at + 16 <= end) {
        const bytes = Mem.v128At(at);
        finals = ~i8x16.bitmask(bytes) & 0xffff;
        zeros = i8x16.bitmask(i8x16.eq(bytes, i8x16.splat(0)));
      } else {
        for (let byte: usize = 0; at + byte < end; byte++) {
          finals |= (Mem.u8At(at + byte) < 0x80 ? 1 : 0) << (<u32>byte);
          zeros |= (Mem.u8At(at + byte) == 0 ? 1 : 0) << (<u32>byte);
        }
      }
      for (; zeros != 0; zeros &= zeros - 1) {
        const position = ended + popcnt(finals & ((zeros & -zeros) - 1));
        while (i < held && before < position) before += cursor.tfAt(i++);
        if (i == held) return;
        if (before == position) this.add(cursor.rowAt(i));
      }
      ended += popcnt(finals);
    }
  }

  /**
   * Like `findInBlock`, for postings with one position each, each stored in one byte: there are as many bytes
   * as postings.
   */
  private findSingles(cursor: Cursor, at: usize): void {
    const held = cursor.held;
    let i: u32 = 0;
    for (; i + 16 <= held; i += 16) {
      let zeros = i8x16.bitmask(i8x16.eq(Mem.v128At(at + <usize>i), i8x16.splat(0)));
      for (; zeros != 0; zeros &= zeros - 1) this.add(cursor.rowAt(i + <u32>ctz(zeros)));
    }
    for (; i < held; i++) if (Mem.u8At(at + <usize>i) == 0) this.add(cursor.rowAt(i));
  }

  private add(row: u32): void {
    Bits.add(this.starts, row);
    if (this.lengthIsWords(Mem.u8At(this.norms + row))) Bits.add(this.wholes, row);
  }
}
