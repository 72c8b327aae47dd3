// What the coordinator knows of one open index: its record, generations, the next sequence number, live
// documents per shard, remembered answers. Lives in memory only; a start rebuilds it from the shards.
import type { OpenReply } from "../../shards/protocol/control.js";
import type { IndexRecord } from "../catalog/types.js";
import type { Recorder } from "../metrics/recorder.js";
import { ExpansionCache } from "../words/expansion-cache.js";
import type { AnswerCache, IndexAnswers, Question, RememberedAnswer } from "./answer-cache.js";
import { Generations } from "./generations.js";

/** Where what is remembered of an index is kept and counted. */
interface Memories {
  readonly answers: AnswerCache;
  readonly recorder: Pick<Recorder, "expansionCache">;
}

/** What is remembered of the index. */
interface Remembered {
  readonly answers: IndexAnswers;
  readonly expansions: ExpansionCache;
}

/** How large an index is. */
export interface IndexScale {
  readonly shards: number;
  /** Live documents, about. */
  readonly documents: number;
  /** See IndexState. */
  readonly documentsMax: number;
}

export class IndexState {
  record: IndexRecord;
  readonly generations: Generations;
  /** It did not open when it was last needed. */
  failing = false;
  readonly #memories: Memories;
  #remembered: Remembered | null;
  #nextSeq: number;
  readonly #liveDocs: number[];

  /** `shards`: where the index stands in each shard, by its number. */
  constructor(record: IndexRecord, shards: readonly OpenReply[], memories: Memories) {
    this.record = record;
    this.#memories = memories;
    this.#remembered = this.#nothing();
    this.generations = new Generations(Math.max(0, ...shards.map((shard) => shard.generation)));
    this.#nextSeq = Math.max(0, ...shards.map((shard) => shard.maxSeq)) + 1;
    this.#liveDocs = shards.map((shard) => shard.liveDocs);
  }

  /** Segments of an older schema wait to be re-indexed. */
  get rebuilding(): boolean {
    return this.#remembered === null;
  }

  set rebuilding(rebuilding: boolean) {
    if (rebuilding) this.#remembered = null;
    else this.#remembered ??= this.#nothing();
  }

  /** None during a rebuild: re-indexing changes what shards answer without a new generation. */
  get remembered(): Remembered | null {
    return this.#remembered;
  }

  /** The answer to the same question since the last write, null when it is not known. */
  recall(question: Question): RememberedAnswer | null {
    return this.#remembered?.answers.get(this.generations.published, question) ?? null;
  }

  /** It was unloaded, or a shard was restarted and has only its newest state now. */
  forget(): void {
    if (this.#remembered !== null) this.#remembered = this.#nothing();
  }

  /** Live documents, exact once the writes that were answered are published. */
  get documents(): number {
    return this.#liveDocs.reduce((sum, count) => sum + count, 0);
  }

  /** No read view holds more documents: each has a sequence number of its own. */
  get documentsMax(): number {
    return this.#nextSeq - 1;
  }

  /** All sequence numbers that are given from now on are this or larger, and all given before are smaller. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** The first of `count` ascending sequence numbers, all larger than any given before. */
  takeSeqs(count: number): number {
    const first = this.#nextSeq;
    this.#nextSeq += count;
    return first;
  }

  /** Was opened again while nobody used it. */
  reopened(shards: readonly OpenReply[]): void {
    for (const [shard, { liveDocs }] of shards.entries()) this.setLiveDocs(shard, liveDocs);
  }

  setLiveDocs(shard: number, count: number): void {
    this.#liveDocs[shard] = count;
  }

  #nothing(): Remembered {
    const { answers, recorder } = this.#memories;
    return { answers: answers.owner(), expansions: new ExpansionCache(recorder.expansionCache) };
  }
}
