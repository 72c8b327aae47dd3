// Tells whether a person may have searched for a text in a block of searches, without reading the block. It
// is a Bloom filter over (person, text) pairs (Bloom, 1970), probed with two hashes (Kirsch and Mitzenmacher,
// 2006). About one absent pair in a thousand is a false positive; there are no false negatives.
import { type Asker, NOBODY, type Person } from "./journal.js";
import type { SearchBlock } from "./search-block.js";

const BITS_PER_PAIR = 16;
const PROBES = 6;
const BITS_MIN = 64;

export class AskedFilter {
  readonly #words: Uint32Array;
  readonly #mask: number;

  constructor({ rows, user, session, text }: SearchBlock) {
    let pairs = 0;
    for (let row = 0; row < rows; row++)
      pairs += (user[row] === NOBODY ? 0 : 1) + (session[row] === NOBODY ? 0 : 1);
    const bits = 2 ** Math.ceil(Math.log2(Math.max(BITS_MIN, pairs * BITS_PER_PAIR)));
    this.#words = new Uint32Array(bits / 32);
    this.#mask = bits - 1;
    for (let row = 0; row < rows; row++) {
      this.#add(user[row] as Person, text[row] as number);
      this.#add(session[row] as Person, text[row] as number);
    }
  }

  get bytes(): number {
    return this.#words.byteLength;
  }

  /** If false, neither the user nor the session has searched for the text in this block. */
  mayHold({ user, session }: Asker, text: number): boolean {
    return this.#has(user, text) || this.#has(session, text);
  }

  #add(person: Person, text: number): void {
    if (person === NOBODY) return;
    let bit = firstHash(person, text);
    const step = secondHash(person, text);
    for (let probe = 0; probe < PROBES; probe++, bit += step) {
      const at = bit & this.#mask;
      (this.#words[at >>> 5] as number) |= 1 << (at & 31);
    }
  }

  #has(person: Person, text: number): boolean {
    if (person === NOBODY) return false;
    let bit = firstHash(person, text);
    const step = secondHash(person, text);
    for (let probe = 0; probe < PROBES; probe++, bit += step) {
      const at = bit & this.#mask;
      if (((this.#words[at >>> 5] as number) & (1 << (at & 31))) === 0) return false;
    }
    return true;
  }
}

/** Needs little mixing, because a Person is already a 48-bit hash and a text is a small number. */
function firstHash(person: Person, text: number): number {
  return mixed((person >>> 0) ^ Math.imul(text, 0x9e3779b1));
}

/** Always odd, so that the probes differ. */
function secondHash(person: Person, text: number): number {
  return mixed(Math.trunc(person / 2 ** 16) ^ Math.imul(text, 0x85ebca6b)) | 1;
}

/** The MurmurHash3 finalizer (Austin Appleby). */
function mixed(hash: number): number {
  let mix = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
}
