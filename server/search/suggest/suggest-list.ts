// The list of suggestions under construction: its order, and the absence of duplicates. Knows nothing about
// the origin of suggestions.
import type { TextAnalyser } from "../../catalog/schema/text-analyser.js";

/** Used in `suggest_by`, and as the field of a suggestion, for past searches. */
export const LOGGED_QUERIES = "_queries";

export type Suggestion =
  | { readonly value: string; readonly field: string; readonly document_id: string }
  | { readonly value: string; readonly field: string; readonly count: number };

/**
 * The list, filled in rounds. Within a round, values that start with the input come first, each kind in the
 * order of `add`. A document's value that equals an earlier one after folding is dropped.
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

  /** True if nothing more that is added to the round would be shown. */
  get roundFull(): boolean {
    return this.#closed.length + this.#starting.length >= this.#max;
  }

  /** Returns false if it was not added, because the list is full or already contains it. */
  add(suggestion: Suggestion, startsWithInput: boolean): boolean {
    const kind = startsWithInput ? this.#starting : this.#others;
    if (this.#closed.length + kind.length >= this.#max) return false;
    const key = this.#key(suggestion);
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    kind.push(suggestion);
    return true;
  }

  /** Groups are distinguished like facet values, by every byte, so that each count is exact. */
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
