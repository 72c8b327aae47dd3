// Allocates linear memory, which has two parts. Regions (segments, bitsets, merge output) lie below `top` and
// live until released. Scratch memory lies above `top` and lives until the next `scratchReset`. Regions are
// kept in address order. A new region takes the smallest free region that fits; adjacent free regions are
// merged. `top` and the other marks are module variables, because an instance has only one memory. Knows
// nothing about what regions contain.
//
//   | static data | region | region | free | region | scratch ...            |
//   ^ __heap_base                                   ^ top        ^ scratchTop ^ memory end
//
// Other instances may read the same memory. Each of them is confined: its scratch lies inside one region that
// the owner reserved for it, and it cannot allocate regions.
import { outOfMemory } from "../env";
import { CHECKED } from "./checked";
import { Mem } from "./mem";

const HEADER: usize = 16; // u32 payload bytes, u32 1 = free; 16 bytes, so that payloads stay 16-aligned
const ALIGN: usize = 15;
// Up to this many bytes, a loop of stores is faster than calling memory.fill.
const FILLED_SINGLY: usize = 256;

const START: usize = (__heap_base + ALIGN) & ~ALIGN;
let top: usize = (__heap_base + ALIGN) & ~ALIGN;
let inside: usize = 0; // all addresses below this are inside the allocated memory
let scratchTop: usize = (__heap_base + ALIGN) & ~ALIGN;
let reached: usize = (__heap_base + ALIGN) & ~ALIGN;
let confined: bool = false;
// The part of scratch memory that `passScratch` gives out: [passStart, passEnd), up to passTop. All are 0
// without passes.
let passStart: usize = 0;
let passTop: usize = 0;
let passEnd: usize = 0;

/**
 * Moves the end of scratch. Nothing beyond it is accessed, except that a confined instance also reads its
 * owner's memory.
 */
function scratchTo(end: usize): void {
  scratchTop = end;
  if (CHECKED) Mem.end = confined ? memoryEnd() : end;
}

/** Discards all scratch memory. */
function discardScratch(): void {
  passStart = 0;
  passTop = 0;
  passEnd = 0;
  scratchTo(top);
}

function memoryEnd(): usize {
  return <usize>min<u64>((<u64>memory.size()) << 16, 0xffff0000);
}

/** Confines this instance's scratch memory to a region that the memory's owner reserved for it. */
export function confine(region: usize, bytes: usize): void {
  confined = true;
  top = region;
  inside = region + bytes;
  reached = inside;
  scratchTo(region);
}

/** True if the blocks are contiguous from the first to `top`. */
function blocksFill(): bool {
  let block = START;
  while (block < top) block += HEADER + <usize>Mem.u32At(block);
  return block == top;
}

/**
 * Ends the kernel because memory is full. Must be called before the arena's state changes, so that the
 * instance can serve further calls.
 */
function full(): void {
  outOfMemory();
  unreachable();
}

/**
 * Extends the used memory up to `end`, which is beyond `reached`. Ends the kernel if the instance is confined
 * or the memory cannot grow.
 */
function reach(end: usize): void {
  if (confined) full();
  if (end > inside) grow(end);
  reached = end;
}

/** Grows the memory until `end` is inside. Spare pages use no physical memory until they are touched. */
function grow(end: usize): void {
  const pages = <i32>((<u64>end + 0xffff) >>> 16);
  const missing = pages - memory.size();
  if (missing > 0 && memory.grow(max(missing, min(memory.size() >> 3, 256))) < 0) {
    if (memory.grow(missing) < 0) full();
  }
  inside = memoryEnd();
}

/**
 * Allocates a region of `bytes` bytes, 16-aligned, with undefined contents. The caller must regard all
 * scratch memory as discarded.
 */
export function reserve(bytes: usize): usize {
  if (CHECKED) assert(!confined, "only the owner of a memory reserves regions");
  const wanted = (bytes + ALIGN) & ~ALIGN;
  if (HEADER + wanted < bytes) full(); // the sum wrapped: it exceeds 4 GiB
  let block = START;
  let best: usize = 0;
  while (block < top) {
    const size = <usize>Mem.u32At(block);
    if (Mem.u32At(block + 4) == 1 && size >= wanted && (best == 0 || size < <usize>Mem.u32At(best)))
      best = block;
    block += HEADER + size;
  }
  if (best != 0) {
    const size = <usize>Mem.u32At(best);
    if (size - wanted >= HEADER + 16) {
      const rest = best + HEADER + wanted;
      Mem.putU32(rest, <u32>(size - wanted - HEADER));
      Mem.putU32(rest + 4, 1);
      Mem.putU32(best, <u32>wanted);
    }
    Mem.putU32(best + 4, 0);
    return best + HEADER;
  }
  if (top + HEADER + wanted < top) full(); // the sum wrapped: it exceeds 4 GiB
  if (top + HEADER + wanted > reached) reach(top + HEADER + wanted);
  top += HEADER + wanted;
  discardScratch();
  Mem.putU32(block, <u32>wanted);
  Mem.putU32(block + 4, 0);
  if (CHECKED) assert(blocksFill(), "regions lie one behind the other");
  return block + HEADER;
}

/** Frees a region. `at` must come from `reserve`. Discards all scratch memory. */
export function release(at: usize): void {
  if (CHECKED) assert(isReserved(at), "only a region that is reserved is given back");
  Mem.putU32(at - HEADER + 4, 1);
  let block = START;
  while (block < top) {
    let size = <usize>Mem.u32At(block);
    if (Mem.u32At(block + 4) == 1) {
      let next = block + HEADER + size;
      while (next < top && Mem.u32At(next + 4) == 1) {
        size += HEADER + <usize>Mem.u32At(next);
        next = block + HEADER + size;
      }
      Mem.putU32(block, <u32>size);
      if (next >= top) top = block;
    }
    block += HEADER + size;
  }
  discardScratch();
  if (CHECKED) assert(blocksFill(), "regions lie one behind the other");
}

/** True if a region from `reserve` begins at `at`. */
function isReserved(at: usize): bool {
  let block = START;
  while (block < top && block + HEADER != at) block += HEADER + <usize>Mem.u32At(block);
  return block < top && Mem.u32At(block + 4) == 0;
}

/** Shrinks a region to its first `bytes` bytes and frees the rest. */
export function shrink(at: usize, bytes: usize): void {
  const block = at - HEADER;
  const size = <usize>Mem.u32At(block);
  const wanted = (bytes + ALIGN) & ~ALIGN;
  if (size - wanted < HEADER + 16 || wanted > size) return;
  Mem.putU32(block, <u32>wanted);
  const rest = block + HEADER + wanted;
  Mem.putU32(rest, <u32>(size - wanted - HEADER));
  Mem.putU32(rest + 4, 0);
  release(rest + HEADER);
}

/** Discards all scratch memory and returns space for a kernel's input of `bytes` bytes. */
export function scratchReset(bytes: usize): usize {
  discardScratch();
  return scratch(bytes);
}

/**
 * Allocates `bytes` bytes of scratch, 16-aligned, with undefined contents, valid until the next
 * `scratchReset`.
 */
export function scratch(bytes: usize): usize {
  const at = scratchTop;
  const end = at + ((bytes + ALIGN) & ~ALIGN);
  if (end < at || end - at < bytes) full(); // the sum wrapped: it exceeds 4 GiB
  if (end > reached) reach(end);
  scratchTo(end);
  return at;
}

/** Allocates scratch filled with zeros. */
export function scratchZeroed(bytes: usize): usize {
  return zeroed(scratch(bytes), bytes);
}

/** Fills allocated scratch with zeros, up to the next multiple of 16. Returns its address. */
function zeroed(at: usize, bytes: usize): usize {
  if (bytes > FILLED_SINGLY) {
    Mem.fill(at, 0, bytes);
    return at;
  }
  for (let next = at; next < at + bytes; next += 16) Mem.putV128(next, i64x2.splat(0));
  return at;
}

/**
 * Prepares for successive passes over similar amounts of data: sets aside `bytes` bytes of scratch that every
 * pass uses again, so that they stay in the processor's cache.
 */
export function passesBegin(bytes: usize): void {
  passStart = scratch(bytes);
  passEnd = scratchTop;
  passTop = passStart;
}

/** Starts a pass. Discards what earlier passes got from `passScratch`. */
export function passBegin(): void {
  passTop = passStart;
}

/**
 * Like `scratch`, for what is needed only until the next pass starts. Without passes, or if the memory set
 * aside is used up, it is ordinary scratch.
 */
export function passScratch(bytes: usize): usize {
  const at = passTop;
  const wanted = (bytes + ALIGN) & ~ALIGN;
  if (at == 0 || wanted > passEnd - at) return scratch(bytes);
  passTop = at + wanted;
  return at;
}

/** Allocates `passScratch` filled with zeros. */
export function passScratchZeroed(bytes: usize): usize {
  return zeroed(passScratch(bytes), bytes);
}

export function scratchMark(): usize {
  return scratchTop;
}
export function scratchRewind(mark: usize): void {
  if (CHECKED) assert(mark >= top && mark <= scratchTop, "scratch is given back in the reverse order");
  scratchTo(mark);
}

/** Size of a region in bytes, which may be slightly more than requested. */
export function sizeOf(at: usize): usize {
  return <usize>Mem.u32At(at - HEADER);
}

/** Highest end of memory ever in use: the instance's physical memory size in bytes. */
export function reachedBytes(): usize {
  return reached;
}

/** Total bytes in regions, including free ones. */
export function regionBytes(): usize {
  return top - START;
}

/** Total bytes in free regions, which a fresh instance would not have. */
export function freeBytes(): usize {
  let free: usize = 0;
  for (let block = START; block < top; block += HEADER + <usize>Mem.u32At(block)) {
    if (Mem.u32At(block + 4) == 1) free += <usize>Mem.u32At(block);
  }
  return free;
}
