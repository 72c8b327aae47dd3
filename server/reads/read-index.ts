// One index as one thread reads it: its record, where it stands, and what the thread remembers of it.
import type { IndexRecord } from "../catalog/types.js";
import type { Recorder } from "../metrics/recorder.js";
import { ExpansionCache } from "../words/expansion-cache.js";
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
  readonly shards: number;
  /** Live documents, about. */
  readonly documents: number;
  /** See ReadIndex. */
  readonly documentsMax: number;
}

export class ReadIndex<G extends HeldGenerations = HeldGenerations> {
  record: IndexRecord;
  readonly generations: G;
  protected readonly standing: IndexStanding;
  readonly #memories: Memories;
  #remembered: Remembered;
  /** Of the standing, when what is remembered began. */
  #memory: number;

  constructor(record: IndexRecord, standing: IndexStanding, generations: G, memories: Memories) {
    this.record = record;
    this.standing = standing;
    this.generations = generations;
    this.#memories = memories;
    this.#memory = standing.memory;
    this.#remembered = this.#nothing();
  }

  /** None during a rebuild: re-indexing changes what shards answer without a new generation. */
  get remembered(): Remembered | null {
    if (this.standing.isRebuilding) return null;
    const { memory } = this.standing;
    if (memory !== this.#memory) {
      this.#memory = memory;
      this.#remembered = this.#nothing();
    }
    return this.#remembered;
  }

  /** The answer to the same question since the last write, null when it is not known. */
  recall(question: Question): RememberedAnswer | null {
    return this.remembered?.answers.get(this.generations.published, question) ?? null;
  }

  /** It was unloaded, or a shard was restarted and has only its newest state now. No thread remembers anything of it. */
  forget(): void {
    this.standing.forget();
  }

  /** Live documents, exact once the writes that were answered are published. */
  get documents(): number {
    return this.standing.documents;
  }

  /** No read view holds more documents: each has a sequence number of its own. */
  get documentsMax(): number {
    return this.standing.lastSeq;
  }

  #nothing(): Remembered {
    const { answers, recorder } = this.#memories;
    return { answers: answers.owner(), expansions: new ExpansionCache(recorder.expansionCache) };
  }
}
