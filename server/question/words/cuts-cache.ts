// Caches the ways to cut a word that occur in some document, for one index and one generation. There are ten
// ways to cut a word, and most occur nowhere: a cached word needs neither cutting nor lookups of its pieces.
// Has two halves with LRU eviction, like the cache of expansions.

/** Terms that some document may have side by side. */
export interface FoundCut {
  readonly terms: readonly string[];
  /** Upper bound on the number of documents with them. */
  readonly frequency: number;
}

const WORDS_MAX = 8_000;
/** Most words have none. */
const NO_CUTS: readonly FoundCut[] = [];

export class CutsCache {
  #young = new Map<string, readonly FoundCut[]>();
  #old = new Map<string, readonly FoundCut[]>();

  /** Null if not cached. `slots`: those of the queried fields. */
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
