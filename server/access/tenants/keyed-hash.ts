// HalfSipHash-1-3 with 64 bits of result (Aumasson and Bernstein, SipHash): who does not know the key cannot make texts that
// collide. Its words have 32 bits, which JavaScript computes with as they are.

const BITS_PER_UNIT = 16;
const BYTES_PER_UNIT = 2;
const UNITS_PER_WORD = 2;
const FINAL_ROUNDS = 3;
const LOW_BITS = 0xff;

export class KeyedHash {
  readonly #key: Uint32Array;
  readonly #state = new Int32Array(4);
  readonly #halves = new Uint32Array(2);
  readonly #whole = new BigInt64Array(this.#halves.buffer);

  /** `key`: two random words. */
  constructor(key: Uint32Array) {
    this.#key = key;
  }

  /** Of the UTF-16 units of a text, the low half of each word first. */
  of(text: string): bigint {
    const v = this.#state as unknown as State;
    const k0 = this.#key[0] as number;
    const k1 = this.#key[1] as number;
    v[0] = k0;
    v[1] = k1 ^ 0xee;
    v[2] = 0x6c796765 ^ k0;
    v[3] = 0x74656462 ^ k1;
    const whole = text.length - (text.length % UNITS_PER_WORD);
    for (let i = 0; i < whole; i += UNITS_PER_WORD)
      take(v, text.charCodeAt(i) | (text.charCodeAt(i + 1) << BITS_PER_UNIT));
    const rest = whole < text.length ? text.charCodeAt(whole) : 0;
    take(v, rest | (((text.length * BYTES_PER_UNIT) & LOW_BITS) << 24));
    v[2] ^= 0xee;
    for (let i = 0; i < FINAL_ROUNDS; i++) mix(v);
    this.#halves[0] = v[1] ^ v[3];
    v[1] ^= 0xdd;
    for (let i = 0; i < FINAL_ROUNDS; i++) mix(v);
    this.#halves[1] = v[1] ^ v[3];
    return this.#whole[0] as bigint;
  }
}

/** Four words in an Int32Array, which TypeScript would read with a check for each. */
type State = [number, number, number, number];

function take(v: State, word: number): void {
  v[3] ^= word;
  mix(v);
  v[0] ^= word;
}

function mix(v: State): void {
  let b = v[1];
  let c = v[2];
  let d = v[3];
  let a = (v[0] + b) | 0;
  b = rotated(b, 5) ^ a;
  a = rotated(a, 16);
  c = (c + d) | 0;
  d = rotated(d, 8) ^ c;
  a = (a + d) | 0;
  d = rotated(d, 7) ^ a;
  c = (c + b) | 0;
  b = rotated(b, 13) ^ c;
  c = rotated(c, 16);
  v[0] = a;
  v[1] = b;
  v[2] = c;
  v[3] = d;
}

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
