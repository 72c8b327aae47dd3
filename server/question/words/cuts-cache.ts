// Caches the splits of a word that occur in some document, for one index and one generation. A word can be
// split in about ten ways, most of which occur nowhere. A cached word needs neither splitting nor lookups of
// its parts. Consists of two halves with LRU eviction, like the cache of expansions.

/** Terms that may occur side by side in some document. */
export interface FoundCut {
  readonly terms: readonly string[];
  /** Upper bound on the number of documents that have the terms. */
  readonly frequency: number;
}

const WORDS_MAX = 8_000;
/** Shared by all words without splits, which are the majority. */
const NO_CUTS: readonly FoundCut[] = [];

export class CutsCache {
  #young = new Map<string, readonly FoundCut[]>();
  #old = new Map<string, readonly FoundCut[]>();

  /** Null if not cached. `slots` are those of the queried fields. */
  get(slots: readonly number[], term: string): readonly FoundCut[] | null {
    const key = keyOf(slots, term);
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.#keep(key, old);
    return old ?? null;
  }

  put(slots: readonly number[], term: string, cuts: readonly FoundCut[]): void {
    this.#keep(keyOf(slots, term), cuts.length === 0 ? NO_CUTS : cuts);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }

  #keep(key: string, cuts: readonly FoundCut[]): void {
    if (this.#young.size >= WORDS_MAX / 2) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, cuts);
  }
}

/** Terms contain no spaces. */
function keyOf(slots: readonly number[], term: string): string {
  return `${slots.join()} ${term}`;
}
