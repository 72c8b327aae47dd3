// Counting the different ones among millions of 48-bit numbers. The numbers are hashes, so they spread evenly: they are counted
// range by range, each with a table that fits the processor's cache (partitioned hashing, as in database joins).

const RANGE = 2 ** 48;
/** Numbers of a range, about. The table has four times as many places. */
const RANGE_NUMBERS = 8_192;

/** `lists`: each ascending. */
export function countDistinct(lists: readonly Float64Array[]): number {
  const total = lists.reduce((sum, list) => sum + list.length, 0);
  const ranges = Math.max(1, Math.ceil(total / RANGE_NUMBERS));
  const next = lists.map(() => 0);
  let distinct = 0;
  for (let range = 1; range <= ranges; range++) {
    const end = range === ranges ? Number.POSITIVE_INFINITY : (RANGE / ranges) * range;
    const seen = new Table(countBelow(lists, next, end));
    for (const [i, list] of lists.entries()) {
      let at = next[i] as number;
      for (; at < list.length && (list[at] as number) < end; at++)
        if (seen.add(list[at] as number)) distinct++;
      next[i] = at;
    }
  }
  return distinct;
}

/** How many numbers of the lists, from `next` on, are below `end`: at most, since equal ones count each. */
function countBelow(lists: readonly Float64Array[], next: readonly number[], end: number): number {
  let count = 0;
  for (const [i, list] of lists.entries())
    for (let at = next[i] as number; at < list.length && (list[at] as number) < end; at++) count++;
  return count;
}

/** Open addressing; no number is 0. */
class Table {
  readonly #places: Float64Array;
  readonly #mask: number;

  constructor(numbersMax: number) {
    const places = 2 ** Math.ceil(Math.log2(Math.max(16, numbersMax * 2)));
    this.#places = new Float64Array(places);
    this.#mask = places - 1;
  }

  /** False when it was there. */
  add(number: number): boolean {
    const places = this.#places;
    let at = number % places.length;
    while (places[at] !== 0) {
      if (places[at] === number) return false;
      at = (at + 1) & this.#mask;
    }
    places[at] = number;
    return true;
  }
}
