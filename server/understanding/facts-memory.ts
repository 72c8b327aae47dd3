// Remembers the facts of the indexes that were asked lately, within a number of values. Facts are those of one generation. Of a
// large index older ones serve for a while, because counting its facets anew after each write would cost more than a value
// that is found a few seconds late: what is read is tried on the index as it is now in any case.
import type { IndexRecord } from "../catalog/types.js";
import type { ReadView } from "../cluster/read-view.js";
import type { Limits } from "../limits.js";
import type { IndexView, ViewField } from "../schema/index-view.js";
import { type FieldValues, facetsToKnow, IndexFacts, namesOfFields } from "./facts.js";

/** Counts the most frequent values of facets over all documents. */
export type CountValues = (fields: readonly ViewField[], valuesMax: number) => Promise<FieldValues[]>;

export interface KnownFacts {
  readonly facts: IndexFacts;
  /** They are those of the view that they were asked for. */
  readonly current: boolean;
}

interface Entry {
  readonly record: IndexRecord;
  readonly generation: number;
  readonly gatheredAt: number;
  readonly facts: Promise<IndexFacts>;
  size: number;
}

/** An index with more documents and values than this is a large one. */
const SMALL_MAX = 50_000;

export class FactsMemory {
  /** By the index's uid, the one that was not asked for the longest time first. */
  readonly #entries = new Map<number, Entry>();
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
    documents: number,
    readView: Pick<ReadView, "generation" | "expansions">,
    count: CountValues,
  ): Promise<KnownFacts> {
    const { generation } = readView;
    const known = this.#entries.get(record.uid);
    if (known?.record === record) {
      const current = known.generation === generation;
      const fresh = Date.now() - known.gatheredAt < this.#limits.understandingFactsMsMax;
      if (current || (documents + known.size > SMALL_MAX && fresh)) {
        this.#entries.delete(record.uid);
        this.#entries.set(record.uid, known);
        return { facts: await known.facts, current };
      }
    }
    const entry: Entry = {
      record,
      generation,
      gatheredAt: Date.now(),
      facts: this.#gather(record, view, count),
      size: 0,
    };
    // While an index is rebuilt, its facets change without a new generation.
    if (readView.expansions !== null) this.#keep(record.uid, entry);
    try {
      const facts = await entry.facts;
      entry.size = facts.size;
      this.#shrink();
      return { facts, current: true };
    } catch (error) {
      if (this.#entries.get(record.uid) === entry) this.#entries.delete(record.uid);
      throw error;
    }
  }

  async #gather(record: IndexRecord, view: IndexView, count: CountValues): Promise<IndexFacts> {
    const { understandingFacetsMax, understandingFacetValuesMax } = this.#limits;
    const fields = facetsToKnow(record, view, understandingFacetsMax);
    const values = fields.length === 0 ? [] : await count(fields, understandingFacetValuesMax);
    return new IndexFacts(record, view, values);
  }

  #keep(uid: number, entry: Entry): void {
    this.#entries.delete(uid);
    this.#entries.set(uid, entry);
  }

  #shrink(): void {
    let values = 0;
    for (const { size } of this.#entries.values()) values += size + 1;
    for (const [uid, { size }] of this.#entries) {
      if (values <= this.#limits.understandingValuesMax) break;
      this.#entries.delete(uid);
      values -= size + 1;
    }
  }
}
