// One index as seen by one thread: its record, its standing and this thread's cached results.

import type { IndexRecord } from "../../catalog/records/index-record.js";
import type { Location, Locations } from "../../catalog/schema/placement.js";
import type { Recorder } from "../../ground/metrics/recorder.js";
import { ExpansionCache } from "../../question/words/expansion-cache.js";
import type { AnswerCache, IndexAnswers, Question, RememberedAnswer } from "./answer-cache.js";
import type { HeldGenerations } from "./held-generations.js";
import type { IndexStanding } from "./index-standing.js";

/** The caches that the index handles of a thread share, and their meters. */
export interface Memories {
  readonly answers: AnswerCache;
  readonly recorder: Pick<Recorder, "expansionCache">;
}

/** Cached results of one index. */
export interface Remembered {
  readonly answers: IndexAnswers;
  readonly expansions: ExpansionCache;
}

/** Size of an index. */
export interface IndexScale {
  /** Approximate number of live documents. */
  readonly documents: number;
  /** See IndexHandle. */
  readonly documentsMax: number;
}

export class IndexHandle<G extends HeldGenerations = HeldGenerations> {
  record: IndexRecord;
  readonly generations: G;
  protected readonly standing: IndexStanding;
  /** Location of the documents while the index is small. */
  readonly home: Location;
  /** Location of the documents once the index has outgrown its home. */
  readonly spread: Location;
  readonly #memories: Memories;
  #remembered: Remembered;
  /** `IndexStanding.memory` at the time `#remembered` was created. */
  #memory: number;
  /** Location whose dictionaries `#remembered` reflects. */
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

  /** Location of the documents for a read that starts now. */
  get location(): Location {
    return this.locationAt(this.generations.published);
  }

  /** Location of the newest state, published or not. Writes are sent there. */
  get newest(): Location {
    return this.locationAt(Number.MAX_SAFE_INTEGER);
  }

  /** Runs work on the newest state. The data at its location is kept until the work ends. */
  async withNewest<T>(work: (newest: Location) => Promise<T>): Promise<T> {
    const generation = this.generations.hold();
    try {
      return await work(this.newest);
    } finally {
      this.generations.release(generation);
    }
  }

  /** Location of the documents for reads at this generation. */
  locationAt(generation: number): Location {
    return generation < this.standing.spreadFrom ? this.home : this.spread;
  }

  /**
   * Returns the caches for reads of a generation. Returns null during a rebuild, because re-indexing changes
   * the shards' replies without creating a new generation.
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

  /** Returns the answer cached for the same question since the last write, or null if there is none. */
  recall(question: Question): RememberedAnswer | null {
    const { published } = this.generations;
    return this.rememberedAt(published)?.answers.get(published, question) ?? null;
  }

  /**
   * Invalidates every thread's caches for the index, for example because the index was unloaded, or because a
   * restarted shard has only its newest state.
   */
  forget(): void {
    this.standing.forget();
  }

  /** Number of live documents. Exact once all acknowledged writes have been published. */
  get documents(): number {
    return this.standing.documents;
  }

  /**
   * Upper bound on the number of documents in any snapshot, derived from the sequence numbers, because no two
   * documents share one.
   */
  get documentsMax(): number {
    return this.standing.lastSeq;
  }

  #nothing(): Remembered {
    const { answers, recorder } = this.#memories;
    return { answers: answers.owner(), expansions: new ExpansionCache(recorder.expansionCache) };
  }
}
