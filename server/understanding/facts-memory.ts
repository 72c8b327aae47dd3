// Remembers the facts of the indexes that were asked lately, within a number of values. Facts are those of one generation. Of a
// large index older ones serve for a while, because counting its facets anew after each write would cost more than a value
// that is found a few seconds late: what is read is tried on the index as it is now in any case.
import type { IndexRecord } from "../catalog/types.js";
import type { Limits } from "../limits.js";
import type { ReadView } from "../reads/read-view.js";
import type { IndexView, ViewField } from "../schema/index-view.js";
import { type FieldValues, facetsToKnow, IndexFacts, namesOfFields } from "./facts.js";

/** Counts the most frequent values of facets over all documents that may be seen. */
export type CountValues = (fields: readonly ViewField[], valuesMax: number) => Promise<FieldValues[]>;

export interface KnownFacts {
  readonly facts: IndexFacts;
  /** They are those of the view that they were asked for. */
  readonly current: boolean;
}

interface Entry {
  /** See Within; empty for all documents. */
  readonly within: string;
  readonly record: IndexRecord;
  readonly generation: number;
  readonly gatheredAt: number;
  readonly facts: Promise<IndexFacts>;
  size: number;
}

/** An index with more documents and values than this is a large one. */
const SMALL_MAX = 50_000;
/** A value with its word takes about as much memory as so many characters. */
const CHARACTERS_PER_VALUE = 64;

/** How many values' memory an entry takes. */
function weightOf({ size, within }: Entry): number {
  return 1 + size + Math.ceil(within.length / CHARACTERS_PER_VALUE);
}

export class FactsMemory {
  /** By the index's uid and `within`, the one that was not asked for the longest time first. */
  readonly #entries = new Map<string, Entry>();
  readonly #names = new WeakMap<IndexView, ReadonlySet<string>>();
  readonly #limits: Limits;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** The words by which queries may name fields of the index. */
  names(record: IndexRecord, view: IndexView): ReadonlySet<string> {
    let names = this.#names.get(view);
    if (names === undefined) {
      names = namesOfFields(record, view);
      this.#names.set(view, names);
    }
    return names;
  }

  async of(
    record: IndexRecord,
    view: IndexView,
    within: string,
    documents: number,
    readView: Pick<ReadView, "generation" | "expansions">,
    count: CountValues,
  ): Promise<KnownFacts> {
    const { generation } = readView;
    const key = `${record.uid} ${within}`;
    const known = this.#entries.get(key);
    if (known?.record === record) {
      const current = known.generation === generation;
      const fresh = Date.now() - known.gatheredAt < this.#limits.understandingFactsMsMax;
      if (current || (documents + known.size > SMALL_MAX && fresh)) {
        this.#keep(key, known);
        return { facts: await known.facts, current };
      }
    }
    const entry: Entry = {
      within,
      record,
      generation,
      gatheredAt: Date.now(),
      facts: this.#gather(record, view, count),
      size: 0,
    };
    // While an index is rebuilt, its facets change without a new generation.
    if (readView.expansions !== null) this.#keep(key, entry);
    try {
      const facts = await entry.facts;
      entry.size = facts.size;
      this.#shrink();
      return { facts, current: true };
    } catch (error) {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      throw error;
    }
  }

  async #gather(record: IndexRecord, view: IndexView, count: CountValues): Promise<IndexFacts> {
    const { understandingFacetsMax, understandingFacetValuesMax } = this.#limits;
    const fields = facetsToKnow(record, view, understandingFacetsMax);
    const values = fields.length === 0 ? [] : await count(fields, understandingFacetValuesMax);
    return new IndexFacts(record, view, values);
  }

  #keep(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }

  #shrink(): void {
    let values = 0;
    for (const entry of this.#entries.values()) values += weightOf(entry);
    for (const [key, entry] of this.#entries) {
      if (values <= this.#limits.understandingValuesMax) break;
      this.#entries.delete(key);
      values -= weightOf(entry);
    }
  }
}
