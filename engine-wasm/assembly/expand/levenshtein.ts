// All terms of a sorted dictionary within a few typos of a word. The distance is optimal string alignment
// (insertion, deletion, substitution, adjacent transposition), counted in code points.
//
// The automaton is the bit-parallel one of Wu and Manber, with Hyyro's transposition, cut to the diagonal
// band: after d characters of a term, bit i of lane e says that the first d - k + i characters of the word
// are at most e edits away (k = largest distance, i = 0..2k). Five lanes of 12 bits share one u64, so a step
// costs some twenty operations. Terms are walked in order; the state is kept per character, a shared prefix
// is never walked twice, and when the automaton has died the terms that share the dead prefix are skipped by
// their shared-prefix bytes, 16 at a time. All characters that the word does not have near a place lead to the same
// state, which is kept: where it is dead, most of the prefixes beside a dead one are skipped by a look at their last byte,
// 16 terms at a time when these bytes lie side by side (branches.ts).

import { SEG_TERM_LCP, TERM_BYTES_MAX, TERM_TEXT } from "../layout";
import { scratch, scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { pointAt, pointBytes } from "../memory/utf8";
import { termLowerBound } from "../segment/dictionary";
import { Seg } from "../segment/segment";

const LANE: u64 = 12;
const MASK_BYTES: usize = 32; // one bit for each character of the word, behind a margin for the band
const MASK_MARGIN: u32 = 8;
const ASCII: u32 = 128;
const OTHER: u8 = 0xff; // no byte of a character
const CHARACTERS_BYTES: usize = MASK_BYTES * 8;
const UNKNOWN: u64 = 0xffffffffffffffff; // no state: it has unused bits
const NEVER: u32 = 255; // a distance beyond all limits
const DEPTHS: usize = TERM_BYTES_MAX + 1;
const TEXT_BEGINS: usize = memory.data<u8>([<u8>TERM_TEXT]); // least term that is no marker
const WORD_POINTS_MAX: u32 = TERM_BYTES_MAX + 4; // a longer word is farther than the largest limit from all terms

// The word.
let limit: u32 = 0; // k
let wordPoints: u32 = 0;
let tooLong: bool = false; // no term can be near
let prefixes: bool = false;
let characters: usize = 0; // u8: the word's, OTHER for one beyond ASCII; behind a margin like that of a mask
let asciiMasks: usize = 0;
let otherPoints: usize = 0; // u32 code point per mask
let otherMasks: usize = 0;
let otherCount: u32 = 0;
let noMask: usize = 0;
let band: u64 = 0; // 2k + 1 bits
let lanes: u64 = 0; // bit 0 of every lane
// The path to the current term.
let states: usize = 0; // u64 by depth in characters
let masks: usize = 0; // address of the mask of the character that led to the depth
let plains: usize = 0; // u64 by depth: the state after a character that the word does not have nearby, or UNKNOWN
let bests: usize = 0; // u8: smallest distance of the word to a non-empty prefix up to the depth
let depths: usize = 0; // u8: depth by byte offset
// The walk.
let segment: usize = 0;
let branches: usize = 0; // u8 by term, 0 = not known
let term: u32 = 0;
let terms: u32 = 0;
let walkedBytes: u32 = 0; // bytes of the path that have a state
let deadBytes: u32 = 0; // 0, or bytes of the prefix that killed the automaton
let deadBest: u32 = NEVER;

/** What `typoNext` found. */
export let typoTerm: u32 = 0;
export let typoDistance: u32 = 0;
export let typoIsPrefix: bool = false;

/** Prepares a word for any number of walks. `maxTypos` is 1..4. Takes scratch. */
export function typoWord(word: usize, bytes: u32, maxTypos: u32, matchPrefixes: bool): void {
  limit = maxTypos;
  prefixes = matchPrefixes;
  band = ((<u64>1) << (2 * limit + 1)) - 1;
  lanes = 0;
  for (let e: u32 = 0; e <= limit; e++) lanes |= (<u64>1) << (LANE * <u64>e);
  tooLong = bytes > WORD_POINTS_MAX * 4;
  if (tooLong) return;
  characters = scratch(CHARACTERS_BYTES);
  Mem.fill(characters, OTHER, CHARACTERS_BYTES);
  asciiMasks = scratchZeroed(<usize>ASCII * MASK_BYTES);
  otherPoints = scratch((<usize>bytes) << 2);
  otherMasks = scratchZeroed(<usize>bytes * MASK_BYTES);
  noMask = scratchZeroed(MASK_BYTES);
  otherCount = 0;
  wordPoints = 0;
  states = scratchZeroed((DEPTHS + 1) << 3);
  plains = scratchZeroed((DEPTHS + 1) << 3);
  masks = scratchZeroed((DEPTHS + 1) << 2);
  bests = scratchZeroed(DEPTHS + 1);
  depths = scratchZeroed(DEPTHS + 1);
  const end = word + bytes;
  while (word < end) {
    const point = characterAt(word, end);
    word += pointBytes;
    const bit = wordPoints + MASK_MARGIN;
    wordPoints++;
    tooLong = wordPoints > WORD_POINTS_MAX;
    if (tooLong) return;
    if (point < ASCII) Mem.putU8(characters + <usize>bit, point);
    const mask = maskEntry(point);
    Mem.putU8(mask + <usize>(bit >> 3), Mem.u8At(mask + <usize>(bit >> 3)) | (1 << (bit & 7)));
  }
}

/** Malformed bytes are characters of their own. */
function characterAt(at: usize, end: usize): u32 {
  const point = pointAt(at, end);
  return point >= 0 ? point : 0x110000 + Mem.u8At(at);
}

function maskEntry(point: u32): usize {
  const found = maskOf(point);
  if (found != noMask) return found;
  Mem.putU32(otherPoints + ((<usize>otherCount) << 2), point);
  otherCount++;
  return otherMasks + <usize>(otherCount - 1) * MASK_BYTES;
}

function maskOf(point: u32): usize {
  if (point < ASCII) return asciiMasks + <usize>point * MASK_BYTES;
  for (let i: usize = 0; i < <usize>otherCount; i++) {
    if (Mem.u32At(otherPoints + (i << 2)) == point) return otherMasks + i * MASK_BYTES;
  }
  return noMask;
}

/** Starts a walk over the terms of a segment, marker terms left out; `itsBranches`: those of the segment, or 0. */
export function typoStart(walked: usize, itsBranches: usize): void {
  segment = walked;
  branches = itsBranches;
  terms = tooLong ? 0 : Seg.terms(walked);
  term = 0;
  if (terms == 0) return;
  term = termLowerBound(walked, TEXT_BEGINS, 1);
  walkedBytes = 0;
  deadBytes = 0;
  let start: u64 = 0;
  for (let e: u32 = 0; e <= limit; e++) {
    const bits = ((<u64>1) << (min(e, wordPoints) + 1)) - 1;
    start |= (bits << limit) << (LANE * <u64>e);
  }
  Mem.putU64(states, start);
  Mem.putU64(plains, UNKNOWN);
  Mem.putU8(bests, NEVER);
  Mem.putU8(depths, 0);
}

/** Moves to the next term within the distance, in byte order: typoTerm, typoDistance, typoIsPrefix. */
export function typoNext(): bool {
  while (term < terms) {
    const lcp = Mem.u8At(Seg.at(segment, SEG_TERM_LCP) + term);
    if (deadBytes != 0 && lcp >= deadBytes) {
      if (!prefixes || deadBest == NEVER || deadBest == 0) {
        skipDead();
        continue;
      }
      typoTerm = term++;
      typoDistance = deadBest;
      typoIsPrefix = true;
      return true;
    }
    const found = walk(term, min(lcp, walkedBytes));
    typoTerm = term++;
    if (found) return true;
  }
  return false;
}

/** Skips the terms that share the dead prefix, and those beside it that die of a character the word does not have nearby. */
function skipDead(): void {
  const lcps = Seg.at(segment, SEG_TERM_LCP);
  const parent = deadBytes - 1;
  const depth = Mem.u8At(depths + parent);
  const othersDie = walkedBytes == parent && Mem.u64At(plains + ((<usize>depth) << 3)) == 0;
  if (othersDie && branches != 0) return skipSiblings(lcps, parent, depth);
  while (true) {
    skipPrefix(lcps);
    if (
      !othersDie ||
      term >= terms ||
      Mem.u8At(lcps + term) != parent ||
      Seg.termLength(segment, term) <= parent
    )
      return;
    const byte = Mem.u8At(Seg.termAt(segment, term) + <usize>parent);
    if (byte >= ASCII || windows(asciiMasks + <usize>byte * MASK_BYTES, depth + 1) != 0) return;
    term++;
  }
}

/**
 * To the next term that has not the first `parent` bytes of the dead prefix, or one of the word's characters nearby behind
 * them, or one that is more than a byte.
 */
function skipSiblings(lcps: usize, parent: u32, depth: u32): void {
  const dead = i8x16.splat(<i8>deadBytes);
  const parents = i8x16.splat(<i8>parent);
  const near = characters + MASK_MARGIN + depth - limit - 1;
  for (; term + 16 <= terms; term += 16) {
    while (term + 64 <= terms && !anyLess(lcps + term, dead)) term += 64;
    if (term + 16 > terms) break;
    const shared = Mem.v128At(lcps + term);
    const bytes = Mem.v128At(branches + term);
    let goOn = i8x16.lt_s(bytes, i8x16.splat(0));
    for (let i: u32 = 0; i < 2 * limit + 2; i++)
      goOn = v128.or(goOn, i8x16.eq(bytes, i8x16.splat(<i8>Mem.u8At(near + i))));
    goOn = v128.and(goOn, i8x16.eq(shared, parents));
    const alive = i8x16.bitmask(v128.or(goOn, i8x16.lt_u(shared, parents)));
    if (alive != 0) {
      term += ctz(alive);
      return;
    }
  }
  for (; term < terms; term++) {
    const shared = Mem.u8At(lcps + term);
    if (shared < parent) return;
    if (shared > parent) continue;
    const byte = Mem.u8At(branches + term);
    if (byte >= ASCII || windows(asciiMasks + <usize>byte * MASK_BYTES, depth + 1) != 0) return;
  }
}

/** To the next term that does not share the dead prefix. */
function skipPrefix(lcps: usize): void {
  const dead = i8x16.splat(<i8>deadBytes);
  if (term + 16 <= terms) {
    const alive = i8x16.bitmask(i8x16.lt_u(Mem.v128At(lcps + term), dead));
    if (alive != 0) {
      term += ctz(alive);
      return;
    }
    term += 16;
  }
  while (term + 64 <= terms && !anyLess(lcps + term, dead)) term += 64;
  while (term + 16 <= terms) {
    const alive = i8x16.bitmask(i8x16.lt_u(Mem.v128At(lcps + term), dead));
    if (alive != 0) {
      term += ctz(alive);
      return;
    }
    term += 16;
  }
  while (term < terms && Mem.u8At(lcps + term) >= deadBytes) term++;
}

/** Of 64 bytes, whether one is less. */
function anyLess(at: usize, than: v128): bool {
  const first = i8x16.min_u(Mem.v128At(at), Mem.v128At(at + 16));
  const second = i8x16.min_u(Mem.v128At(at + 32), Mem.v128At(at + 48));
  return v128.any_true(i8x16.lt_u(i8x16.min_u(first, second), than));
}

/** Walks one term whose first `shared` bytes have states already; true when it is within the distance. */
function walk(number: u32, shared: u32): bool {
  const start = Seg.termAt(segment, number);
  const bytes = Seg.termLength(segment, number);
  while (shared > 0 && shared < bytes && (Mem.u8At(start + shared) & 0xc0) == 0x80) shared--;
  const end = start + bytes;
  let depth = Mem.u8At(depths + shared);
  let at = start + shared;
  deadBytes = 0;
  while (at < end) {
    const byte = Mem.u8At(at);
    let mask = asciiMasks + <usize>byte * MASK_BYTES;
    let width: u32 = 1;
    if (byte >= ASCII) {
      mask = maskOf(characterAt(at, end));
      width = pointBytes;
    }
    at += width;
    const state = step(depth, mask);
    if (state == 0) {
      deadBytes = <u32>(at - start);
      deadBest = Mem.u8At(bests + depth);
      walkedBytes = deadBytes - width;
      return report(NEVER, deadBest);
    }
    const previousBest = Mem.u8At(bests + depth);
    depth++;
    Mem.putU64(states + ((<usize>depth) << 3), state);
    Mem.putU64(plains + ((<usize>depth) << 3), UNKNOWN);
    Mem.putU32(masks + ((<usize>depth) << 2), <u32>mask);
    Mem.putU8(bests + depth, min(previousBest, distance(state, depth)));
    Mem.putU8(depths + (at - start), depth);
  }
  walkedBytes = bytes;
  return report(distance(Mem.u64At(states + ((<usize>depth) << 3)), depth), Mem.u8At(bests + depth));
}

function report(whole: u32, best: u32): bool {
  if (prefixes && best == 0) return false;
  typoIsPrefix = whole == NEVER;
  typoDistance = typoIsPrefix ? best : whole;
  if (typoIsPrefix && !prefixes) return false;
  return typoDistance != 0 && typoDistance != NEVER;
}

/** Distance of the whole word to the first `depth` characters of the term, NEVER beyond the limit. */
function distance(state: u64, depth: u32): u32 {
  const bit = <i32>(wordPoints + limit) - <i32>depth;
  if (bit < 0 || bit > <i32>(2 * limit)) return NEVER;
  const accepting = (state >> <u64>bit) & lanes;
  return accepting == 0 ? NEVER : <u32>(ctz(accepting) / LANE);
}

/** The bits of a character's mask from word index (depth - limit) - 2 on: for two bands, the second a bit further on. */
function windows(mask: usize, depth: u32): u64 {
  const bit = MASK_MARGIN + depth - limit - 2;
  return <u64>(Mem.u32At(mask + <usize>(bit >> 3)) >> (bit & 7)) & (band | (band << 1));
}

/** State after one more character: 0 when every alignment costs more than the limit. */
function step(depth: u32, mask: usize): u64 {
  const near = windows(mask, depth + 1);
  if (near != 0) return stepOf(depth, near);
  const plain = plains + ((<usize>depth) << 3);
  if (Mem.u64At(plain) == UNKNOWN) Mem.putU64(plain, stepOf(depth, 0));
  return Mem.u64At(plain);
}

/** `near`: `windows` of the character. */
function stepOf(depth: u32, near: u64): u64 {
  const next = depth + 1;
  const valid = <i32>(wordPoints + limit) - <i32>next; // highest bit that is a prefix of the word
  if (valid < 0) return 0;
  const before = Mem.u64At(states + ((<usize>depth) << 3));
  const spread = band * lanes;
  let state = before & ((near >> 1) * lanes); // the same character
  let cheaper = ((before >> 1) & ((band >> 1) * lanes)) | before; // inserted, substituted
  if (depth > 0) {
    const previous = <usize>Mem.u32At(masks + ((<usize>depth) << 2));
    const swapped = near & (windows(previous, next) >> 1) & band;
    cheaper |= Mem.u64At(states + ((<usize>(depth - 1)) << 3)) & (swapped * lanes);
  }
  state |= (cheaper << LANE) & spread;
  for (let e: u32 = 0; e < limit; e++) state |= (((state << 1) & spread) << LANE) & spread; // deleted
  if (valid < <i32>(2 * limit)) state &= (((<u64>1) << (valid + 1)) - 1) * lanes;
  return state;
}
