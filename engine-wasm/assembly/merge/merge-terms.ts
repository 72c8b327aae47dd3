// The merge phase for the term dictionary. Walks the inputs' sorted terms in parallel and merges each term's
// lists by slot. It can pause after any block of postings.

import { FIELD_NORMS, SEG_LISTS, SEG_TERM_OFFSETS, STATUS_DAMAGED } from "../layout";
import { reserve } from "../memory/arena";
import { Mem } from "../memory/mem";
import { compareBytes, prefixKey } from "../memory/order";
import { findField, Seg } from "../segment/segment";
import { fail, failed } from "../status";
import { listBegin, listDataMax, listEnd } from "../write/posting-writer";
import { sinkSection } from "../write/segment-sink";
import { termAdd, termBufferBytes, termsBegin, termsEnd } from "../write/term-writer";
import {
  hasPostings,
  nextSlot,
  openedPositionBytes,
  openedPostings,
  openList,
  POSITION_SLACK,
  takePostings,
} from "./merge-postings";
import { drop, inputAt, Merge, MergeInput } from "./merge-state";

const LIST_BYTES_FIRST: usize = 0x10000;
const NO_SLOT: u32 = 0xffffffff;

/** If an input has terms left, reads the sort key of its current term. */
function loadTerm(input: MergeInput): void {
  if (input.cursor == input.count) return;
  input.key = prefixKey(Seg.termAt(input.segment, input.cursor), Seg.termLength(input.segment, input.cursor));
}

export function termsPhaseBegin(m: Merge): void {
  const lists = sinkSection(m.sink, 0);
  Mem.putU32(m.sink.base + SEG_LISTS, lists);
  let terms: u32 = 0;
  let bytes: u32 = 0;
  for (let i: u32 = 0; i < m.inputCount; i++) {
    const input = inputAt(m, i);
    input.cursor = 0;
    input.count = Seg.terms(input.segment);
    terms += input.count;
    bytes += Mem.u32At(Seg.at(input.segment, SEG_TERM_OFFSETS) + ((<usize>input.count) << 2));
    loadTerm(input);
  }
  m.termRegion = reserve(termBufferBytes(terms, bytes));
  termsBegin(m.terms, m.termRegion, terms, bytes);
  m.listRegion = reserve(LIST_BYTES_FIRST);
  m.listCapacity = <u32>LIST_BYTES_FIRST;
  m.termOpen = 0;
  m.listOpen = 0;
}

function compareTerms(a: MergeInput, b: MergeInput): i32 {
  if (a.key != b.key) return a.key < b.key ? -1 : 1;
  return compareBytes(
    Seg.termAt(a.segment, a.cursor),
    Seg.termLength(a.segment, a.cursor),
    Seg.termAt(b.segment, b.cursor),
    Seg.termLength(b.segment, b.cursor),
  );
}

/** Opens the smallest term of all inputs. Returns false if there are no terms left. */
function openTerm(m: Merge): bool {
  let least = changetype<MergeInput>(0);
  for (let i: u32 = 0; i < m.inputCount; i++) {
    const input = inputAt(m, i);
    input.taking = 0;
    if (input.cursor == input.count) continue;
    const order = changetype<usize>(least) == 0 ? -1 : compareTerms(input, least);
    if (order > 0) continue;
    if (order < 0) {
      for (let j: u32 = 0; j < i; j++) inputAt(m, j).taking = 0;
      least = input;
    }
    input.taking = 1;
    input.lists = Seg.listsAt(input.segment, input.cursor);
    input.listsEnd = Seg.listsAt(input.segment, input.cursor + 1);
  }
  if (changetype<usize>(least) == 0) return false;
  m.term = Seg.termAt(least.segment, least.cursor);
  m.termLength = Seg.termLength(least.segment, least.cursor);
  m.termLists = m.sink.at;
  m.termOpen = 1;
  return true;
}

function closeTerm(m: Merge): void {
  const lists = Mem.u32At(m.sink.base + SEG_LISTS);
  if (m.sink.at > m.termLists) termAdd(m.terms, m.term, m.termLength, m.termLists - lists);
  for (let i: u32 = 0; i < m.inputCount; i++) {
    const input = inputAt(m, i);
    if (input.taking == 0) continue;
    input.cursor++;
    loadTerm(input);
  }
  m.termOpen = 0;
}

/** Opens the term's lists in the next slot. Returns false if there are no lists left or one is damaged. */
function openLists(m: Merge): bool {
  let slot: u32 = NO_SLOT;
  for (let i: u32 = 0; i < m.inputCount; i++) {
    const input = inputAt(m, i);
    if (input.taking != 0 && input.lists < input.listsEnd) slot = min(slot, nextSlot(input));
  }
  if (slot == NO_SLOT) return false;
  const field = findField(m.sink.base, slot);
  if (field == 0 || Mem.u32At(field + FIELD_NORMS) == 0) return fail(STATUS_DAMAGED);
  let postings: u32 = 0;
  let positionBytes: u32 = 0;
  for (let i: u32 = 0; i < m.inputCount; i++) {
    const input = inputAt(m, i);
    input.open = 0;
    if (input.taking == 0 || input.lists >= input.listsEnd || nextSlot(input) != slot) continue;
    if (!openList(input, slot, m.decoded)) return false;
    postings += openedPostings(input);
    positionBytes += openedPositionBytes(input);
  }
  const bytes = listDataMax(postings) + positionBytes + POSITION_SLACK;
  if (bytes > <usize>m.listCapacity) {
    m.listRegion = drop(m.listRegion);
    m.listRegion = reserve(bytes);
    m.listCapacity = <u32>bytes;
  }
  listBegin(m.list, m.listRegion, postings, m.sink.base + Mem.u32At(field + FIELD_NORMS));
  m.slot = slot;
  m.input = 0;
  m.listOpen = 1;
  return true;
}

/** Moves one block of postings, and closes the list after the last one. */
function moveBlock(m: Merge): void {
  while (m.input < m.inputCount && !hasPostings(inputAt(m, m.input))) m.input++;
  if (m.input < m.inputCount) {
    takePostings(inputAt(m, m.input), m.list);
    return;
  }
  listEnd(m.list, m.slot, m.sink);
  m.listOpen = 0;
}

/**
 * Merges terms until the work units are used up or a list is damaged. Returns true when all terms are
 * written.
 */
export function termsSlice(m: Merge): bool {
  while (m.units > 0 && !failed()) {
    if (m.listOpen != 0) {
      moveBlock(m);
      m.units--;
    } else if (m.termOpen != 0) {
      if (!openLists(m)) closeTerm(m);
    } else if (!openTerm(m)) {
      termsEnd(m.terms, m.sink.at - Mem.u32At(m.sink.base + SEG_LISTS), m.sink);
      return true;
    }
  }
  return false;
}
