// Caches which ways of splitting a word (cuts) occur in some document, for one index and one generation. A
// word can be split in about ten ways, most of which occur in no document. If a word is cached, it need not
// be split again, and no parts need to be looked up.
import { ClockCache } from "../../../engine-wasm/host/runtime/clock-cache.js";

/** The parts of a split word, which some document may contain side by side. */
export interface FoundCut {
  readonly terms: readonly string[];
  /** Upper bound on the number of documents that contain the terms. */
  readonly frequency: number;
}

const WORDS_MAX = 8_000;
/** Shared by all words without splits, which are the majority. */
const NO_CUTS: readonly FoundCut[] = [];

export class CutsCache {
  readonly #cuts = new ClockCache<string, readonly FoundCut[]>(WORDS_MAX);

  /** Returns null if the word is not cached. `slots` are the slots of the queried fields. */
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

/** Terms contain no spaces, so the key is unambiguous. */
function keyOf(slots: readonly number[], term: string): string {
  return `${slots.join()} ${term}`;
}
