// Prepares an index's synonym groups for queries: maps sequences of query terms to the entries that may
// replace them. Entries go through the same analyser as queries. Built once for each state of the groups.

import type { SynonymGroup } from "../../catalog/records/synonym.js";
import type { TextAnalyser } from "../../catalog/schema/text-analyser.js";
import { recordTerms } from "./record-terms.js";

/**
 * An entry found in the query, at terms [first, first + count). `others` contains the terms of the entries
 * that may replace it.
 */
export interface SynonymMatch {
  readonly first: number;
  readonly count: number;
  readonly others: readonly (readonly string[])[];
}

/** Maximum number of replacements per sequence of query terms. */
const OTHERS_MAX = 200;
/**
 * Maximum number of distinct term sequences that are replaced in a query. Together with OTHERS_MAX, keeps the
 * query within a search program's capacity.
 */
const STRETCHES_MAX = 100;

const NO_LENGTHS: readonly number[] = [];

/** A synonym's terms, and a key that identifies them. */
interface Entry {
  readonly key: string;
  readonly terms: readonly string[];
}

export class SynonymMap {
  /**
   * For each entry, by its key: the groups whose other entries may replace it. They are combined when needed.
   */
  readonly #groups = new Map<string, (readonly Entry[])[]>();
  /** For each term: the distinct lengths of the entries that begin with it, longest first. */
  readonly #lengths = new Map<string, number[]>();

  constructor(groups: readonly SynonymGroup[], analyser: TextAnalyser) {
    for (const group of groups) {
      if (!group.enabled) continue;
      const all = recordTerms(group, [group.root ?? "", ...group.synonyms], analyser).map(entryOf);
      const [root, ...others] = all as [Entry, ...Entry[]];
      const entries = others.filter(({ terms }) => terms.length > 0);
      if (group.type === "multi_way") {
        for (const entry of entries) this.#add(entry, entries);
      } else {
        this.#add(root, entries);
      }
    }
    for (const lengths of this.#lengths.values()) lengths.sort((a, b) => b - a);
  }

  get isEmpty(): boolean {
    return this.#groups.size === 0;
  }

  /**
   * Returns all sequences of the terms that are entries, including shorter entries inside longer ones. A
   * sequence that occurs several times is returned each time.
   */
  matches(terms: readonly string[]): SynonymMatch[] {
    const matches: SynonymMatch[] = [];
    if (!terms.some((term) => this.#lengths.has(term))) return matches;
    const known = new Map<string, SynonymMatch["others"]>();
    for (let first = 0; first < terms.length; first++) {
      for (const count of this.#lengths.get(terms[first]!) ?? NO_LENGTHS) {
        if (count > terms.length - first) continue;
        const key = keyOf(terms.slice(first, first + count));
        const others = known.get(key) ?? (known.size < STRETCHES_MAX ? this.#others(key) : []);
        if (others.length === 0) continue;
        known.set(key, others);
        matches.push({ first, count, others });
      }
    }
    return matches;
  }

  /** Returns an entry's replacements without duplicates, in the order of the groups. */
  #others(key: string): SynonymMatch["others"] {
    const others = new Map<string, readonly string[]>();
    for (const group of this.#groups.get(key) ?? []) {
      for (const entry of group) {
        if (entry.key !== key && others.size < OTHERS_MAX) others.set(entry.key, entry.terms);
      }
      if (others.size === OTHERS_MAX) break;
    }
    return [...others.values()];
  }

  #add({ key, terms }: Entry, group: readonly Entry[]): void {
    const [first] = terms;
    if (first === undefined) return;
    const known = this.#groups.get(key);
    if (known === undefined) this.#groups.set(key, [group]);
    else known.push(group);
    const lengths = this.#lengths.get(first);
    if (lengths === undefined) this.#lengths.set(first, [terms.length]);
    else if (!lengths.includes(terms.length)) lengths.push(terms.length);
  }
}

function entryOf(terms: readonly string[]): Entry {
  return { key: keyOf(terms), terms };
}

/** Returns a key for the terms. Terms contain no spaces, so a space can separate them. */
function keyOf(terms: readonly string[]): string {
  return terms.join(" ");
}
