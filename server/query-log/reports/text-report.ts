// Computes the report on the most frequent searches, overall and among those without results.

import { ColumnReader } from "../rows/columns.js";
import { CLICKED, SUPERSEDED } from "../rows/marks.js";
import type { OpenSearch } from "../rows/open-rows.js";
import { eachText, type RollupPart } from "../rows/rollup.js";
import type { MarkedBlock } from "../store/blocks.js";
import type { Dictionary } from "../store/dictionary.js";
import type { LogState } from "../store/log-state.js";
import { rankedWords } from "./ranked-words.js";
import type { Window, WindowReader } from "./window.js";

export interface TextRow {
  readonly query: string;
  readonly count: number;
  readonly found: number;
  readonly clicked: number;
}

/** Counts for each text. Arrays are indexed by the text's dictionary number. */
export class TextTally implements WindowReader {
  readonly #texts: Dictionary;
  readonly #searches: Uint32Array;
  readonly #noResults: Uint32Array;
  readonly #found: Float64Array;
  readonly #clicked: Uint32Array;

  constructor({ texts }: LogState) {
    this.#texts = texts;
    this.#searches = new Uint32Array(texts.next);
    this.#noResults = new Uint32Array(texts.next);
    this.#found = new Float64Array(texts.next);
    this.#clicked = new Uint32Array(texts.next);
  }

  openSearch({ text, found, marks }: OpenSearch): void {
    this.#add(text, found, marks);
  }

  searches({ searches, marks }: MarkedBlock, { fromMs, toMs }: Window): void {
    for (let row = 0; row < searches.rows; row++) {
      const at = searches.at[row] as number;
      if (at >= fromMs && at < toMs)
        this.#add(searches.text[row] as number, searches.found[row] as number, marks[row] as number);
    }
  }

  rollup(_part: RollupPart, bytes: Uint8Array): void {
    const searches = this.#searches;
    const noResults = this.#noResults;
    const found = this.#found;
    const clicked = this.#clicked;
    eachText(new ColumnReader(bytes), (text, count, none, hits, withClick) => {
      searches[text] = (searches[text] as number) + count;
      noResults[text] = (noResults[text] as number) + none;
      found[text] = (found[text] as number) + hits;
      clicked[text] = (clicked[text] as number) + withClick;
    });
  }

  /**
   * Returns the texts with the most searches or, if `noResultsOnly` is true, with the most searches without
   * results. Texts with equal counts are in alphabetical order.
   */
  top(limit: number, noResultsOnly: boolean): Promise<TextRow[]> {
    return this.#first(limit, noResultsOnly ? this.#noResults : this.#searches);
  }

  /**
   * Returns the texts with the most searches, but only those with at least `searchesMin` searches, more than
   * half of them with results.
   */
  popular(limit: number, searchesMin: number): Promise<TextRow[]> {
    const counts = this.#searches.map((count, number) =>
      count >= searchesMin && 2 * (this.#noResults[number] as number) < count ? count : 0,
    );
    return this.#first(limit, counts);
  }

  /**
   * Returns the `limit` texts with the highest `counts`, highest first. Texts with equal counts are in
   * alphabetical order.
   */
  async #first(limit: number, counts: Uint32Array): Promise<TextRow[]> {
    const least = countAt(counts, limit);
    const sure: number[] = [];
    const tied: number[] = [];
    for (let number = 1; number < counts.length; number++) {
      const count = counts[number] as number;
      if (count > least) sure.push(number);
      else if (count === least && count > 0) tied.push(number);
    }
    const byCount = (a: number, b: number): number => (counts[b] as number) - (counts[a] as number);
    const rows = await rankedWords(this.#texts, { sure, tied, limit, compare: byCount });
    return rows.map(({ word, number }) => ({
      query: word,
      count: counts[number] as number,
      found: this.#found[number] as number,
      clicked: this.#clicked[number] as number,
    }));
  }

  #add(text: number, found: number, marks: number): void {
    if ((marks & SUPERSEDED) !== 0) return;
    this.#searches[text] = (this.#searches[text] as number) + 1;
    this.#noResults[text] = (this.#noResults[text] as number) + (found === 0 ? 1 : 0);
    this.#found[text] = (this.#found[text] as number) + found;
    this.#clicked[text] = (this.#clicked[text] as number) + ((marks & CLICKED) !== 0 ? 1 : 0);
  }
}

/**
 * Counts below this are tallied in an array, so that finding the `rank`-th highest count needs no sorting.
 * Only the few counts from this on are sorted.
 */
const COUNTED_MAX = 4096;

/** Returns the `rank`-th highest of the counts, or 1 if fewer entries have a count. */
function countAt(counts: Uint32Array, rank: number): number {
  const entriesByCount = new Uint32Array(COUNTED_MAX + 1);
  for (const count of counts) entriesByCount[Math.min(count, COUNTED_MAX)]!++;
  let left = rank;
  for (let count = COUNTED_MAX; count >= 1; count--) {
    const entries = entriesByCount[count] as number;
    if (entries >= left) {
      if (count < COUNTED_MAX) return count;
      const large = counts.filter((one) => one >= COUNTED_MAX).sort();
      return large[large.length - left] as number;
    }
    left -= entries;
  }
  return 1;
}
