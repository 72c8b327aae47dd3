// One thread's view of an index: its record, its standing and the results that this thread has cached.

import type { IndexRecord } from "../../catalog/records/index-record.js";
import type { Location, Locations } from "../../catalog/schema/placement.js";
import type { Recorder } from "../../ground/metrics/recorder.js";
import { ExpansionCache } from "../../question/words/expansion-cache.js";
import type { WordMemories } from "../../question/words/word-memory.js";
import type { AnswerCache, IndexAnswers, Question, RememberedAnswer } from "./answer-cache.js";
import type { HeldGenerations } from "./held-generations.js";
import type { IndexStanding } from "./index-standing.js";

/** What all of a thread's index handles share: two caches, and a meter for term expansions. */
export interface Memories {
  readonly answers: AnswerCache;
  readonly words: WordMemories;
  readonly recorder: Pick<Recorder, "expansionCache">;
}

/** One index's cached results. */
export interface Remembered {
  readonly answers: IndexAnswers;
  readonly expansions: ExpansionCache;
}

/** Size of an index. */
export interface IndexScale {
  /** Approximate number of live documents. */
  readonly documents: number;
  /** See IndexHandle.documentsMax. */
  readonly documentsMax: number;
}

export class IndexHandle<G extends HeldGenerations = HeldGenerations> {
  record: IndexRecord;
  readonly generations: G;
  protected readonly standing: IndexStanding;
  /** Where the documents are while the index is small. */
  readonly home: Location;
  /** Where the documents are once the index has outgrown its home. */
  readonly spread: Location;
  readonly #memories: Memories;
  #remembered: Remembered;
  /** Value of `IndexStanding.memory` when `#remembered` was created. */
  #memory: number;
  /** Location of the dictionaries that `#remembered` was computed from. */
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

  /** Where a read that starts now finds the documents. */
  get location(): Location {
    return this.locationAt(this.generations.published);
  }

  /** Location of the newest state, published or not. Writes go there. */
  get newest(): Location {
    return this.locationAt(Number.MAX_SAFE_INTEGER);
  }

  /** Runs work on the newest state. The state's data is kept until the work ends. */
  async withNewest<T>(work: (newest: Location) => Promise<T>): Promise<T> {
    const generation = this.generations.hold();
    try {
      return await work(this.newest);
    } finally {
      this.generations.release(generation);
    }
  }

  /** Where a read of this generation finds the documents. */
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

  /** Returns the answer to the same question if it was cached since the last write, otherwise null. */
  recall(question: Question): RememberedAnswer | null {
    const { published } = this.generations;
    return this.rememberedAt(published)?.answers.get(published, question) ?? null;
  }

  /**
   * Invalidates the index's caches in every thread. Called for example when the index is unloaded, or because
   * a restarted shard has only its newest state.
   */
  forget(): void {
    this.standing.forget();
  }

  /** Number of live documents. May be wrong while acknowledged writes are still unpublished. */
  get documents(): number {
    return this.standing.documents;
  }

  /**
   * Upper bound on the number of documents in any snapshot. Derived from the sequence numbers, because no two
   * documents share one.
   */
  get documentsMax(): number {
    return this.standing.lastSeq;
  }

  #nothing(): Remembered {
    const { answers, words, recorder } = this.#memories;
    return { answers: answers.owner(), expansions: new ExpansionCache(recorder.expansionCache, words) };
  }
}
