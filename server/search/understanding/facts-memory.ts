// Remembers the facts of the indexes that were asked lately, within a number of values. Facts are those of
// one generation. Of a large index older ones serve for a while, because counting its facets anew after each
// write would cost more than a value that is found a few seconds late: what is read is tried on the index as
// it is now in any case. When they are to be counted anew, that is done behind a query, which goes on with
// what is known.

import type { IndexRecord } from "../../catalog/records/index-record.js";
import type { IndexView, ViewField } from "../../catalog/schema/index-view.js";
import type { IndexSnapshot } from "../../fleet/reads/index-snapshot.js";
import type { Limits } from "../../ground/limits.js";
import { type FieldValues, facetsToKnow, IndexFacts, namesOfFields } from "./facts.js";

/** Facet values that are remembered of all indexes. */
const VALUES_MAX = 200_000;
/** Older facts of a large index are gathered again. */
export const FACTS_MS = 5_000;

/** Counts the most frequent values of facets over all documents that may be seen in a view. */
export type CountValues<V> = (
  view: V,
  fields: readonly ViewField[],
  valuesMax: number,
) => Promise<FieldValues[]>;

type StandingSnapshot = Pick<IndexSnapshot, "generation" | "expansions">;

/** Whose facts are wanted. */
export interface FactsQuestion<V extends StandingSnapshot> {
  readonly record: IndexRecord;
  readonly view: IndexView;
  /** See Within; empty for all documents. */
  readonly within: string;
  readonly documents: number;
  readonly snapshot: V;
  readonly count: CountValues<V>;
  /** Does the work with a view of its own, which may outlive the query. */
  behind(work: (snapshot: V) => Promise<void>): Promise<void>;
}

export interface KnownFacts {
  readonly facts: IndexFacts;
  /** They are those of the view that they were asked for. */
  readonly current: boolean;
}

interface Entry {
  readonly within: string;
  readonly record: IndexRecord;
  readonly generation: number;
  readonly gatheredAt: number;
  readonly facts: Promise<IndexFacts>;
  size: number;
  /** Newer facts are being gathered. */
  isRenewed: boolean;
}

/** An index with more documents and values than this is a large one. */
const SMALL_MAX = 50_000;
/** Facts of so many times the age at which they are renewed do not serve any more. */
const TOO_OLD = 12;
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
  readonly #valuesMax: number;

  constructor(limits: Limits, valuesMax = VALUES_MAX) {
    this.#limits = limits;
    this.#valuesMax = valuesMax;
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

  async of<V extends StandingSnapshot>(question: FactsQuestion<V>): Promise<KnownFacts> {
    const { record, within, documents, snapshot } = question;
    const key = `${record.uid} ${within}`;
    const known = this.#entries.get(key);
    if (known?.record === record) {
      const current = known.generation === snapshot.generation;
      const isLarge = documents + known.size > SMALL_MAX;
      const ageMs = Date.now() - known.gatheredAt;
      if (current || (isLarge && ageMs < TOO_OLD * FACTS_MS)) {
        this.#keep(key, known);
        if (!current && ageMs >= FACTS_MS) void this.#renew(key, known, question);
        return { facts: await known.facts, current };
      }
    }
    const entry = this.#gather(question, snapshot);
    // While an index is rebuilt, its facets change without a new generation.
    if (snapshot.expansions !== null) this.#keep(key, entry);
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

  /** Behind one query at a time. */
  async #renew<V extends StandingSnapshot>(
    key: string,
    known: Entry,
    question: FactsQuestion<V>,
  ): Promise<void> {
    if (known.isRenewed) return;
    known.isRenewed = true;
    try {
      await question.behind(async (snapshot) => {
        const entry = this.#gather(question, snapshot);
        entry.size = (await entry.facts).size;
        if (this.#entries.get(key) !== known || snapshot.expansions === null) return;
        this.#entries.set(key, entry);
        this.#shrink();
      });
    } catch {
      // The next query tries, until one has to wait for the facts and hears why there are none.
    } finally {
      known.isRenewed = false;
    }
  }

  #gather<V extends StandingSnapshot>(question: FactsQuestion<V>, snapshot: V): Entry {
    const { within, record } = question;
    const { generation } = snapshot;
    const facts = this.#facts(question, snapshot);
    return { within, record, generation, gatheredAt: Date.now(), facts, size: 0, isRenewed: false };
  }

  async #facts<V extends StandingSnapshot>(
    { record, view, count }: FactsQuestion<V>,
    snapshot: V,
  ): Promise<IndexFacts> {
    const { understandingFacetsMax, understandingFacetValuesMax } = this.#limits;
    const fields = facetsToKnow(record, view, understandingFacetsMax);
    const values = fields.length === 0 ? [] : await count(snapshot, fields, understandingFacetValuesMax);
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
      if (values <= this.#valuesMax) break;
      this.#entries.delete(key);
      values -= weightOf(entry);
    }
  }
}
