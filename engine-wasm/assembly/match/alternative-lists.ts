// Opens an alternative's posting lists in one segment, as consecutive cursors in scratch memory, in scoring
// order.

import { checkDeadline } from "../env";
import { scratch, scratchRewind } from "../memory/arena";
import { Mem } from "../memory/mem";
import { termAt } from "../program/program-terms";
import { Alternative, alternativeAt, SearchProgram, Word } from "../program/search-program";
import { NOT_QUERIED } from "../program/slots";
import { CURSOR_BYTES, Cursor, listOpen } from "../segment/postings";
import { Seg } from "../segment/segment";
import { failed } from "../status";

const TERMS_A_CHECK: u32 = 255; // bit mask: a deadline check every 256 terms

/** The i-th cursor in a table of cursors (alternative lists or near lists). */
export function listAt(lists: usize, i: u32): Cursor {
  return changetype<Cursor>(lists + <usize>i * CURSOR_BYTES);
}

/** Total number of postings in a word's open lists, counting only lists with fewer than `large` postings. */
export function postingsOfSmall(word: Word, large: u32): u32 {
  let postings: u32 = 0;
  for (let i: u32 = 0; i < word.alternativeCount; i++) {
    const alternative = alternativeAt(word, i);
    for (let j: u32 = 0; j < alternative.listCount; j++) {
      const count = listAt(alternative.lists, j).count;
      if (count < large) postings += count;
    }
  }
  return postings;
}

/** Opens an alternative's lists, ordered by program term, dictionary term and slot. */
export function openLists(segment: usize, program: SearchProgram, alternative: Alternative): void {
  alternative.lists = scratch(0);
  alternative.listCount = 0;
  for (let i: u32 = 0; i < alternative.termCount; i++) {
    const term = termAt(alternative.terms, i);
    term.findIn(segment);
    for (let found = term.first; found < term.end && !failed(); found++) {
      if ((found & TERMS_A_CHECK) == 0) checkDeadline();
      openTerm(segment, program, alternative, found);
    }
  }
}

/** Opens a term's lists in slot order. If a slot has two lists, the later list is used. */
function openTerm(segment: usize, program: SearchProgram, alternative: Alternative, term: u32): void {
  const rows = Seg.rows(segment);
  const end = Seg.listsAt(segment, term + 1);
  const before = alternative.listCount;
  let at = Seg.listsAt(segment, term);
  while (at < end) {
    const cursor = changetype<Cursor>(scratch(CURSOR_BYTES));
    at = listOpen(cursor, at, end, rows);
    cursor.slotIndex = at == 0 ? NOT_QUERIED : program.slots.indexOf(cursor.slot);
    cursor.term = term;
    const taken = cursor.slotIndex != NOT_QUERIED && program.takes(alternative, cursor.slotIndex);
    if (!taken || !placeList(alternative, before, cursor)) {
      scratchRewind(changetype<usize>(cursor));
    }
    if (at == 0) return;
  }
}

/**
 * Moves the cursor from the end of the alternative's lists to its position in slot order. Returns false if it
 * was copied over the cursor of an earlier list in the same slot; the caller then frees its space.
 */
function placeList(alternative: Alternative, first: u32, cursor: Cursor): bool {
  let to = alternative.listCount;
  while (to > first && listAt(alternative.lists, to - 1).slotIndex > cursor.slotIndex) to--;
  const isNew = to == first || listAt(alternative.lists, to - 1).slotIndex != cursor.slotIndex;
  if (isNew && to == alternative.listCount++) return true;
  const held = scratch(CURSOR_BYTES);
  Mem.copy(held, changetype<usize>(cursor), CURSOR_BYTES);
  if (isNew) {
    const moved = changetype<usize>(listAt(alternative.lists, to));
    Mem.copy(moved + CURSOR_BYTES, moved, changetype<usize>(cursor) - moved);
    Mem.copy(moved, held, CURSOR_BYTES);
  } else {
    Mem.copy(changetype<usize>(listAt(alternative.lists, to - 1)), held, CURSOR_BYTES);
  }
  scratchRewind(held);
  return isNew;
}
