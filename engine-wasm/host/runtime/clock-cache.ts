// A cache of bounded weight, used throughout the server and the shards. Eviction follows the second-chance
// ("clock") page replacement algorithm: a lookup only marks its entry, and eviction removes the oldest entry
// not looked up since eviction last passed it. The hit rate is close to LRU's, and a hit costs little more
// than a lookup in a plain map.

interface Entry<V> {
  readonly value: V;
  readonly weight: number;
  /** True if the entry was looked up since eviction last passed it. */
  used: boolean;
}

export class ClockCache<K, V> {
  readonly #weightMax: number;
  /** The entries, in the order in which eviction visits them. */
  #entries = new Map<K, Entry<V>>();
  /**
   * Always positioned before the oldest entry, because eviction either removes the entries it passes or moves
   * them to the end. Reusing the iterator avoids walking over deleted entries at the front. Reset to null
   * after any other deletion, because an idle iterator keeps alive every hash table that V8 has replaced
   * since.
   */
  #hand: Iterator<[K, Entry<V>]> | null = null;
  #weight = 0;

  /** The total weight of the entries never exceeds `weightMax`. */
  constructor(weightMax: number) {
    this.#weightMax = weightMax;
  }

  /** Total weight of the entries. */
  get weight(): number {
    return this.#weight;
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.used = true;
    return entry.value;
  }

  /** Sets the key's value. A value heavier than `weightMax` is not kept. */
  set(key: K, value: V, weight = 1): void {
    this.delete(key);
    if (weight > this.#weightMax) return;
    while (this.#weight + weight > this.#weightMax) this.#evict();
    this.#entries.set(key, { value, weight, used: false });
    this.#weight += weight;
  }

  delete(key: K): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#hand = null;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }

  clear(): void {
    this.#hand = null;
    this.#entries = new Map();
    this.#weight = 0;
  }

  /** Does not mark entries as used. Entries may be deleted during the iteration. */
  *entries(): Generator<[K, V]> {
    for (const [key, { value }] of this.#entries) yield [key, value];
  }

  /** Requires at least one entry. */
  #evict(): void {
    this.#hand ??= this.#entries.entries();
    for (;;) {
      const [key, entry] = this.#hand.next().value as [K, Entry<V>];
      this.#entries.delete(key);
      if (!entry.used) {
        this.#weight -= entry.weight;
        return;
      }
      entry.used = false;
      this.#entries.set(key, entry);
    }
  }
}
