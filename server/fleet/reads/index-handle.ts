// One index as one thread reads it: its record, where it stands, and what the thread remembers of it.

import type { IndexRecord } from "../../catalog/records/index-record.js";
import type { Location, Locations } from "../../catalog/schema/placement.js";
import type { Recorder } from "../../ground/metrics/recorder.js";
import { ExpansionCache } from "../../question/words/expansion-cache.js";
import type { AnswerCache, IndexAnswers, Question, RememberedAnswer } from "./answer-cache.js";
import type { HeldGenerations } from "./held-generations.js";
import type { IndexStanding } from "./index-standing.js";

/** Where what is remembered of an index is kept and counted. */
export interface Memories {
  readonly answers: AnswerCache;
  readonly recorder: Pick<Recorder, "expansionCache">;
}

/** What is remembered of the index. */
export interface Remembered {
  readonly answers: IndexAnswers;
  readonly expansions: ExpansionCache;
}

/** How large an index is. */
export interface IndexScale {
  /** Live documents, about. */
  readonly documents: number;
  /** See IndexHandle. */
  readonly documentsMax: number;
}

export class IndexHandle<G extends HeldGenerations = HeldGenerations> {
  record: IndexRecord;
  readonly generations: G;
  protected readonly standing: IndexStanding;
  /** Where it lies while it is small. */
  readonly home: Location;
  /** Where it lies from then on. */
  readonly spread: Location;
  readonly #memories: Memories;
  #remembered: Remembered;
  /** Of the standing, when what is remembered began. */
  #memory: number;
  /** What the dictionaries of these shards said is remembered. */
  #rememberedOf: Location;

  constructor(
    record: IndexRecord,
    standing: IndexStanding,
    generations: G,
    locations: Locations,
    memories: Memories,
  ) {
    this.record = record;
    this.standing = standing;
    this.generations = generations;
    this.home = locations.home(record.uid);
    this.spread = locations.spread(record.uid);
    this.#memories = memories;
    this.#memory = standing.memory;
    this.#rememberedOf = this.location;
    this.#remembered = this.#nothing();
  }

  /** Where the documents lie that a read that starts now sees. */
  get location(): Location {
    return this.locationAt(this.generations.published);
  }

  /** Of the newest state, published or not: what is written goes there. */
  get newest(): Location {
    return this.locationAt(Number.MAX_SAFE_INTEGER);
  }

  /**
   * Runs work that asks the newest state. Where that lies when the work begins, nothing is dropped before it
   * ends.
   */
  async withNewest<T>(work: (newest: Location) => Promise<T>): Promise<T> {
    const generation = this.generations.hold();
    try {
      return await work(this.newest);
    } finally {
      this.generations.release(generation);
    }
  }

  /** Where the documents of a generation lie. */
  locationAt(generation: number): Location {
    return generation < this.standing.spreadFrom ? this.home : this.spread;
  }

  /**
   * For reads of a generation. None during a rebuild: re-indexing changes what shards answer without a new
   * generation.
   */
  rememberedAt(generation: number): Remembered | null {
    if (this.standing.isRebuilding) return null;
    const location = this.locationAt(generation);
    const { memory } = this.standing;
    if (memory !== this.#memory || location !== this.#rememberedOf) {
      this.#memory = memory;
      this.#rememberedOf = location;
      this.#remembered = this.#nothing();
    }
    return this.#remembered;
  }

  /** The answer to the same question since the last write, null when it is not known. */
  recall(question: Question): RememberedAnswer | null {
    const { published } = this.generations;
    return this.rememberedAt(published)?.answers.get(published, question) ?? null;
  }

  /**
   * It was unloaded, or a shard was restarted and has only its newest state now. No thread remembers anything
   * of it.
   */
  forget(): void {
    this.standing.forget();
  }

  /** Live documents, exact once the writes that were answered are published. */
  get documents(): number {
    return this.standing.documents;
  }

  /** No snapshot holds more documents: each has a sequence number of its own. */
  get documentsMax(): number {
    return this.standing.lastSeq;
  }

  #nothing(): Remembered {
    const { answers, recorder } = this.#memories;
    return { answers: answers.owner(), expansions: new ExpansionCache(recorder.expansionCache) };
  }
}
