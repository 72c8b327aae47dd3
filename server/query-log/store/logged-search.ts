// A search in a log, which is either an open row or a row of a block.
import type { Asker, Person } from "../rows/journal.js";
import { compareSearches, type SearchPlace } from "../rows/trails.js";
import type { MarkedBlock } from "./blocks.js";

export interface LoggedSearch extends SearchPlace, Asker {
  /** Dictionary number of the normalised text. */
  readonly text: number;
  readonly words: string;
  /** Flags; see marks.ts. */
  marks: number;
}

/** A person's searches, in order. */
export interface Trail {
  readonly length: number;
  at(i: number): LoggedSearch | undefined;
}

/** The members of LogState that stored searches use. */
interface BlocksOwner {
  readonly texts: { word(text: number): string };
  marksChanged(block: MarkedBlock): void;
}

/** A search in a block. Setting its marks changes the block's marks. */
export class StoredSearch implements LoggedSearch {
  readonly #owner: BlocksOwner;
  readonly #block: MarkedBlock;
  readonly #row: number;

  constructor(owner: BlocksOwner, block: MarkedBlock, row: number) {
    this.#owner = owner;
    this.#block = block;
    this.#row = row;
  }

  get at(): number {
    return this.#block.searches.at[this.#row] as number;
  }

  get counter(): number {
    return this.#block.searches.counter[this.#row] as number;
  }

  get frontEnd(): number {
    return this.#block.searches.frontEnd[this.#row] as number;
  }

  get text(): number {
    return this.#block.searches.text[this.#row] as number;
  }

  get words(): string {
    return this.#owner.texts.word(this.text);
  }

  get user(): Person {
    return this.#block.searches.user[this.#row] as number;
  }

  get session(): Person {
    return this.#block.searches.session[this.#row] as number;
  }

  get marks(): number {
    return this.#block.marks[this.#row] as number;
  }

  set marks(marks: number) {
    if (marks === this.marks) return;
    this.#block.marks[this.#row] = marks;
    this.#owner.marksChanged(this.#block);
  }
}

export function storedTrail(owner: BlocksOwner, block: MarkedBlock, rows: readonly number[]): Trail {
  const at = (i: number): LoggedSearch | undefined =>
    i < rows.length ? new StoredSearch(owner, block, rows[i] as number) : undefined;
  return { length: rows.length, at };
}

/**
 * Returns the last search before `place` in any of the trails, but none before `fromMs`. If `text` is given,
 * only searches for that text count.
 */
export function lastBefore(
  trails: readonly Trail[],
  place: SearchPlace,
  fromMs: number,
  text?: number,
): LoggedSearch | undefined {
  let last: LoggedSearch | undefined;
  for (const trail of trails) {
    for (let i = countBefore(trail, place) - 1; i >= 0; i--) {
      const search = trail.at(i) as LoggedSearch;
      if (search.at < fromMs || (last !== undefined && compareSearches(search, last) < 0)) break;
      if (text !== undefined && search.text !== text) continue;
      last = search;
      break;
    }
  }
  return last;
}

/** Returns the first search after `place` in any of the trails, but none after `toMs`. */
export function firstAfter(
  trails: readonly Trail[],
  place: SearchPlace,
  toMs: number,
): LoggedSearch | undefined {
  let first: LoggedSearch | undefined;
  for (const trail of trails) {
    const before = countBefore(trail, place);
    const found = trail.at(before);
    const isIt = found !== undefined && compareSearches(found, place) === 0;
    const next = isIt ? trail.at(before + 1) : found;
    if (next === undefined || next.at > toMs) continue;
    if (first === undefined || compareSearches(next, first) < 0) first = next;
  }
  return first;
}

/** Returns the number of searches in the trail that come before `place`. */
function countBefore(trail: Trail, place: SearchPlace): number {
  let low = 0;
  for (let high = trail.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if (compareSearches(trail.at(middle) as LoggedSearch, place) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
