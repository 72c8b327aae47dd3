// A set of pairs of whole numbers, made for millions of pairs. It is a hash table with open addressing in one
// array, instead of one string per pair.

const PLACES_MIN = 1024;
/** A pair of numbers below these limits fits exactly into one double. */
const FIRST_END = 2 ** 27 - 1;
const SECOND_END = 2 ** 26;
const SPREAD = [0x9e3779b1, 0x85ebca6b] as const;

export class NumberPairs {
  /** The hash table's slots. An empty slot is 0. */
  #places = new Float64Array(PLACES_MIN);
  #size = 0;

  /**
   * Adds the pair. Returns false if it was already present. Throws RangeError if the first number is >= 2^27
   * - 1 or the second >= 2^26.
   */
  add(first: number, second: number): boolean {
    if (first >= FIRST_END || second >= SECOND_END) throw new RangeError("the pair is too large");
    const pair = (first + 1) * SECOND_END + second;
    if (!put(this.#places, pair)) return false;
    this.#size++;
    if (this.#size * 2 > this.#places.length) this.#grow();
    return true;
  }

  #grow(): void {
    const larger = new Float64Array(this.#places.length * 2);
    for (const pair of this.#places) if (pair !== 0) put(larger, pair);
    this.#places = larger;
  }
}

function put(places: Float64Array, pair: number): boolean {
  const mask = places.length - 1;
  const mixed = Math.imul(pair | 0, SPREAD[0]) ^ Math.imul((pair / SECOND_END) | 0, SPREAD[1]);
  let place = (mixed ^ (mixed >>> 15)) & mask;
  while (places[place] !== 0) {
    if (places[place] === pair) return false;
    place = (place + 1) & mask;
  }
  places[place] = pair;
  return true;
}
