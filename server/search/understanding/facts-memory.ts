// Caches the facts (IndexFacts) about recently queried indexes, up to a total number of facet values. Facts
// belong to one generation of an index. For a large index, outdated facts stay in use for a while: counting
// its facets after every write would cost more than noticing a new value a few seconds late, and every
// reading is verified on the current index anyway. They are renewed in the background while queries continue
// with the cached facts.

import { ClockCache } from "../../../engine-wasm/host/runtime/clock-cache.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import type { ResolvedField, ResolvedSchema } from "../../catalog/schema/resolved-schema.js";
import type { IndexSnapshot } from "../../fleet/reads/index-snapshot.js";
import { run, settled, type Work } from "../../ground/jobs/work.js";
import type { Limits } from "../../ground/limits.js";
import { type FieldValues, facetsToKnow, IndexFacts, namesOfFields } from "./facts.js";

/** Maximum number of cached facet values, over all indexes. */
const VALUES_MAX = 200_000;
/** Minimum age (ms) at which the outdated facts of a large index are renewed. */
export const FACTS_MS = 5_000;

/** Counts the most frequent facet values over all documents that the caller may see in a snapshot. */
export type CountValues<V> = (
  schema: V,
  fields: readonly ResolvedField[],
  valuesMax: number,
) => Work<FieldValues[]>;

type StandingSnapshot = Pick<IndexSnapshot, "generation" | "expansions">;

/** The index whose facts are requested, and its resolved schema. */
export interface FactsQuestion<V extends StandingSnapshot> {
  readonly record: IndexRecord;
  readonly schema: ResolvedSchema;
  /** Text of the caller's filter (see Within); empty if the caller may see all documents. */
  readonly within: string;
  readonly documents: number;
  readonly snapshot: V;
  readonly count: CountValues<V>;
  /** Runs `work` on a separate snapshot, which may outlive the query. */
  behind(work: (snapshot: V) => Promise<void>): Promise<void>;
}

export interface KnownFacts {
  readonly facts: IndexFacts;
  /** True if the facts and the query's snapshot have the same generation. */
  readonly current: boolean;
}

interface Entry {
  readonly within: string;
  readonly record: IndexRecord;
  readonly generation: number;
  readonly gatheredAt: number;
  /** A promise while they are being gathered. */
  facts: IndexFacts | Promise<IndexFacts>;
  size: number;
  /** True while newer facts are being gathered for this entry. */
  isRenewed: boolean;
}

/** An index is large if its documents and values together exceed this number. */
const SMALL_MAX = 50_000;
/** Outdated facts are no longer used when they are older than this many times FACTS_MS. */
const TOO_OLD = 12;
/** A filter text of this length uses about as much memory as one facet value. */
const CHARACTERS_PER_VALUE = 64;

/** Returns an entry's memory use, expressed as a number of facet values. */
function weightOf({ size, within }: Entry): number {
  return 1 + size + Math.ceil(within.length / CHARACTERS_PER_VALUE);
}

export class FactsMemory {
  /** Keyed by index uid and `within`. */
  readonly #entries: ClockCache<string, Entry>;
  readonly #names = new WeakMap<ResolvedSchema, ReadonlySet<string>>();
  readonly #limits: Limits;

  constructor(limits: Limits, valuesMax = VALUES_MAX) {
    this.#limits = limits;
    this.#entries = new ClockCache(valuesMax);
  }

  /** Returns words that queries may use to name the index's fields. */
  names(record: IndexRecord, schema: ResolvedSchema): ReadonlySet<string> {
    let names = this.#names.get(schema);
    if (names === undefined) {
      names = namesOfFields(record, schema);
      this.#names.set(schema, names);
    }
    return names;
  }

  *of<V extends StandingSnapshot>(question: FactsQuestion<V>): Work<KnownFacts> {
    const { record, within, documents, snapshot } = question;
    const key = `${record.uid} ${within}`;
    const known = this.#entries.get(key);
    if (known?.record === record) {
      const current = known.generation === snapshot.generation;
      const isLarge = documents + known.size > SMALL_MAX;
      const ageMs = Date.now() - known.gatheredAt;
      if (current || (isLarge && ageMs < TOO_OLD * FACTS_MS)) {
        if (!current && ageMs >= FACTS_MS) void this.#renew(key, known, question);
        // If the query that gathers them has ended, this query gathers them itself.
        const facts =
          known.facts instanceof Promise ? yield* settled(known.facts.catch(() => null)) : known.facts;
        if (facts !== null) return { facts, current };
      }
    }
    const entry = this.#gather(question, snapshot);
    // During a rebuild, facets change without a new generation, so the facts are not cached.
    if (snapshot.expansions !== null) this.#entries.set(key, entry, weightOf(entry));
    try {
      const facts = yield* settled(entry.facts);
      entry.facts = facts;
      entry.size = facts.size;
      if (this.#entries.get(key) === entry) this.#entries.set(key, entry, weightOf(entry));
      return { facts, current: true };
    } catch (error) {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      throw error;
    }
  }

  /** Replaces an entry by one with newer facts. At most one renewal per entry runs at a time. */
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
        entry.facts = await entry.facts;
        entry.size = entry.facts.size;
        if (this.#entries.get(key) !== known || snapshot.expansions === null) return;
        this.#entries.set(key, entry, weightOf(entry));
      });
    } catch {
      // Ignore the failure: the next query tries again. Once the facts are too old, queries wait for new
      // facts and get the error.
    } finally {
      known.isRenewed = false;
    }
  }

  #gather<V extends StandingSnapshot>(question: FactsQuestion<V>, snapshot: V): Entry {
    const { within, record } = question;
    const { generation } = snapshot;
    const facts = run(this.#facts(question, snapshot));
    return { within, record, generation, gatheredAt: Date.now(), facts, size: 0, isRenewed: false };
  }

  *#facts<V extends StandingSnapshot>(
    { record, schema, count }: FactsQuestion<V>,
    snapshot: V,
  ): Work<IndexFacts> {
    const { understandingFacetsMax, understandingFacetValuesMax } = this.#limits;
    const fields = facetsToKnow(record, schema, understandingFacetsMax);
    const values = fields.length === 0 ? [] : yield* count(snapshot, fields, understandingFacetValuesMax);
    return new IndexFacts(record, schema, values);
  }
}
