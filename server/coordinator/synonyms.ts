// The synonym groups of an index as its queries read them: from a stretch of query terms to the entries that
// may stand for it. Entries run through the same analyser as the query. Built once per set of groups.
import type { SynonymGroup } from "../catalog/types.js";
import type { TextAnalyser } from "./text-analyser.js";

/** Terms [first, first + count) of the query are an entry; `others` are the terms of those it stands for. */
export interface SynonymMatch {
  readonly first: number;
  readonly count: number;
  readonly others: readonly (readonly string[])[];
}

/** Entries that one stretch of a query may stand for, at most. */
const OTHERS_MAX = 200;

export class SynonymMap {
  readonly #others = new Map<string, string[][]>();
  #longest = 0;

  constructor(groups: readonly SynonymGroup[], analyser: TextAnalyser) {
    for (const group of groups) {
      if (!group.enabled) continue;
      const entries = group.synonyms
        .map((entry) => analyser.terms(entry))
        .filter((terms) => terms.length > 0);
      if (group.type === "multi_way") {
        for (const entry of entries) this.#add(entry, entries);
      } else if (group.root !== null) {
        this.#add(analyser.terms(group.root), entries);
      }
    }
  }

  get isEmpty(): boolean {
    return this.#others.size === 0;
  }

  /** All stretches of the terms that are entries, shorter ones inside longer ones included. */
  matches(terms: readonly string[]): SynonymMatch[] {
    const matches: SynonymMatch[] = [];
    for (let first = 0; first < terms.length; first++) {
      for (let count = Math.min(this.#longest, terms.length - first); count > 0; count--) {
        const others = this.#others.get(keyOf(terms.slice(first, first + count)));
        if (others !== undefined) matches.push({ first, count, others });
      }
    }
    return matches;
  }

  #add(entry: readonly string[], group: readonly string[][]): void {
    if (entry.length === 0) return;
    const key = keyOf(entry);
    const known = this.#others.get(key) ?? [];
    const seen = new Set([key, ...known.map(keyOf)]);
    for (const other of group) {
      if (known.length < OTHERS_MAX && !seen.has(keyOf(other))) known.push(other);
      seen.add(keyOf(other));
    }
    if (known.length > 0) this.#others.set(key, known);
    this.#longest = Math.max(this.#longest, entry.length);
  }
}

/** Terms hold no space. */
function keyOf(terms: readonly string[]): string {
  return terms.join(" ");
}
