// The list of suggestions under construction. Keeps them in order and drops duplicates. Knows nothing about
// where suggestions come from.
import type { TextAnalyser } from "../../catalog/schema/text-analyser.js";

/** The name that stands for past searches, in `suggest_by` and as a suggestion's field. */
export const LOGGED_QUERIES = "_queries";

export type Suggestion =
  | { readonly value: string; readonly field: string; readonly document_id: string }
  | { readonly value: string; readonly field: string; readonly count: number };

/**
 * The list, filled in rounds. Within a round, values that start with the input come first, and the order is
 * otherwise that of the `add` calls. A document's value or a popular query is dropped if an earlier
 * suggestion is equal after folding.
 */
export class SuggestionList {
  readonly #max: number;
  readonly #analyser: TextAnalyser;
  readonly #seen = new Set<string>();
  readonly #closed: Suggestion[] = [];
  #starting: Suggestion[] = [];
  #others: Suggestion[] = [];

  constructor(max: number, analyser: TextAnalyser) {
    this.#max = max;
    this.#analyser = analyser;
  }

  get suggestions(): Suggestion[] {
    return this.#closed;
  }

  get full(): boolean {
    return this.#closed.length >= this.#max;
  }

  /** True if this round already fills the list, so that further additions would not be shown. */
  get roundFull(): boolean {
    return this.#closed.length + this.#starting.length >= this.#max;
  }

  /** Returns false if the suggestion was not added because the list is full or already contains it. */
  add(suggestion: Suggestion, startsWithInput: boolean): boolean {
    const kind = startsWithInput ? this.#starting : this.#others;
    if (this.#closed.length + kind.length >= this.#max) return false;
    const key = this.#key(suggestion);
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    kind.push(suggestion);
    return true;
  }

  /**
   * Returns the key by which duplicates are found. Groups with different bytes stay separate, like facet
   * values, so that their counts are exact; other suggestions are folded.
   */
  #key(suggestion: Suggestion): string {
    if ("count" in suggestion && suggestion.field !== LOGGED_QUERIES) return suggestion.value;
    return Buffer.from(this.#analyser.fold(suggestion.value)).toString("latin1");
  }

  closeRound(): void {
    const free = this.#max - this.#closed.length;
    this.#closed.push(...[...this.#starting, ...this.#others].slice(0, free));
    this.#starting = [];
    this.#others = [];
  }
}
