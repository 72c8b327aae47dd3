// A map of bounded weight that keeps what is used: the one cache for the server and the shards. Evicts by
// second chance (the "clock" of page replacement): a lookup only marks its entry, and eviction takes the oldest
// entry that was not used since eviction last looked at it. It keeps about what LRU keeps, and a hit costs
// little more than one of a plain map.

interface Entry<V> {
  readonly value: V;
  readonly weight: number;
  /** Since eviction last looked at it. */
  used: boolean;
}

export class ClockCache<K, V> {
  readonly #weightMax: number;
  /** In the order in which the hand reaches them. */
  #entries = new Map<K, Entry<V>>();
  /**
   * Stands before the oldest entry, because eviction removes what it passes or moves it to the end. Keeping it
   * spares each eviction the walk over deleted entries at the front. Null after other deletions: an iterator
   * that does not move keeps alive every table that V8 has replaced since.
   */
  #hand: Iterator<[K, Entry<V>]> | null = null;
  #weight = 0;

  /** The entries' weights never add up to more than `weightMax`. */
  constructor(weightMax: number) {
    this.#weightMax = weightMax;
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.used = true;
    return entry.value;
  }

  /** Replaces the key's value. A value heavier than the whole cache is not kept. */
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

  /** Does not count as use. Entries may be deleted meanwhile. */
  *entries(): Generator<[K, V]> {
    for (const [key, { value }] of this.#entries) yield [key, value];
  }

  /** Requires an entry. */
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
