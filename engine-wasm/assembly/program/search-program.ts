// Reads a search program, checks it and stores it as tables for the kernels that run it. If
// `SearchProgram.read` did not fail, every count, weight and address here can be trusted. Strings stay in the
// program's bytes.

import {
  ALT_INFIX,
  ALTERNATIVE_EXACT,
  ALTERNATIVE_INFIX,
  ALTERNATIVE_NEAR,
  ALTERNATIVE_SEQUENCE,
  FACET_SHARE,
  MATCH_ALL,
  MATCH_BY_SCORE,
  PROGRAM_SEARCH,
  SLOT_INFIX,
  SORT_CLASS,
  SORT_FIELD,
  TERM_PREFIX,
} from "../layout";
import { scratch, scratchZeroed } from "../memory/arena";
import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";
import { failed } from "../status";
import { Filter, filterRead } from "./filter-program";
import { putLengths, putOccurrences, SLOT_BYTES, SlotWeights, TABLE_BYTES } from "./length-tables";
import { NeighbourProgram } from "./neighbour-program";
import { ProgramReader, programBad } from "./program";
import { readTermInto, readTerms, TERM_BYTES, TERM_LEAST, termAt } from "./program-terms";
import { RankProgram } from "./rank-program";
import { Slots } from "./slots";

@unmanaged
export class Alternative {
  boost: f64;
  typos: u32;
  exact: u32; // 1 = counts as the word as written; it then has no typos
  near: u32; // nonzero = positions count toward closeness
  sequence: u32; // nonzero = the terms must be adjacent
  infix: u32; // nonzero = the alternative matches only in slots with SLOT_INFIX
  terms: usize;
  termCount: u32;
  lists: usize; // cursors in the current segment, in scoring order
  listCount: u32;
  tier: u32; // TIER_*: the best tier that a row with this alternative can be in
}

/**
 * The tiers of a word in a row. In the first tier, the row has the word's best alternative: the word as
 * written or, if the word has no such alternative, one with the fewest typos. In the second tier, the row
 * lacks the word as written but has another alternative with the fewest typos. In the third tier, the row has
 * only alternatives with more typos.
 */
export const TIER_BEST: u32 = 0;
export const TIER_FEWEST_TYPOS: u32 = 1;
export const TIER_MORE_TYPOS: u32 = 2;

@unmanaged
export class Word {
  weight: f64;
  most: f64; // upper bound on the score that the word can give any row
  mostBehind: f64; // upper bound on the score that alternatives below TIER_BEST can give any row
  alternatives: usize;
  alternativeCount: u32;
  nearLists: usize; // cursors in the current segment, copied for closeness (score/near-lists.ts)
  nearCount: u32;
  // u32 by row number in NearLists.asked: chain of the near lists that contain the row; 0 = not built.
  nearLinks: usize;
  leastTypos: u32; // smallest number of typos in any alternative
  canBeExact: u32; // 1 = at least one alternative has `exact` set
  tiers: u32; // worst tier that any alternative has
  cost: u32; // number of postings in the word's lists for the current segment
  behind: usize; // bitset: rows in which an alternative below TIER_BEST may score more; 0 = none
  rows: usize; // bitset: rows with the word; computed only if one matching word is enough
  // Bitset: contains every row that is in more than one of the word's lists, and perhaps others; 0 = unknown.
  several: usize;
}

@unmanaged
export class Phrase {
  terms: usize;
  count: u32;
}

@unmanaged
export class SortKey {
  by: u32; // SORT_*
  descending: u32;
  slot: u32;
  kind: u32; // KIND_*; the same in all segments of the snapshot
  type: u32; // TYPE_* of the field in the current segment
  present: usize; // bitset of the rows with a value; 0 = no row has a value
  values: usize; // column of a number field
  ordinals: usize; // column of a string field
  dictionary: usize;
  zones: usize; // the column's zones in the current segment (column-summary.ts); 0 = none
  codes: usize; // the column's codes in the current segment; 0 = none
  codeBounds: usize;
}

@unmanaged
export class Facet {
  slot: u32;
  limit: u32;
  share: u32; // nonzero = counts from other shards will be added, so a share is enough
  bound: u32; // largest count that was left out when the counts were cut to a share
  kind: u32; // KIND_*; the same in all segments of the snapshot
  entries: usize;
  entryCount: u32;
}

const ALTERNATIVE_BYTES: usize = (offsetof<Alternative>() + 7) & ~7;
const WORD_BYTES: usize = (offsetof<Word>() + 7) & ~7;
const PHRASE_BYTES: usize = offsetof<Phrase>();
const SORT_KEY_BYTES: usize = offsetof<SortKey>();
const FACET_BYTES: usize = offsetof<Facet>();

// Longer documents are scored as if their length were this multiple of the average.
const LENGTHS_MOST: f64 = 2;
const NEVER_MATCHED: u32 = 0xffffffff; // exceeds the number of words that any row can match
const SCORE_ROUNDING: f64 = 1.000000000001; // factor that exceeds the relative error of three roundings

const FLAGS_ALL: u32 = ALTERNATIVE_NEAR | ALTERNATIVE_EXACT | ALTERNATIVE_SEQUENCE | ALTERNATIVE_INFIX;
const SORT_KEYS_MAX: u32 = 64;
/**
 * If a neighbour has more points than this, text match plus bonus could overflow from the score into the more
 * significant parts of the final key (rank/final-key.ts).
 */
const POINTS_SMALL: f64 = 1048576; // 2^20

// Minimum size in bytes of each item in a program.
const SLOT_LEAST: usize = 19;
const WORD_LEAST: usize = 10;
const ALTERNATIVE_LEAST: usize = 13;
const PHRASE_LEAST: usize = 2;

export function alternativeAt(word: Word, i: u32): Alternative {
  if (CHECKED) assert(i < word.alternativeCount, "an alternative is one of its word's");
  return changetype<Alternative>(word.alternatives + <usize>i * ALTERNATIVE_BYTES);
}

/** Sets each alternative's tier and the word's maximum score. */
function rateTiers(word: Word): void {
  word.leastTypos = 0xff;
  word.canBeExact = 0;
  word.tiers = TIER_BEST;
  word.most = 0;
  word.mostBehind = 0;
  for (let i: u32 = 0; i < word.alternativeCount; i++) {
    const one = alternativeAt(word, i);
    word.leastTypos = min(word.leastTypos, one.typos);
    word.canBeExact |= one.exact;
  }
  for (let i: u32 = 0; i < word.alternativeCount; i++) {
    const one = alternativeAt(word, i);
    if (one.typos > word.leastTypos) one.tier = TIER_MORE_TYPOS;
    else one.tier = one.exact < word.canBeExact ? TIER_FEWEST_TYPOS : TIER_BEST;
    word.tiers = max(word.tiers, one.tier);
    const most = one.boost * SCORE_ROUNDING; // upper limit of boost * x / (x + saturation)
    word.most = max(word.most, most);
    if (one.tier != TIER_BEST) word.mostBehind = max(word.mostBehind, most);
  }
}

function readAlternative(reader: ProgramReader, alternative: Alternative): void {
  const kind = reader.u8(); // validated here, but otherwise used only for debugging
  alternative.typos = reader.u8();
  const flags = reader.u8();
  alternative.near = flags & ALTERNATIVE_NEAR;
  alternative.exact = (flags & ALTERNATIVE_EXACT) != 0 && alternative.typos == 0 ? 1 : 0;
  alternative.sequence = flags & ALTERNATIVE_SEQUENCE;
  alternative.infix = flags & ALTERNATIVE_INFIX;
  alternative.boost = reader.weight();
  alternative.termCount = reader.countWithin(reader.u16(), TERM_LEAST + 1);
  alternative.terms = scratch(<usize>alternative.termCount * TERM_BYTES);
  alternative.listCount = 0;
  if (kind > <u32>ALT_INFIX || flags > <u32>FLAGS_ALL) programBad();
  if (alternative.sequence != 0 && (alternative.termCount == 0 || alternative.infix != 0)) programBad();
  for (let i: u32 = 0; i < alternative.termCount; i++) {
    const prefix = reader.u8();
    if (prefix > <u32>TERM_PREFIX || (prefix != 0 && alternative.sequence != 0)) programBad();
    readTermInto(reader, termAt(alternative.terms, i), prefix);
  }
}

function readPhrases(reader: ProgramReader, count: u32): usize {
  const table = scratch(<usize>count * PHRASE_BYTES);
  for (let i: usize = 0; i < <usize>count && !failed(); i++) {
    const phrase = changetype<Phrase>(table + i * PHRASE_BYTES);
    phrase.terms = readTerms(reader);
    phrase.count = reader.termsRead;
    if (reader.termsRead == 0) programBad();
  }
  return table;
}

/** One checked search program. Allocated in scratch memory. */
@unmanaged
export class SearchProgram {
  slots: Slots;
  ranking: RankProgram;
  neighbours: NeighbourProgram;
  /**
   * True if there are neither words nor neighbours: every row that passes the filters matches, and nothing is
   * scored.
   */
  browses: bool;
  anyWord: bool; // whether one matching word is enough
  fullFirst: bool; // whether rows with every word rank first
  anySequence: bool; // whether any alternative is a sequence
  rowsWanted: u32;
  shortest: f64; // saturation of an empty document: k1 * (1 - b)
  perToken: f64; // saturation per token of length: k1 * b / average length
  longest: f64; // longer documents are scored as if they had this many tokens
  proximityWeight: f64;
  slotCount: u32;
  wordCount: u32;
  phraseCount: u32;
  excludeCount: u32;
  sortCount: u32;
  facetCount: u32;
  mainFilter: Filter;
  lengthShare: f64; // how strongly field and document length influence the score
  slotWeights: usize;
  slotFlags: usize; // u8 by slot index: SLOT_* flags
  words: usize;
  phrases: usize;
  excludes: usize;
  sortKeys: usize;
  facets: usize;

  wordAt(i: u32): Word {
    if (CHECKED) assert(i < this.wordCount, "a word is one of the query's");
    return changetype<Word>(this.words + <usize>i * WORD_BYTES);
  }

  phraseAt(i: u32): Phrase {
    return changetype<Phrase>(this.phrases + <usize>i * PHRASE_BYTES);
  }

  excludeAt(i: u32): Phrase {
    return changetype<Phrase>(this.excludes + <usize>i * PHRASE_BYTES);
  }

  sortKeyAt(i: u32): SortKey {
    if (CHECKED) assert(i < this.sortCount, "a sort key is one of the query's");
    return changetype<SortKey>(this.sortKeys + <usize>i * SORT_KEY_BYTES);
  }

  facetAt(i: u32): Facet {
    return changetype<Facet>(this.facets + <usize>i * FACET_BYTES);
  }

  /** True if an alternative may match in the slot with that index. */
  @inline takes(alternative: Alternative, index: u32): bool {
    return alternative.infix == 0 || (Mem.u8At(this.slotFlags + <usize>index) & SLOT_INFIX) != 0;
  }

  /** Number of words that a row needs for a full match; NEVER_MATCHED if full matches do not rank first. */
  @inline get wordsOfFull(): u32 {
    return this.fullFirst ? this.wordCount : NEVER_MATCHED;
  }

  /**
   * Returns a table, f64 by norm byte: what one occurrence of a term in a field of that length adds to a
   * row's sum. It is computed when it is first needed, because a query's words are in few of the slots.
   */
  slotOccurrences(index: u32): usize {
    const slot = this.slotAt(index);
    if (slot.occurrences == 0) {
      slot.occurrences = slot.lengths + TABLE_BYTES;
      putOccurrences(slot.occurrences, slot.weight, this.lengthShare, slot.averageLength);
    }
    return slot.occurrences;
  }

  /** Returns a table, f64 by norm byte: how much a field of that length adds to its document's length. */
  slotLengths(index: u32): usize {
    return this.slotAt(index).lengths;
  }

  private slotAt(index: u32): SlotWeights {
    if (CHECKED) assert(index < this.slotCount, "a slot is one of the query's");
    return changetype<SlotWeights>(this.slotWeights + <usize>index * SLOT_BYTES);
  }

  /** Reads and checks the whole program. The result may be used only if `failed()` is false. */
  static read(at: usize, bytes: usize): SearchProgram {
    const program = changetype<SearchProgram>(scratchZeroed(offsetof<SearchProgram>()));
    program.readAll(at, bytes);
    return program;
  }

  private readAll(program: usize, bytes: usize): void {
    const reader = ProgramReader.open(program, bytes, PROGRAM_SEARCH);
    const mode = reader.u8();
    this.anyWord = mode != MATCH_ALL;
    this.fullFirst = mode != MATCH_BY_SCORE;
    if (mode > <u32>MATCH_BY_SCORE) programBad();
    this.rowsWanted = reader.u32();
    const saturation = reader.weight();
    const lengthShare = reader.weight();
    if (lengthShare > 1) programBad();
    this.proximityWeight = reader.weight();
    const averageLength = reader.weight();
    this.lengthShare = lengthShare;
    this.readSlots(reader);
    this.shortest = saturation * (1 - lengthShare);
    this.perToken = averageLength == 0 ? 0 : (saturation * lengthShare) / averageLength;
    this.longest = averageLength * LENGTHS_MOST;
    this.readWords(reader);
    this.phraseCount = reader.countWithin(reader.u16(), PHRASE_LEAST);
    this.phrases = readPhrases(reader, this.phraseCount);
    this.excludeCount = reader.countWithin(reader.u16(), PHRASE_LEAST);
    this.excludes = readPhrases(reader, this.excludeCount);
    this.mainFilter = filterRead(reader);
    this.readSort(reader);
    this.readFacets(reader);
    this.ranking = RankProgram.read(reader);
    this.neighbours = NeighbourProgram.read(reader);
    reader.mustEnd();
    this.browses = this.wordCount == 0 && !this.neighbours.given;
    const carries = this.neighbours.first ? this.ranking.lifts : this.neighbours.most > POINTS_SMALL;
    if (carries) this.ranking.sumIsPlain = false;
  }

  private readSlots(reader: ProgramReader): void {
    this.slotCount = reader.countWithin(reader.u16(), SLOT_LEAST);
    this.slots = Slots.make(this.slotCount);
    this.slotWeights = scratch(<usize>this.slotCount * SLOT_BYTES);
    const tables = scratch(2 * <usize>this.slotCount * TABLE_BYTES);
    this.slotFlags = scratch(this.slotCount);
    for (let i: u32 = 0; i < this.slotCount; i++) {
      this.slots.put(i, reader.u16());
      const flags = reader.u8();
      if (flags > <u32>SLOT_INFIX) programBad();
      Mem.putU8(this.slotFlags + <usize>i, flags);
      const slot = this.slotAt(i);
      slot.weight = reader.weight();
      slot.averageLength = reader.weight();
      slot.occurrences = 0;
      slot.lengths = tables + 2 * <usize>i * TABLE_BYTES;
      putLengths(slot.lengths, slot.weight);
    }
    this.slots.finish();
  }

  private readWords(reader: ProgramReader): void {
    this.wordCount = reader.countWithin(reader.u16(), WORD_LEAST);
    this.words = scratch(<usize>this.wordCount * WORD_BYTES);
    for (let i: u32 = 0; i < this.wordCount && !failed(); i++) {
      const word = this.wordAt(i);
      word.weight = reader.weight();
      word.alternativeCount = reader.countWithin(reader.u16(), ALTERNATIVE_LEAST);
      word.alternatives = scratch(<usize>word.alternativeCount * ALTERNATIVE_BYTES);
      for (let j: u32 = 0; j < word.alternativeCount && !failed(); j++) {
        readAlternative(reader, alternativeAt(word, j));
        if (alternativeAt(word, j).sequence != 0) this.anySequence = true;
      }
      if (!failed()) rateTiers(word);
    }
  }

  private readSort(reader: ProgramReader): void {
    this.sortCount = reader.u8();
    if (this.sortCount > SORT_KEYS_MAX) {
      this.sortCount = 0;
      return programBad();
    }
    this.sortKeys = scratch(<usize>this.sortCount * SORT_KEY_BYTES);
    for (let i: u32 = 0; i < this.sortCount; i++) {
      const key = this.sortKeyAt(i);
      key.by = reader.u8();
      key.descending = reader.u8();
      key.slot = reader.u16();
      if (key.by > <u32>SORT_CLASS || key.descending > 1 || (key.by != SORT_FIELD && key.slot != 0))
        programBad();
    }
  }

  private readFacets(reader: ProgramReader): void {
    this.facetCount = reader.u8();
    this.facets = scratch(<usize>this.facetCount * FACET_BYTES);
    for (let i: u32 = 0; i < this.facetCount; i++) {
      const facet = this.facetAt(i);
      facet.slot = reader.u16();
      const limit = reader.u32();
      facet.limit = limit & ~(<u32>FACET_SHARE);
      facet.share = limit >> 31;
      facet.bound = 0;
      if (facet.share != 0 && facet.limit == 0) programBad();
      facet.entries = 0;
      facet.entryCount = 0;
    }
  }
}
