// Finds the rows in one segment that match a query. Opens every alternative's posting lists, turns words into
// bitsets, and intersects the bitsets with the live rows, the filter and the phrases. Words with few postings
// are processed first. Once few rows remain, they are looked up in the next lists one by one, which is faster
// than reading those lists through. The open lists stay with the alternatives, in scoring order, for the
// scoring kernels.

import { checkDeadline } from "../env";
import { Filters } from "../filter/filter";
import { PhraseReader } from "../filter/phrase";
import { scratch, scratchZeroed } from "../memory/arena";
import {
  Bits,
  bitsAll,
  bitsAnd,
  bitsCopyOf,
  bitsCount,
  bitsNext,
  bitsNone,
  bitsOr,
  bitsOrBoth,
  bitsRemove,
} from "../memory/bitset";
import { Mem } from "../memory/mem";
import { RankProgram } from "../program/rank-program";
import {
  Alternative,
  alternativeAt,
  Phrase,
  SearchProgram,
  TIER_BEST,
  TIER_FEWEST_TYPOS,
  TIER_MORE_TYPOS,
  Word,
} from "../program/search-program";
import { Rules } from "../rank/rules";
import {
  BLOCK_BUFFER_BYTES,
  CURSOR_BYTES,
  Cursor,
  cursorAddNoting,
  cursorAddTo,
  cursorKeepTail,
  cursorRestart,
  cursorSeek,
  cursorUseBuffer,
  listOpen,
  TERMINATED,
} from "../segment/postings";
import { Seg } from "../segment/segment";
import { failed } from "../status";
import { listAt, openLists } from "./alternative-lists";
import { hasTerm, leaderOf } from "./leader";
import { Neighbours } from "./neighbours";
import { Sequences } from "./sequence";

const POSTINGS_A_CHECK: u32 = 0x4000;
const SEEK_ABOVE: u32 = 12; // above this many postings per remaining row, look each row up in the list
// The filter is applied last if fewer than one in this many of the segment's rows can contain the words.
const ROWS_A_WORD: u32 = 32;
const SEVERAL_FROM: u32 = 2048; // `several` is computed only for words with at least this many postings
const SEEK_ROWS_MAX: u32 = 0x10000;
const LISTS_KEPT: u32 = 256; // tails are kept decoded if there are at most this many lists

/** The current segment's matching rows, and facts found while matching. Allocated in scratch memory. */
@unmanaged
export class Matches {
  program: SearchProgram;
  ranking: RankProgram;
  rules: Rules;
  neighbours: Neighbours;
  filters: Filters;
  phrase: PhraseReader;
  sequences: Sequences;
  segment: usize;
  rows: u32;
  blockBuffer: usize;
  order: usize; // u32[]: indices of the words in the order in which they are matched
  left: usize; // u32[]: the rows that can still match; 0 = not listed yet
  leftCount: u32; // upper bound on the number of those rows
  postings: u32; // number of postings read since the last deadline check
  tiered: bool; // whether to compute the bitsets below
  /** Number of posting lists for the query's words in the current segment. */
  lists: u32;
  // Bitsets of the current segment's rows that contain every word, ignoring the filter, phrases and rules.
  // 0 = not needed, because all matching rows qualify or it makes no difference which do.
  full: usize;
  best: usize; // rows that have every word in tier TIER_BEST
  fewestTypos: usize; // rows that have every word in tier TIER_BEST or TIER_FEWEST_TYPOS

  /** If `tiered`, matching also computes the bitsets `full`, `best` and `fewestTypos`. */
  static make(
    program: SearchProgram,
    rules: Rules,
    neighbours: Neighbours,
    filters: Filters,
    phrase: PhraseReader,
    tiered: bool,
  ): Matches {
    const made = changetype<Matches>(scratchZeroed(offsetof<Matches>()));
    made.program = program;
    made.ranking = program.ranking;
    made.rules = rules;
    made.neighbours = neighbours;
    made.filters = filters;
    made.phrase = phrase;
    made.blockBuffer = scratch(BLOCK_BUFFER_BYTES);
    made.order = scratch((<usize>program.wordCount) << 2);
    made.tiered = tiered;
    if (program.anySequence) made.sequences = Sequences.make(phrase);
    return made;
  }

  /**
   * Returns a bitset, in scratch memory, of a segment's rows that are in the result. `summary` is 0 if the
   * segment has no summary. `live` is the bitset of live rows, or 0 if all rows are live.
   */
  rowsOf(matched: usize, summary: usize, live: usize): usize {
    const program = this.program;
    this.segment = matched;
    this.rows = Seg.rows(matched);
    if (program.neighbours.given) this.neighbours.beginSegment(matched);
    if (program.wordCount > 0) this.openWords();
    const filtersLast = this.wordsAreRarer();
    const candidates: usize = filtersLast
      ? 0
      : this.filters.rowsOf(matched, summary, program.mainFilter, live);
    const bits = candidates != 0 ? candidates : bitsAll(this.rows);
    if (live != 0) bitsAnd(bits, live, this.rows);
    this.rules.beginSegment(matched, summary, bits);
    if (program.wordCount > 0) this.matchWords(bits);
    else if (!program.browses) this.keep(bits, bitsNone(this.rows));
    if (filtersLast)
      bitsAnd(bits, this.filters.rowsOf(matched, summary, program.mainFilter, bits), this.rows);
    if (program.phraseCount + program.excludeCount > 0) this.matchPhrases(bits);
    if (program.neighbours.given) this.neighbours.settle(bits);
    if (this.ranking.ruleCount + this.ranking.pinCount > 0) this.rules.apply(bits);
    return bits;
  }

  private openWords(): void {
    const program = this.program;
    this.lists = 0;
    for (let i: u32 = 0; i < program.wordCount && !failed(); i++) this.openWord(program.wordAt(i));
    this.orderWords();
  }

  /**
   * True if there is a filter and it is cheaper to apply it only to the neighbours and the rows that contain
   * the words.
   */
  private wordsAreRarer(): bool {
    const program = this.program;
    if (program.browses || program.mainFilter.count == 0 || program.anySequence || this.ranking.pinCount > 0)
      return false;
    let most = this.neighbours.count; // upper bound on the number of neighbours plus rows with the words
    for (let i: u32 = 0; i < program.wordCount; i++) {
      const cost = program.wordAt(this.orderAt(i)).cost;
      most += cost;
      if (!program.anyWord) break;
    }
    return most < this.rows / ROWS_A_WORD;
  }

  private matchWords(bits: usize): void {
    this.beginTiers(bits);
    this.leftCount = this.rows;
    this.left = 0;
    if (this.program.anyWord) this.matchAny(bits);
    else this.matchAll(bits);
  }

  /** Sorts the words by number of postings, fewest first. */
  private orderWords(): void {
    const program = this.program;
    for (let i: u32 = 0; i < program.wordCount; i++) {
      const cost = program.wordAt(i).cost;
      let to = i;
      for (; to > 0 && program.wordAt(this.orderAt(to - 1)).cost > cost; to--)
        Mem.putU32(this.order + ((<usize>to) << 2), this.orderAt(to - 1));
      Mem.putU32(this.order + ((<usize>to) << 2), i);
    }
  }

  private orderAt(i: u32): u32 {
    return Mem.u32At(this.order + ((<usize>i) << 2));
  }

  /** Creates those of `full`, `best` and `fewestTypos` that this query needs, as copies of `bits`. */
  private beginTiers(bits: usize): void {
    const program = this.program;
    this.full = 0;
    this.best = 0;
    this.fewestTypos = 0;
    if (!this.tiered) return;
    let tiers = TIER_BEST;
    for (let i: u32 = 0; i < program.wordCount; i++) tiers = max(tiers, program.wordAt(i).tiers);
    if (!program.fullFirst) tiers = TIER_BEST;
    if (program.anyWord && (program.wordCount > 1 || !program.fullFirst))
      this.full = bitsCopyOf(bits, this.rows);
    if (tiers > TIER_BEST) this.best = bitsCopyOf(bits, this.rows);
    if (tiers == TIER_MORE_TYPOS) this.fewestTypos = bitsCopyOf(bits, this.rows);
  }

  /** Intersects `bits` with `having`, but first adds the neighbours that match without words to `having`. */
  private keep(bits: usize, having: usize): void {
    if (this.neighbours.matching != 0) bitsOr(having, this.neighbours.matching, this.rows);
    bitsAnd(bits, having, this.rows);
  }

  private matchAll(bits: usize): void {
    const program = this.program;
    const union = bitsNone(this.rows);
    for (let i: u32 = 0; i < program.wordCount && !failed(); i++) {
      if (i > 0) Mem.fill(union, 0, Bits.bytes(this.rows));
      this.leftCount = bitsCount(bits, this.rows);
      this.left = 0;
      if (this.leftCount == 0) return;
      this.addWord(program.wordAt(this.orderAt(i)), union, bits);
      this.keep(bits, union);
    }
  }

  private matchAny(bits: usize): void {
    const program = this.program;
    const union = bitsNone(this.rows);
    for (let i: u32 = 0; i < program.wordCount && !failed(); i++) {
      const word = program.wordAt(this.orderAt(i));
      word.rows = this.full == 0 ? union : bitsNone(this.rows);
      this.addWord(word, word.rows, bits);
      if (this.full == 0) continue;
      bitsAnd(this.full, word.rows, this.rows);
      bitsOr(union, word.rows, this.rows);
    }
    this.keep(bits, union);
  }

  /**
   * Adds a word's rows to `union`, tier by tier. Intersects `best` and `fewestTypos` with the rows in those
   * tiers, and sets the word's `behind` and `several`.
   */
  private addWord(word: Word, union: usize, bits: usize): void {
    word.behind = this.best != 0 && word.tiers > TIER_BEST ? bitsNone(this.rows) : 0;
    word.several =
      this.tiered && this.program.wordCount == 1 && word.cost >= SEVERAL_FROM ? bitsNone(this.rows) : 0;
    for (let tier = TIER_BEST; tier <= word.tiers && !failed(); tier++) {
      const to = tier == TIER_BEST || word.behind == 0 ? union : word.behind;
      for (let i: u32 = 0; i < word.alternativeCount && !failed(); i++) {
        const alternative = alternativeAt(word, i);
        if (alternative.tier != tier) continue;
        if (alternative.sequence != 0) this.openSequence(alternative, bits);
        const leader = to == union ? alternative : leaderOf(word, alternative);
        this.addRows(alternative, to, bits, leader, word.several);
      }
      if (to != union && word.several != 0) bitsOrBoth(word.several, union, to, this.rows);
      if (to != union) bitsOr(union, to, this.rows);
      if (tier == TIER_BEST && this.best != 0) bitsAnd(this.best, union, this.rows);
      if (tier == TIER_FEWEST_TYPOS && this.fewestTypos != 0) bitsAnd(this.fewestTypos, union, this.rows);
    }
    if (word.tiers == TIER_BEST && this.fewestTypos != 0) bitsAnd(this.fewestTypos, union, this.rows);
  }

  /**
   * Opens a word's lists, except its sequences, which are built once the rows that may contain them are
   * known.
   */
  private openWord(word: Word): void {
    word.cost = 0;
    for (let i: u32 = 0; i < word.alternativeCount && !failed(); i++) {
      const alternative = alternativeAt(word, i);
      if (alternative.sequence == 0) openLists(this.segment, this.program, alternative);
      else alternative.listCount = 0;
      this.lists += alternative.listCount;
      for (let j: u32 = 0; j < alternative.listCount; j++) word.cost += listAt(alternative.lists, j).count;
    }
  }

  /** Builds a sequence's lists, one per slot, for rows in `bits` only. */
  private openSequence(alternative: Alternative, bits: usize): void {
    const program = this.program;
    alternative.lists = scratch(<usize>program.slotCount * CURSOR_BYTES);
    alternative.listCount = 0;
    for (let index: u32 = 0; index < program.slotCount && !failed(); index++) {
      const list = this.sequences.listOf(
        this.segment,
        alternative.terms,
        alternative.termCount,
        program.slots.at(index),
        bits,
      );
      if (list == 0) continue;
      const cursor = listAt(alternative.lists, alternative.listCount++);
      listOpen(cursor, list, this.sequences.end, this.rows);
      cursor.slotIndex = index;
      this.lists++;
    }
  }

  /**
   * Adds an alternative's rows to `union`. May omit rows outside `bits`. Skips terms that `leader` also has,
   * because their rows have already been added. Rows that were already in `union` are added to `several`,
   * unless `several` is 0.
   */
  private addRows(
    alternative: Alternative,
    union: usize,
    bits: usize,
    leader: Alternative,
    several: usize,
  ): void {
    for (let i: u32 = 0; i < alternative.listCount && !failed(); i++) {
      const cursor = listAt(alternative.lists, i);
      if (changetype<usize>(leader) != changetype<usize>(alternative) && hasTerm(leader, cursor.term))
        continue;
      cursorUseBuffer(cursor, this.blockBuffer);
      if (this.leftCount <= SEEK_ROWS_MAX && cursor.count / SEEK_ABOVE > this.leftCount) {
        this.seekLeft(cursor, union, bits, several);
      } else {
        this.looked(cursor.count);
        if (this.lists <= LISTS_KEPT) cursorKeepTail(cursor);
        if (several == 0) cursorAddTo(cursor, union);
        else cursorAddNoting(cursor, union, several);
      }
      cursorRestart(cursor);
      cursorUseBuffer(cursor, 0);
    }
  }

  /**
   * Looks up in the list every row that can still match, and adds the rows found to `union`. First lists the
   * rows of `bits` in `left`, unless that has been done.
   */
  private seekLeft(cursor: Cursor, union: usize, bits: usize, several: usize): void {
    if (this.left == 0) {
      this.left = scratch((<usize>this.leftCount) << 2);
      let to = this.left;
      for (
        let row = bitsNext(bits, 0, this.rows);
        row < this.rows;
        row = bitsNext(bits, row + 1, this.rows)
      ) {
        Mem.putU32(to, row);
        to += 4;
      }
    }
    this.looked(this.leftCount);
    for (let i: u32 = 0; i < this.leftCount; i++) {
      const row = Mem.u32At(this.left + ((<usize>i) << 2));
      const reached = cursorSeek(cursor, row);
      if (reached == TERMINATED) return;
      if (reached != row) continue;
      if (several == 0) Bits.add(union, row);
      else Bits.addNoting(union, row, several);
    }
  }

  private looked(count: u32): void {
    this.postings += count;
    if (this.postings < POSTINGS_A_CHECK) return;
    this.postings = 0;
    checkDeadline();
  }

  private matchPhrases(bits: usize): void {
    const program = this.program;
    const found = bitsNone(this.rows);
    for (let i: u32 = 0; i < program.phraseCount && !failed(); i++) {
      Mem.fill(found, 0, Bits.bytes(this.rows));
      this.addInAnySlot(program.phraseAt(i), found);
      bitsAnd(bits, found, this.rows);
    }
    Mem.fill(found, 0, Bits.bytes(this.rows));
    for (let i: u32 = 0; i < program.excludeCount && !failed(); i++)
      this.addInAnySlot(program.excludeAt(i), found);
    if (program.excludeCount > 0) bitsRemove(bits, found, this.rows);
  }

  private addInAnySlot(phrase: Phrase, bits: usize): void {
    const program = this.program;
    for (let i: u32 = 0; i < program.slotCount && !failed(); i++)
      this.phrase.addRows(this.segment, phrase.terms, phrase.count, program.slots.at(i), bits);
  }
}
