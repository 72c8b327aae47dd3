// The expand kernel, which looks up a program's words in a snapshot's dictionaries and counts the live
// documents that contain them. docs/FORMATS.md shows the layout of the program and the result.

import { branchesOf } from "../columns/summaries";
import { checkDeadline } from "../env";
import {
  INFIX_TERMS_LISTED,
  PREFIX_TERMS_LISTED,
  WORD_EXACT,
  WORD_INFIX,
  WORD_INSIDE,
  WORD_PREFIX,
  WORD_TYPO_PREFIX,
} from "../layout";
import { scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { termIs, termLowerBound, termPrefixEnd } from "../segment/dictionary";
import { Seg, Snap } from "../segment/segment";
import { failed, status, statusReset } from "../status";
import { writeExpansion } from "./expand-result";
import { AskedWord, beginExpansion, Expansion, Suspect } from "./expansion";
import { InfixTerms } from "./infix-terms";
import { TypoWalk } from "./levenshtein";
import { TermList } from "./term-list";

const TERMS_A_CHECK: u32 = 255;

/** Runs an expand program on a snapshot. Returns the address of the result, or -STATUS_*. */
export function expand(snapshot: usize, program: usize, bytes: usize): i32 {
  statusReset();
  const expansion = beginExpansion(snapshot, program, bytes);
  for (let i: u32 = 0; i < expansion.wordCount && !failed(); i++) lookUp(expansion, expansion.word(i));
  for (let i: u32 = 0; i < expansion.suspectCount && !failed(); i++)
    findSuspected(expansion, expansion.suspect(i));
  return failed() ? -status() : writeExpansion(expansion);
}

function lookUp(expansion: Expansion, word: AskedWord): void {
  if ((word.flags & WORD_EXACT) != 0) findExact(expansion, word);
  if ((word.flags & WORD_PREFIX) != 0) findPrefix(expansion, word);
  if (word.typos > 0) findTypos(expansion, word);
  if ((word.flags & (WORD_INFIX | WORD_INSIDE)) != 0) findInfixes(expansion, word);
}

function findExact(expansion: Expansion, word: AskedWord): void {
  const snapshot = expansion.snapshot;
  word.exact = scratchZeroed((<usize>expansion.slots.count) << 2);
  const segments = Snap.count(snapshot);
  for (let i: u32 = 0; i < segments; i++) {
    const segment = Snap.segment(snapshot, i);
    const term = termLowerBound(segment, word.term, word.length);
    if (!termIs(segment, term, word.term, word.length)) continue;
    expansion.counts.addTo(word.exact, segment, term, Snap.live(snapshot, i));
  }
}

function findPrefix(expansion: Expansion, word: AskedWord): void {
  const slotCount = expansion.slots.count;
  word.prefixSums = scratchZeroed((<usize>slotCount) << 3);
  word.prefixTerms = TermList.begin(slotCount);
  const segments = Snap.count(expansion.snapshot);
  for (let i: u32 = 0; i < segments; i++) {
    word.prefixTerms = TermList.merged(word.prefixTerms, prefixTermsOf(expansion, word, i), false);
    word.prefixTerms.count = min(word.prefixTerms.count, <u32>PREFIX_TERMS_LISTED + 1);
  }
}

/**
 * Returns the first terms in one segment that are longer than the prefix and start with it, at most
 * PREFIX_TERMS_LISTED + 1. If that many are returned, there are too many to list. Adds the counts of all
 * terms with the prefix to the word's sums.
 */
function prefixTermsOf(expansion: Expansion, word: AskedWord, entry: u32): TermList {
  const segment = Snap.segment(expansion.snapshot, entry);
  const live = Snap.live(expansion.snapshot, entry);
  const counts = expansion.counts;
  const slotCount = expansion.slots.count;
  const terms = TermList.begin(slotCount);
  const first = termLowerBound(segment, word.term, word.length);
  const end = termPrefixEnd(segment, first, word.term, word.length);
  for (let term = first; term < end; term++) {
    if ((term & TERMS_A_CHECK) == 0) checkDeadline();
    if (Seg.termLength(segment, term) == word.length || !counts.count(segment, term, live)) continue;
    for (let slot: usize = 0; slot < <usize>slotCount; slot++) {
      const sum = word.prefixSums + (slot << 3);
      Mem.putF64(sum, Mem.f64At(sum) + <f64>Mem.u32At(counts.counts + (slot << 2)));
    }
    if (terms.count <= <u32>PREFIX_TERMS_LISTED) terms.add(segment, term, 0, false, counts.counts);
  }
  return terms;
}

function findTypos(expansion: Expansion, word: AskedWord): void {
  const snapshot = expansion.snapshot;
  const matchPrefixes = (word.flags & WORD_TYPO_PREFIX) != 0;
  const walk = TypoWalk.make(word.term, word.length, word.typos, matchPrefixes);
  word.typoTerms = TermList.begin(expansion.slots.count);
  const segments = Snap.count(snapshot);
  for (let i: u32 = 0; i < segments; i++) {
    walk.beginSegment(Snap.segment(snapshot, i), branchesOf(Snap.summary(snapshot, i)));
    word.typoTerms = TermList.merged(word.typoTerms, typosOf(expansion, walk, Snap.live(snapshot, i)), false);
  }
}

/** Returns the terms that the walk finds in one segment, except those that no live document contains. */
function typosOf(expansion: Expansion, walk: TypoWalk, live: usize): TermList {
  const counts = expansion.counts;
  const terms = TermList.begin(expansion.slots.count);
  checkDeadline();
  while (walk.next()) {
    if ((terms.count & TERMS_A_CHECK) == 0) checkDeadline();
    if (counts.count(walk.segment, walk.found, live))
      terms.add(walk.segment, walk.found, walk.distance, walk.isPrefix, counts.counts);
  }
  return terms;
}

function findInfixes(expansion: Expansion, word: AskedWord): void {
  const snapshot = expansion.snapshot;
  word.infixTerms = TermList.begin(expansion.slots.count);
  const segments = Snap.count(snapshot);
  for (let i: u32 = 0; i < segments && !failed(); i++) {
    const found = infixesOf(expansion, word, Snap.segment(snapshot, i), Snap.live(snapshot, i));
    word.infixTerms = TermList.merged(word.infixTerms, found, true);
    word.infixTerms.count = min(word.infixTerms.count, <u32>INFIX_TERMS_LISTED);
  }
}

/** Returns one segment's shortest terms that contain the word, at most INFIX_TERMS_LISTED. */
function infixesOf(expansion: Expansion, word: AskedWord, segment: usize, live: usize): TermList {
  const counts = expansion.counts;
  checkDeadline();
  const found = InfixTerms.find(segment, word.term, word.length, (word.flags & WORD_INFIX) != 0);
  const terms = TermList.begin(expansion.slots.count);
  for (let i: u32 = 0; i < found.count && terms.count < <u32>INFIX_TERMS_LISTED && !failed(); i++) {
    if ((i & TERMS_A_CHECK) == 0) checkDeadline();
    const term = found.at(i);
    if (counts.count(segment, term, live)) terms.add(segment, term, 0, false, counts.counts);
  }
  return terms;
}

/**
 * Looks up terms similar to a suspect. If more than `few` documents contain one of its witnesses, skips the
 * lookup and sets the suspect's `typos` to 0.
 */
function findSuspected(expansion: Expansion, suspect: Suspect): void {
  let most: f64 = 0;
  for (let i: u32 = 0; i < suspect.witnessCount; i++)
    most = max(most, documentsOf(expansion, expansion.word(suspect.witness(i))));
  if (most > <f64>suspect.few) suspect.typos = 0;
  if (suspect.typos > 0) findTypos(expansion, suspect);
}

/**
 * The word's document count in the field slot where it is largest. Depending on the word's flags, counts
 * documents with the word itself (WORD_EXACT), the sum over longer terms that start with it (WORD_PREFIX), or
 * the larger of the two.
 */
function documentsOf(expansion: Expansion, word: AskedWord): f64 {
  let most: f64 = 0;
  for (let slot: usize = 0; slot < <usize>expansion.slots.count; slot++) {
    if ((word.flags & WORD_EXACT) != 0) most = max(most, <f64>Mem.u32At(word.exact + (slot << 2)));
    if ((word.flags & WORD_PREFIX) != 0) most = max(most, Mem.f64At(word.prefixSums + (slot << 3)));
  }
  return most;
}
