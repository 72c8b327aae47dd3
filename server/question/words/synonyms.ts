// The synonym groups of an index as its queries read them: from a stretch of query terms to the entries that
// may stand for it. Entries run through the same analyser as the query. Built once per set of groups.

import type { SynonymGroup } from "../../catalog/records/synonym.js";
import type { TextAnalyser } from "../../catalog/schema/text-analyser.js";
import { recordTerms } from "./record-terms.js";

/** Terms [first, first + count) of the query are an entry. `others` are the terms of the entries that it may stand for. */
export interface SynonymMatch {
  readonly first: number;
  readonly count: number;
  readonly others: readonly (readonly string[])[];
}

/** How many entries one stretch of a query may stand for. */
const OTHERS_MAX = 200;
/** How many different stretches of a query are replaced. Together with OTHERS_MAX it keeps within what a search program can hold. */
const STRETCHES_MAX = 100;

/** The terms of an entry, and a key made of them. */
interface Entry {
  readonly key: string;
  readonly terms: readonly string[];
}

export class SynonymMap {
  /** By the key of an entry, the groups whose other entries it finds. Those are put together when somebody asks for them. */
  readonly #groups = new Map<string, (readonly Entry[])[]>();
  /** How many terms an entry can have. */
  readonly #lengths = new Set<number>();

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
  }

  get isEmpty(): boolean {
    return this.#groups.size === 0;
  }

  /** All stretches of the terms that are entries, including shorter ones inside of longer ones. A repeated stretch is given each time. */
  matches(terms: readonly string[]): SynonymMatch[] {
    const matches: SynonymMatch[] = [];
    const known = new Map<string, SynonymMatch["others"]>();
    const lengths = [...this.#lengths].sort((a, b) => b - a);
    for (let first = 0; first < terms.length; first++) {
      for (const count of lengths) {
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

  /** The entries that an entry stands for, each once, in the order of the groups. */
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
    if (terms.length === 0) return;
    const known = this.#groups.get(key);
    if (known === undefined) this.#groups.set(key, [group]);
    else known.push(group);
    this.#lengths.add(terms.length);
  }
}

function entryOf(terms: readonly string[]): Entry {
  return { key: keyOf(terms), terms };
}

/** A key for the terms. A space can separate them because terms hold no space. */
function keyOf(terms: readonly string[]): string {
  return terms.join(" ");
}
