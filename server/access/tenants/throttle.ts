// Limits request rates with token buckets in memory shared by threads. A name may make `perSecond` requests
// per second, in bursts of up to `perSecond` requests. Each thread has its own Throttle object over the same
// table (docs/FORMATS.md, Tables between threads).
//
// A bucket implements ATM's generic cell rate algorithm. Its one word is the theoretical arrival time: when
// the bucket will be full again. A request advances that time by one interval, and is refused if the time is
// already more than `perSecond` - 1 intervals ahead of now. No thread waits for another, so a thread that
// dies at any point cannot block the others.
//
// The number of buckets is fixed. A name's hash selects a set of eight places, and its bucket is in one of
// them. If all eight are taken, the fullest bucket is evicted. Evicting a full bucket loses nothing, because
// a name without a bucket starts with a full one.
import { hash as digestOf, randomFillSync } from "node:crypto";
import { ClockCache } from "../../../engine-wasm/host/runtime/clock-cache.js";
import type { RateLimiter } from "./limiter.js";

const WORD_BYTES = BigInt64Array.BYTES_PER_ELEMENT;
/** Places per set. In memory, a set is its eight names followed by their eight arrival times. */
const PLACES = 8;
const SET_WORDS = 2 * PLACES;
/**
 * Words before the first set. They contain the key for hashing names, and are as long as a set so that sets
 * stay aligned to cache lines.
 */
const HEAD_WORDS = SET_WORDS;
const KEY_BYTES = 16;
const HASH_DIGITS = 16;
/** Maximum number of names whose hashes each thread keeps. Hashing is the most expensive step. */
const HASHES_KEPT = 10_000;
/** Maximum number of buckets. They take 256 MiB. */
const BUCKETS_MAX = 1 << 24;

/**
 * A name's word is 56 bits of the name's hash and an 8-bit mark. The mark says that the name is settled in
 * this place, or which thread is claiming the place for it.
 */
const HASH_BITS = ~0xffn;
const MARK_BITS = 0xffn;
const SETTLED = 1n;
const FIRST_CLAIM = 2;
const NOBODY = 0n;
const NONE = -1;

const NS_PER_SECOND = 1e9;
const NS_PER_MS = 1e6;

export class Throttle implements RateLimiter {
  readonly #words: BigInt64Array;
  readonly #sets: number;
  /** Secret prefix that is hashed with each name, so that nobody can construct names that share a set. */
  readonly #key: string;
  readonly #claimMark: bigint;
  /** Hashes of recently used names. */
  readonly #hashes = new ClockCache<string, bigint>(HASHES_KEPT);

  /** Creates a table of at least `bucketsMax` buckets, but no more than BUCKETS_MAX. All of them are full. */
  static table(bucketsMax: number): SharedArrayBuffer {
    const sets = Math.ceil(Math.min(bucketsMax, BUCKETS_MAX) / PLACES);
    const table = new SharedArrayBuffer((HEAD_WORDS + sets * SET_WORDS) * WORD_BYTES);
    randomFillSync(keyOf(table));
    return table;
  }

  /** `thread` is a number from 0 to 253, unique among the running threads using this table. */
  constructor(table: SharedArrayBuffer, thread: number) {
    this.#words = new BigInt64Array(table);
    this.#sets = (this.#words.length - HEAD_WORDS) / SET_WORDS;
    this.#key = Buffer.from(keyOf(table)).toString("hex");
    this.#claimMark = BigInt(FIRST_CLAIM + thread);
  }

  take(name: string, perSecond: number, nowMs: number): number {
    const words = this.#words;
    const hash = this.#hashOf(name);
    const now = nanoseconds(nowMs);
    const interval = intervalOf(perSecond);
    for (;;) {
      const place = this.#found(hash) ?? this.#claimed(hash, now);
      if (place === null) continue;
      const arrival = Atomics.load(words, place + PLACES);
      const ahead = Math.max(0, Number(arrival - now));
      const wait = secondsUntil(ahead, perSecond);
      if (wait > 0) return wait;
      const next = now + BigInt(ahead + interval);
      if (Atomics.compareExchange(words, place + PLACES, arrival, next) !== arrival) continue;
      // If the bucket was evicted after it was found, the request was charged to the bucket's new owner, so
      // this name tries again with a new bucket of its own.
      if (Atomics.load(words, place) === settled(hash)) return 0;
    }
  }

  charge(name: string, tokens: number, perSecond: number, nowMs: number): void {
    const place = this.#found(this.#hashOf(name));
    // If the bucket has been evicted since it was taken from, it was full.
    if (place === null) return;
    const debt = BigInt(tokens * intervalOf(perSecond));
    const words = this.#words;
    const now = nanoseconds(nowMs);
    for (;;) {
      const arrival = Atomics.load(words, place + PLACES);
      const from = arrival > now ? arrival : now;
      if (Atomics.compareExchange(words, place + PLACES, arrival, from + debt) === arrival) return;
    }
  }

  wait(name: string, perSecond: number, nowMs: number): number {
    const place = this.#found(this.#hashOf(name));
    if (place === null) return 0;
    const ahead = Number(Atomics.load(this.#words, place + PLACES) - nanoseconds(nowMs));
    return secondsUntil(Math.max(0, ahead), perSecond);
  }

  #hashOf(name: string): bigint {
    const known = this.#hashes.get(name);
    if (known !== undefined) return known;
    const digest = digestOf("sha256", this.#key + name).slice(0, HASH_DIGITS);
    const hash = BigInt.asIntN(64, BigInt(`0x${digest}`));
    this.#hashes.set(name, hash);
    return hash;
  }

  /** The place where the name is settled, or null if there is none. */
  #found(hash: bigint): number | null {
    const first = this.#setOf(hash);
    const wanted = settled(hash);
    for (let place = first; place < first + PLACES; place++)
      if (Atomics.load(this.#words, place) === wanted) return place;
    return null;
  }

  /**
   * Claims a place for a name that has none. Returns null if another thread interfered. A name gets only one
   * place even if several threads try at the same time: each thread marks its claim, removes other claims to
   * the same name, and settles its own claim if it is still there. Of two competing threads, the later one
   * sees the other's claim, whichever settles first.
   */
  #claimed(hash: bigint, now: bigint): number | null {
    const words = this.#words;
    const first = this.#setOf(hash);
    const claim = (hash & HASH_BITS) | this.#claimMark;
    const place = this.#fullest(first);
    const arrival = Atomics.load(words, place + PLACES);
    const before = Atomics.load(words, place);
    if (sameName(before, hash)) {
      if (before !== settled(hash)) Atomics.compareExchange(words, place, before, NOBODY);
      return null;
    }
    if (Atomics.compareExchange(words, place, before, claim) !== before) return null;
    for (let other = first; other < first + PLACES; other++) {
      if (other === place) continue;
      const name = Atomics.load(words, other);
      if (!sameName(name, hash)) continue;
      if (name !== settled(hash) && Atomics.compareExchange(words, other, name, NOBODY) === name) continue;
      Atomics.compareExchange(words, place, claim, NOBODY); // another thread has settled the name
      return null;
    }
    // Fill the bucket for the new name, unless the arrival time has changed: another thread may have removed
    // the claim and taken tokens from this place, and they must stay taken.
    if (arrival > now) Atomics.compareExchange(words, place + PLACES, arrival, now);
    return Atomics.compareExchange(words, place, claim, settled(hash)) === claim ? place : null;
  }

  /** The place in the set whose bucket will be full first. */
  #fullest(first: number): number {
    let fullest = NONE;
    let least = 0n;
    for (let place = first; place < first + PLACES; place++) {
      const arrival = Atomics.load(this.#words, place + PLACES);
      if (fullest !== NONE && arrival >= least) continue;
      fullest = place;
      least = arrival;
    }
    return fullest;
  }

  #setOf(hash: bigint): number {
    return HEAD_WORDS + (Number(BigInt.asUintN(32, hash >> 8n)) % this.#sets) * SET_WORDS;
  }
}

function keyOf(table: SharedArrayBuffer): Uint8Array {
  return new Uint8Array(table, 0, KEY_BYTES);
}

function settled(hash: bigint): bigint {
  return (hash & HASH_BITS) | SETTLED;
}

function sameName(word: bigint, hash: bigint): boolean {
  return (word & MARK_BITS) !== NOBODY && (word & HASH_BITS) === (hash & HASH_BITS);
}

function nanoseconds(ms: number): bigint {
  return BigInt(Math.round(ms * NS_PER_MS));
}

/**
 * Nanoseconds between tokens. Rounded down, so that a name never gets fewer than `perSecond` tokens per
 * second.
 */
function intervalOf(perSecond: number): number {
  return Math.floor(NS_PER_SECOND / perSecond);
}

/**
 * Whole seconds until a bucket that will be full in `ahead` nanoseconds has a token. Returns 0 if it has one
 * now.
 */
function secondsUntil(ahead: number, perSecond: number): number {
  return Math.max(0, Math.ceil((ahead - (perSecond - 1) * intervalOf(perSecond)) / NS_PER_SECOND));
}
