// Computes an upper bound on what a posting list can add to a row's score.

import { BLOCK_ENTRY_BYTES, BLOCK_MAX_TF, BLOCK_MIN_NORM } from "../../layout";
import { scratch, scratchZeroed } from "../../memory/arena";
import { Mem } from "../../memory/mem";
import { SearchProgram } from "../../program/search-program";
import {
  BLOCK_BUFFER_BYTES,
  Cursor,
  cursorGoToBlock,
  cursorRestart,
  cursorUseBuffer,
} from "../../segment/postings";
import { WordScores } from "../score-words";

export const TF_UNKNOWN: u32 = 255; // value of BLOCK_MAX_TF that stands for any frequency from this one up
const TF_MOST: f64 = 16777216;

/** Computes bounds on the current segment's lists. Moves the lists' cursors. Allocated in scratch memory. */
@unmanaged
export class ListBounds {
  program: SearchProgram;
  words: WordScores;
  buffer: usize;

  static make(program: SearchProgram, words: WordScores): ListBounds {
    const made = changetype<ListBounds>(scratchZeroed(offsetof<ListBounds>()));
    made.program = program;
    made.words = words;
    return made;
  }

  /** Upper bound on what a list adds to any row's sum. */
  mostOf(cursor: Cursor): f64 {
    const occurrences = this.program.slotOccurrences(cursor.slotIndex);
    let most: f64 = 0;
    for (let block: u32 = 0; block < cursor.blocks; block++) {
      const entry = cursor.directory + <usize>block * BLOCK_ENTRY_BYTES;
      const tf = Mem.u8At(entry + BLOCK_MAX_TF);
      const norm = <usize>Mem.u8At(entry + BLOCK_MIN_NORM);
      most = max(most, (tf >= TF_UNKNOWN ? TF_MOST : <f64>tf) * Mem.f64At(occurrences + (norm << 3)));
    }
    const norms = this.words.normsOf(cursor.slotIndex);
    if (norms == 0 || !this.goToBlock(cursor, cursor.blocks)) return most;
    for (let i: u32 = 0; i < cursor.held; i++) {
      const norm = <usize>Mem.u8At(norms + cursor.rowAt(i));
      most = max(most, <f64>cursor.tfAt(i) * Mem.f64At(occurrences + (norm << 3)));
    }
    return most;
  }

  goToBlock(cursor: Cursor, block: u32): bool {
    if (this.buffer == 0) this.buffer = scratch(BLOCK_BUFFER_BYTES);
    cursorRestart(cursor);
    cursorUseBuffer(cursor, this.buffer);
    return cursorGoToBlock(cursor, block);
  }
}
