// Counts distinct values among millions of 48-bit hashes. Hashes are evenly distributed, so they are counted
// one range of values at a time, with a table that fits into the processor's cache (partitioned hashing, as
// in database joins).

const RANGE = 2 ** 48;
/** Approximate number of entries per range. */
const RANGE_NUMBERS = 4_096;
const PLACES_MIN_BITS = 13;
/** Multiplier that spreads numbers over the table by their lowest 32 bits (multiplicative hashing, Knuth). */
const SPREAD = 0x9e3779b1;

/**
 * Returns how many different numbers the lists contain. Each list must be in ascending order, and no number
 * may be 0.
 */
export function countDistinct(lists: readonly Float64Array[]): number {
  const total = lists.reduce((sum, list) => sum + list.length, 0);
  const ranges = Math.max(1, Math.ceil(total / RANGE_NUMBERS));
  const next = new Uint32Array(lists.length);
  let bits = PLACES_MIN_BITS;
  let places = new Float64Array(2 ** bits);
  let distinct = 0;
  for (let range = 1; range <= ranges; range++) {
    const end = range === ranges ? Number.POSITIVE_INFINITY : (RANGE / ranges) * range;
    const numbers = countBelow(lists, next, end);
    while (2 ** bits < numbers * 2) bits++;
    if (places.length < 2 ** bits) places = new Float64Array(2 ** bits);
    else places.fill(0);
    distinct += countRange(lists, next, end, places, 32 - bits);
  }
  return distinct;
}

/** Counts the numbers below `end` from each list's position `next` on, including duplicates. */
function countBelow(lists: readonly Float64Array[], next: Uint32Array, end: number): number {
  let count = 0;
  for (const [i, list] of lists.entries())
    for (let at = next[i] as number; at < list.length && (list[at] as number) < end; at++) count++;
  return count;
}

/**
 * Counts the distinct numbers below `end` from each list's position `next` on, and advances the positions
 * past them. `places` is an empty table with room for at least twice as many numbers.
 */
function countRange(
  lists: readonly Float64Array[],
  next: Uint32Array,
  end: number,
  places: Float64Array,
  shift: number,
): number {
  const mask = places.length - 1;
  let distinct = 0;
  for (const [i, list] of lists.entries()) {
    let at = next[i] as number;
    for (; at < list.length; at++) {
      const number = list[at] as number;
      if (number >= end) break;
      let place = Math.imul(number | 0, SPREAD) >>> shift;
      while (places[place] !== 0 && places[place] !== number) place = (place + 1) & mask;
      if (places[place] === number) continue;
      places[place] = number;
      distinct++;
    }
    next[i] = at;
  }
  return distinct;
}
