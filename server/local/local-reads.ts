// Small indexes are read on this thread, in the memories of the shards, without a message. Whatever stands in the way of that is no error: the
// read goes to the shards, which tell what is wrong with it. So reads need no guard here but one: they are given up when they take long.
import { EngineError } from "../../engine-wasm/host/engine-error.js";
import type { EngineReader } from "../../engine-wasm/host/instance/engine-reader.js";
import type { SnapshotQuestion } from "../../engine-wasm/host/wasm/memory.js";
import type { Limits } from "../limits.js";
import type { LocalReadMeter } from "../metrics/recorder.js";
import type { ThreadLoad } from "../threads/thread-load.js";
import type { LocalDocuments } from "./local-documents.js";

/** What of an index is read. */
export interface LocalView {
  readonly uid: number;
  readonly generation: number;
  readonly oldestGeneration: number;
  /** Date.now() after which the answer is not wanted any more. */
  readonly deadline: number;
}

/** The shards' readers of an index, see ShardPool. */
export interface Readers {
  readonly count: number;
  reader(shard: number, uid: number): EngineReader | null;
  readerFailed(uid: number): void;
}

type LocalLimits = Pick<Limits, "localDocumentsMax" | "localDocumentsBusyMax" | "localReadMsMax">;

export class LocalReads {
  readonly #readers: Readers;
  readonly #shards: readonly number[];
  readonly #load: ThreadLoad;
  readonly #limits: LocalLimits;
  readonly #meter: LocalReadMeter;
  /** Of this turn of the event loop, for reads. */
  #leftMs: number;
  /** Documents of small indexes. */
  readonly documents: LocalDocuments;

  constructor(
    readers: Readers,
    documents: LocalDocuments,
    load: ThreadLoad,
    limits: LocalLimits,
    meter: LocalReadMeter,
  ) {
    this.#readers = readers;
    this.#load = load;
    this.#shards = Array.from({ length: readers.count }, (_, shard) => shard);
    this.documents = documents;
    this.#limits = limits;
    this.#leftMs = limits.localReadMsMax;
    this.#meter = meter;
  }

  /**
   * Larger indexes are searched by all shards at the same time. While this thread is busy, only those are read here that cost it less than
   * messages would.
   */
  takes(documents: number): boolean {
    const { localDocumentsMax, localDocumentsBusyMax } = this.#limits;
    return documents <= localDocumentsMax && (documents <= localDocumentsBusyMax || !this.#load.busy);
  }

  /** What a shard would answer to an encoded program; null: ask it. */
  one(view: LocalView, shard: number, question: SnapshotQuestion, program: Uint8Array): Uint8Array | null {
    return this.#answers(view, [shard], question, program)?.[0] ?? null;
  }

  /** What each shard would answer, by its number; null: ask them all. */
  everywhere(view: LocalView, question: SnapshotQuestion, program: Uint8Array): Uint8Array[] | null {
    return this.#answers(view, this.#shards, question, program);
  }

  #answers(
    view: LocalView,
    shards: readonly number[],
    question: SnapshotQuestion,
    program: Uint8Array,
  ): Uint8Array[] | null {
    const readers: EngineReader[] = [];
    for (const shard of shards) {
      const reader = this.#readers.reader(shard, view.uid);
      if (reader !== null) readers.push(reader);
    }
    const mayRead = readers.length === shards.length && this.#leftMs > 0;
    const answers = mayRead ? this.#read(view, readers, question, program) : null;
    if (answers === null) this.#meter.left++;
    else this.#meter.answered++;
    return answers;
  }

  #read(
    { uid, generation, oldestGeneration, deadline }: LocalView,
    readers: readonly EngineReader[],
    question: SnapshotQuestion,
    program: Uint8Array,
  ): Uint8Array[] | null {
    const answers: Uint8Array[] = [];
    const begunMs = performance.now();
    const end = Math.min(deadline, Date.now() + this.#leftMs);
    try {
      for (const reader of readers) {
        const answer = reader.answer(question, generation, oldestGeneration, program, end);
        if (answer === null) return null;
        answers.push(answer);
      }
      return answers;
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      if (error.code === "trap" || error.code === "unusable") this.#readers.readerFailed(uid);
      return null;
    } finally {
      this.#spend(performance.now() - begunMs);
    }
  }

  /** Reads of one turn of the event loop share what a read may take: requests that have arrived meanwhile wait for all of them. */
  #spend(ms: number): void {
    if (this.#leftMs === this.#limits.localReadMsMax) setImmediate(this.#nextTurn);
    this.#leftMs -= ms;
  }

  readonly #nextTurn = (): void => {
    this.#leftMs = this.#limits.localReadMsMax;
  };
}
