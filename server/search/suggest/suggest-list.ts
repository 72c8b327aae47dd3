// The list of suggestions as it fills up: what stands before what, and that nothing stands there twice. Knows
// nothing of where suggestions come from.
import type { TextAnalyser } from "../../catalog/schema/text-analyser.js";

/** Stands in `suggest_by` and as the field of a suggestion for the queries that people searched for. */
export const LOGGED_QUERIES = "_queries";

export type Suggestion =
  | { readonly value: string; readonly field: string; readonly document_id: string }
  | { readonly value: string; readonly field: string; readonly count: number };

/**
 * The list as it fills up, in rounds. Within a round values that start with the input stand before the others,
 * each kind in the order of `add`; a value of a document that is equal to an earlier one after folding is dropped.
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

  /** Nothing that could be added to the round would be shown. */
  get roundFull(): boolean {
    return this.#closed.length + this.#starting.length >= this.#max;
  }

  /** False when it was not added: there is no room, or it is there already. */
  add(suggestion: Suggestion, startsWithInput: boolean): boolean {
    const kind = startsWithInput ? this.#starting : this.#others;
    if (this.#closed.length + kind.length >= this.#max) return false;
    const key = this.#key(suggestion);
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    kind.push(suggestion);
    return true;
  }

  /** Groups are told apart like facet values: by every byte, so that each count is exact. */
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
