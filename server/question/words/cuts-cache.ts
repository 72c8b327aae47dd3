// Caches the splits of a word that occur in some document, for one index and one generation. A word can be
// split in about ten ways, most of which occur nowhere. A cached word needs neither splitting nor lookups of
// its parts.
import { ClockCache } from "../../../engine-wasm/host/runtime/clock-cache.js";

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
  readonly #cuts = new ClockCache<string, readonly FoundCut[]>(WORDS_MAX);

  /** Null if not cached. `slots` are those of the queried fields. */
  get(slots: readonly number[], term: string): readonly FoundCut[] | null {
    return this.#cuts.get(keyOf(slots, term)) ?? null;
  }

  put(slots: readonly number[], term: string, cuts: readonly FoundCut[]): void {
    this.#cuts.set(keyOf(slots, term), cuts.length === 0 ? NO_CUTS : cuts);
  }

  clear(): void {
    this.#cuts.clear();
  }
}

/** Terms contain no spaces. */
function keyOf(slots: readonly number[], term: string): string {
  return `${slots.join()} ${term}`;
}
