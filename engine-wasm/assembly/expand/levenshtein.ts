// Finds all terms of a sorted dictionary within a few typos of a word. The distance is optimal string
// alignment (insertion, deletion, substitution, adjacent transposition), counted in code points.
//
// The automaton is Wu and Manber's bit-parallel automaton with Hyyro's transposition, restricted to the
// diagonal band: after d characters of a term, bit i of lane e says that the first d - k + i characters of
// the word are at most e edits away (k = largest distance, i = 0..2k). Five lanes of 12 bits share one u64,
// so a step takes about twenty operations. Terms are walked in order with one state per character, so a
// shared prefix is walked only once. When the automaton dies (no alignment within k edits is left), the terms
// that share the dead prefix are skipped using their shared-prefix lengths, 16 terms at a time. All
// characters that do not occur near the current position in the word lead to the same state, which is cached.
// If that state is dead, most siblings of a dead prefix are skipped by looking at their last byte, 16 terms
// at a time if these bytes are contiguous (branches.ts).

import { SEG_TERM_LCP, TERM_BYTES_MAX, TERM_TEXT } from "../layout";
import { scratch, scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { pointAt, pointBytes } from "../memory/utf8";
import { termLowerBound } from "../segment/dictionary";
import { Seg } from "../segment/segment";

const LANE: u64 = 12;
// Size of a mask: one bit per character in the word, preceded by a margin for the band.
const MASK_BYTES: usize = 32;
const MASK_MARGIN: u32 = 8;
const ASCII: u32 = 128;
const OTHER: u8 = 0xff; // a byte that occurs in no UTF-8 sequence
const CHARACTERS_BYTES: usize = MASK_BYTES * 8;
const UNKNOWN: u64 = 0xffffffffffffffff; // cannot be a state, because it has bits that no state uses
const NEVER: u32 = 255; // stands for any distance above the limit
const DEPTHS: usize = TERM_BYTES_MAX + 1;
// Text terms start here in the sorted dictionary; marker terms come before them.
const TEXT_BEGINS: usize = memory.data<u8>([<u8>TERM_TEXT]);
const WORD_POINTS_MAX: u32 = TERM_BYTES_MAX + 4; // a longer word cannot be near any term

/** One word and its walk over a segment's terms. Allocated in scratch memory. */
@unmanaged
export class TypoWalk {
  // The word being looked up; k is its maximum number of typos.
  band: u64; // the lowest 2k + 1 bits, which one lane uses
  lanes: u64; // bit 0 of every lane
  limit: u32; // k
  wordPoints: u32;
  tooLong: bool; // the word is longer than any term that could be near it
  prefixes: bool;
  // u8 by position in the word: its character, OTHER if not ASCII; has the same margin as a mask.
  characters: usize;
  asciiMasks: usize;
  otherPoints: usize; // u32[]: the code point that each mask in `otherMasks` belongs to
  otherMasks: usize;
  otherCount: u32;
  noMask: usize;
  // The path: the automaton's states along the current term's characters.
  states: usize; // u64 by depth in characters: state of the automaton
  masks: usize; // u32 by depth: address of the mask for the character before that depth
  // u64 by depth: next state if the character does not occur nearby in the word; UNKNOWN = not computed.
  plains: usize;
  bests: usize; // u8 by depth: smallest distance between the word and any non-empty prefix up to that depth
  depths: usize; // u8 by byte offset: depth in characters
  // The walk.
  segment: usize;
  branches: usize; // u8 per term (branches.ts); 0 = the segment has no branches
  term: u32; // the next term
  terms: u32;
  walkedBytes: u32; // number of the current term's leading bytes for which the path has states
  deadBytes: u32; // length in bytes of the prefix at which the automaton died; 0 = none
  deadBest: u32;
  // Set by `next`: the term's number, its distance, and whether only a prefix of the term is near the word.
  found: u32;
  distance: u32;
  isPrefix: bool;

  /**
   * Prepares a word for any number of segments. `maxTypos` is 1..4. With `prefixes`, a term also matches if a
   * prefix of it is near the word.
   */
  static make(word: usize, bytes: u32, maxTypos: u32, prefixes: bool): TypoWalk {
    const made = changetype<TypoWalk>(scratchZeroed(offsetof<TypoWalk>()));
    made.limit = maxTypos;
    made.prefixes = prefixes;
    made.band = ((<u64>1) << (2 * maxTypos + 1)) - 1;
    for (let e: u32 = 0; e <= maxTypos; e++) made.lanes |= (<u64>1) << (LANE * <u64>e);
    made.tooLong = bytes > WORD_POINTS_MAX * 4;
    if (made.tooLong) return made;
    made.characters = scratch(CHARACTERS_BYTES);
    Mem.fill(made.characters, OTHER, CHARACTERS_BYTES);
    made.asciiMasks = scratchZeroed(<usize>ASCII * MASK_BYTES);
    made.otherPoints = scratch((<usize>bytes) << 2);
    made.otherMasks = scratchZeroed(<usize>bytes * MASK_BYTES);
    made.noMask = scratchZeroed(MASK_BYTES);
    made.states = scratchZeroed((DEPTHS + 1) << 3);
    made.plains = scratchZeroed((DEPTHS + 1) << 3);
    made.masks = scratchZeroed((DEPTHS + 1) << 2);
    made.bests = scratchZeroed(DEPTHS + 1);
    made.depths = scratchZeroed(DEPTHS + 1);
    made.takeWord(word, word + bytes);
    return made;
  }

  private takeWord(word: usize, end: usize): void {
    while (word < end) {
      const point = characterAt(word, end);
      word += pointBytes;
      const bit = this.wordPoints + MASK_MARGIN;
      this.wordPoints++;
      this.tooLong = this.wordPoints > WORD_POINTS_MAX;
      if (this.tooLong) return;
      if (point < ASCII) Mem.putU8(this.characters + <usize>bit, point);
      const mask = this.maskEntry(point);
      Mem.putU8(mask + <usize>(bit >> 3), Mem.u8At(mask + <usize>(bit >> 3)) | (1 << (bit & 7)));
    }
  }

  private maskEntry(point: u32): usize {
    const found = this.maskOf(point);
    if (found != this.noMask) return found;
    Mem.putU32(this.otherPoints + ((<usize>this.otherCount) << 2), point);
    this.otherCount++;
    return this.otherMasks + <usize>(this.otherCount - 1) * MASK_BYTES;
  }

  private maskOf(point: u32): usize {
    if (point < ASCII) return this.asciiMasks + <usize>point * MASK_BYTES;
    for (let i: usize = 0; i < <usize>this.otherCount; i++) {
      if (Mem.u32At(this.otherPoints + (i << 2)) == point) return this.otherMasks + i * MASK_BYTES;
    }
    return this.noMask;
  }

  /**
   * Starts at a segment's first term that is not a marker. `branches` is the address of the segment's
   * branches, or 0.
   */
  beginSegment(segment: usize, branches: usize): void {
    this.segment = segment;
    this.branches = branches;
    this.terms = this.tooLong ? 0 : Seg.terms(segment);
    this.term = 0;
    if (this.terms == 0) return;
    this.term = termLowerBound(segment, TEXT_BEGINS, 1);
    this.walkedBytes = 0;
    this.deadBytes = 0;
    let start: u64 = 0;
    for (let e: u32 = 0; e <= this.limit; e++) {
      const bits = ((<u64>1) << (min(e, this.wordPoints) + 1)) - 1;
      start |= (bits << this.limit) << (LANE * <u64>e);
    }
    Mem.putU64(this.states, start);
    Mem.putU64(this.plains, UNKNOWN);
    Mem.putU8(this.bests, NEVER);
    Mem.putU8(this.depths, 0);
  }

  /**
   * Moves to the next matching term, in byte order, and sets `found`, `distance` and `isPrefix`. Returns
   * false if there are no more. The word itself is not a match; with `prefixes`, neither are terms that start
   * with it.
   */
  next(): bool {
    while (this.term < this.terms) {
      const lcp = Mem.u8At(Seg.at(this.segment, SEG_TERM_LCP) + this.term);
      if (this.deadBytes != 0 && lcp >= this.deadBytes) {
        if (!this.prefixes || this.deadBest == NEVER || this.deadBest == 0) {
          this.skipDead();
          continue;
        }
        this.found = this.term++;
        this.distance = this.deadBest;
        this.isPrefix = true;
        return true;
      }
      const found = this.walk(this.term, min(lcp, this.walkedBytes));
      this.found = this.term++;
      if (found) return true;
    }
    return false;
  }

  /**
   * Skips the terms that share the dead prefix, and its dead siblings: those whose character does not occur
   * nearby in the word.
   */
  private skipDead(): void {
    const lcps = Seg.at(this.segment, SEG_TERM_LCP);
    const parent = this.deadBytes - 1;
    const depth = Mem.u8At(this.depths + parent);
    const othersDie = this.walkedBytes == parent && Mem.u64At(this.plains + ((<usize>depth) << 3)) == 0;
    let term = this.term;
    if (othersDie && this.branches != 0) {
      this.term = this.afterSiblings(term, lcps, parent, depth);
      return;
    }
    term = this.afterPrefix(term, lcps);
    while (othersDie && this.isDeadSibling(term, lcps, parent, depth))
      term = this.afterPrefix(term + 1, lcps);
    this.term = term;
  }

  /** True if the term differs from the dead prefix only in its last byte and is dead as well. */
  private isDeadSibling(term: u32, lcps: usize, parent: u32, depth: u32): bool {
    if (term >= this.terms || Mem.u8At(lcps + term) != parent) return false;
    if (Seg.termLength(this.segment, term) <= parent) return false;
    return this.isDead(Mem.u8At(Seg.termAt(this.segment, term) + <usize>parent), depth);
  }

  /**
   * True if the byte is an ASCII character that does not occur nearby in the word. The caller has checked
   * that all such characters lead to a dead state.
   */
  private isDead(byte: u32, depth: u32): bool {
    return byte < ASCII && this.windows(this.asciiMasks + <usize>byte * MASK_BYTES, depth + 1) == 0;
  }

  /**
   * The next term >= `from` that could be alive: it differs in the first `parent` bytes, or the byte after
   * them is a character that occurs nearby in the word or part of a multi-byte character.
   */
  private afterSiblings(from: u32, lcps: usize, parent: u32, depth: u32): u32 {
    const terms = this.terms;
    const branches = this.branches;
    const dead = i8x16.splat(<i8>this.deadBytes);
    const parents = i8x16.splat(<i8>parent);
    const near = this.characters + MASK_MARGIN + depth - this.limit - 1;
    const nearEnd = near + 2 * this.limit + 2;
    let term = from;
    for (; term + 16 <= terms; term += 16) {
      while (term + 64 <= terms && !anyLess(lcps + term, dead)) term += 64;
      if (term + 16 > terms) break;
      const shared = Mem.v128At(lcps + term);
      const bytes = Mem.v128At(branches + term);
      let goOn = i8x16.lt_s(bytes, i8x16.splat(0));
      for (let at = near; at < nearEnd; at++)
        goOn = v128.or(goOn, i8x16.eq(bytes, i8x16.splat(<i8>Mem.u8At(at))));
      goOn = v128.and(goOn, i8x16.eq(shared, parents));
      const alive = i8x16.bitmask(v128.or(goOn, i8x16.lt_u(shared, parents)));
      if (alive != 0) return term + ctz(alive);
    }
    for (; term < terms; term++) {
      const shared = Mem.u8At(lcps + term);
      if (shared < parent) return term;
      if (shared == parent && !this.isDead(Mem.u8At(branches + term), depth)) return term;
    }
    return term;
  }

  /** The next term >= `from` that does not share the dead prefix. */
  private afterPrefix(from: u32, lcps: usize): u32 {
    const terms = this.terms;
    const dead = i8x16.splat(<i8>this.deadBytes);
    let term = from;
    if (term + 16 <= terms) {
      const alive = i8x16.bitmask(i8x16.lt_u(Mem.v128At(lcps + term), dead));
      if (alive != 0) return term + ctz(alive);
      term += 16;
    }
    while (term + 64 <= terms && !anyLess(lcps + term, dead)) term += 64;
    while (term + 16 <= terms) {
      const alive = i8x16.bitmask(i8x16.lt_u(Mem.v128At(lcps + term), dead));
      if (alive != 0) return term + ctz(alive);
      term += 16;
    }
    while (term < terms && Mem.u8At(lcps + term) >= this.deadBytes) term++;
    return term;
  }

  /** Walks one term whose first `shared` bytes already have states. Returns true if the term matches. */
  private walk(number: u32, shared: u32): bool {
    const start = Seg.termAt(this.segment, number);
    const bytes = Seg.termLength(this.segment, number);
    while (shared > 0 && shared < bytes && (Mem.u8At(start + shared) & 0xc0) == 0x80) shared--;
    const end = start + bytes;
    let depth = Mem.u8At(this.depths + shared);
    let at = start + shared;
    this.deadBytes = 0;
    while (at < end) {
      const byte = Mem.u8At(at);
      let mask = this.asciiMasks + <usize>byte * MASK_BYTES;
      let width: u32 = 1;
      if (byte >= ASCII) {
        mask = this.maskOf(characterAt(at, end));
        width = pointBytes;
      }
      at += width;
      const state = this.step(depth, mask);
      if (state == 0) {
        this.deadBytes = <u32>(at - start);
        this.deadBest = Mem.u8At(this.bests + depth);
        this.walkedBytes = this.deadBytes - width;
        return this.report(NEVER, this.deadBest);
      }
      const previousBest = Mem.u8At(this.bests + depth);
      depth++;
      Mem.putU64(this.states + ((<usize>depth) << 3), state);
      Mem.putU64(this.plains + ((<usize>depth) << 3), UNKNOWN);
      Mem.putU32(this.masks + ((<usize>depth) << 2), <u32>mask);
      Mem.putU8(this.bests + depth, min(previousBest, this.distanceOf(state, depth)));
      Mem.putU8(this.depths + (at - start), depth);
    }
    this.walkedBytes = bytes;
    return this.report(
      this.distanceOf(Mem.u64At(this.states + ((<usize>depth) << 3)), depth),
      Mem.u8At(this.bests + depth),
    );
  }

  private report(whole: u32, best: u32): bool {
    if (this.prefixes && best == 0) return false;
    this.isPrefix = whole == NEVER;
    this.distance = this.isPrefix ? best : whole;
    if (this.isPrefix && !this.prefixes) return false;
    return this.distance != 0 && this.distance != NEVER;
  }

  /**
   * Distance between the whole word and the first `depth` characters of the term; NEVER if it exceeds the
   * limit.
   */
  private distanceOf(state: u64, depth: u32): u32 {
    const bit = <i32>(this.wordPoints + this.limit) - <i32>depth;
    if (bit < 0 || bit > <i32>(2 * this.limit)) return NEVER;
    const accepting = (state >> <u64>bit) & this.lanes;
    return accepting == 0 ? NEVER : <u32>(ctz(accepting) / LANE);
  }

  /**
   * Bits of a character's mask starting at word index (depth - limit) - 2: two bands, the second shifted by
   * one bit.
   */
  private windows(mask: usize, depth: u32): u64 {
    const bit = MASK_MARGIN + depth - this.limit - 2;
    return <u64>(Mem.u32At(mask + <usize>(bit >> 3)) >> (bit & 7)) & (this.band | (this.band << 1));
  }

  /** State after one more character; 0 if every alignment exceeds the limit. */
  private step(depth: u32, mask: usize): u64 {
    const near = this.windows(mask, depth + 1);
    if (near != 0) return this.stepOf(depth, near);
    const plain = this.plains + ((<usize>depth) << 3);
    if (Mem.u64At(plain) == UNKNOWN) Mem.putU64(plain, this.stepOf(depth, 0));
    return Mem.u64At(plain);
  }

  /** State after one more character, given the character's `windows` in `near`. */
  private stepOf(depth: u32, near: u64): u64 {
    const next = depth + 1;
    // Higher bits would stand for prefixes longer than the word.
    const valid = <i32>(this.wordPoints + this.limit) - <i32>next;
    if (valid < 0) return 0;
    const before = Mem.u64At(this.states + ((<usize>depth) << 3));
    const spread = this.band * this.lanes;
    let state = before & ((near >> 1) * this.lanes); // match
    let cheaper = ((before >> 1) & ((this.band >> 1) * this.lanes)) | before; // insertion, substitution
    if (depth > 0) {
      const previous = <usize>Mem.u32At(this.masks + ((<usize>depth) << 2));
      const swapped = near & (this.windows(previous, next) >> 1) & this.band;
      cheaper |= Mem.u64At(this.states + ((<usize>(depth - 1)) << 3)) & (swapped * this.lanes);
    }
    state |= (cheaper << LANE) & spread;
    for (let e: u32 = 0; e < this.limit; e++) state |= (((state << 1) & spread) << LANE) & spread; // deletion
    if (valid < <i32>(2 * this.limit)) state &= (((<u64>1) << (valid + 1)) - 1) * this.lanes;
    return state;
  }
}

/** Code point at `at`. Each malformed byte counts as a character. */
function characterAt(at: usize, end: usize): u32 {
  const point = pointAt(at, end);
  return point >= 0 ? point : 0x110000 + Mem.u8At(at);
}

/** True if any of the 64 bytes at `at` is less than `than`. */
function anyLess(at: usize, than: v128): bool {
  const first = i8x16.min_u(Mem.v128At(at), Mem.v128At(at + 16));
  const second = i8x16.min_u(Mem.v128At(at + 32), Mem.v128At(at + 48));
  return v128.any_true(i8x16.lt_u(i8x16.min_u(first, second), than));
}
