// Small indexes are read on this thread, in the memories of the shards, without a message. Whatever stands in the way of that is no error: the
// read goes to the shards, which tell what is wrong with it. So reads need no guard here but one: they are given up when they take long.
import { EngineError } from "../../../engine-wasm/host/engine-error.js";
import type { EngineReader } from "../../../engine-wasm/host/instance/engine-reader.js";
import type { SnapshotQuestion } from "../../../engine-wasm/host/wasm/memory.js";
import type { EmbedReply, WeightedTerm } from "../../../shards/protocol/vectors.js";
import type { Places } from "../../catalog/schema/placement.js";
import type { Limits } from "../../ground/limits.js";
import type { LocalReadMeter } from "../../ground/metrics/recorder.js";
import type { ThreadLoad } from "../threads/thread-load.js";
import type { LocalDocuments } from "./local-documents.js";
import type { LocalTurn } from "./local-turn.js";
import type { LocalVectors } from "./local-vectors.js";
import { LossBudget } from "./loss-budget.js";

/** What of an index is read. */
export interface LocalView {
  /** The number of its documents in the shards. */
  readonly data: number;
  /** Its shards, which are numbered from 0 on here. */
  readonly places: Places;
  readonly generation: number;
  readonly oldestGeneration: number;
  /** Date.now() after which the answer is not wanted any more. */
  readonly deadline: number;
}

/** The shards' readers of an index, see ShardPool. */
export interface Readers {
  reader(shard: number, data: number): EngineReader | null;
  readerFailed(data: number): void;
}

/** Hears which index is being read in an engine; null: none any more. */
export type OnReading = (data: number | null) => void;

/** Asks a shard for the vector of a query's terms and vectors of documents. */
export type EmbedThere = (terms: readonly WeightedTerm[], seqs: readonly number[]) => Promise<EmbedReply>;

type LocalLimits = Pick<Limits, "localDocumentsMax" | "localDocumentsBusyMax">;

/** With less than this left of a turn no read is begun. */
const LEAST_MS = 1;
/** For so long an index is left to the shards when reads that were given up have cost too much. */
const PAUSE_MS = 500;

export class LocalReads {
  readonly #readers: Readers;
  readonly #load: Pick<ThreadLoad, "wantsHelp">;
  readonly #limits: LocalLimits;
  readonly #meter: LocalReadMeter;
  readonly #onReading: OnReading;
  readonly #turn: LocalTurn;
  readonly #losses = new LossBudget();
  /**
   * Indexes of which reads took too long or too much room, by the number of their documents, with performance.now() until which
   * they are left to the shards.
   */
  readonly #paused = new Map<number, number>();
  /** Documents of small indexes. */
  readonly documents: LocalDocuments;
  readonly #vectors: LocalVectors;

  constructor(
    readers: Readers,
    documents: LocalDocuments,
    vectors: LocalVectors,
    turn: LocalTurn,
    load: Pick<ThreadLoad, "wantsHelp">,
    limits: LocalLimits,
    meter: LocalReadMeter,
    onReading: OnReading = () => undefined,
  ) {
    this.#readers = readers;
    this.#load = load;
    this.documents = documents;
    this.#vectors = vectors;
    this.#limits = limits;
    this.#turn = turn;
    this.#meter = meter;
    this.#onReading = onReading;
  }

  /** For so long the index is left to the shards. */
  pause(data: number, ms: number): void {
    this.#paused.set(data, performance.now() + ms);
  }

  /**
   * Larger indexes are searched by all shards at the same time. While this thread wants help, only those are read here that cost it less
   * than messages would.
   */
  takes(documents: number): boolean {
    const { localDocumentsMax, localDocumentsBusyMax } = this.#limits;
    return documents <= localDocumentsMax && (documents <= localDocumentsBusyMax || !this.#load.wantsHelp);
  }

  /** What a shard would answer to an encoded program; null: ask it. */
  one(view: LocalView, shard: number, question: SnapshotQuestion, program: Uint8Array): Uint8Array | null {
    return this.#answers(view, [view.places[shard]!], question, program)?.[0] ?? null;
  }

  /** What each shard would answer, by its number; null: ask them all. */
  everywhere(view: LocalView, question: SnapshotQuestion, program: Uint8Array): Uint8Array[] | null {
    return this.#answers(view, view.places, question, program);
  }

  /** What a shard would answer to EMBED; null: ask it. */
  async embed(
    { data, places }: LocalView,
    shard: number,
    terms: readonly WeightedTerm[],
    seqs: readonly number[],
    there: EmbedThere,
  ): Promise<EmbedReply | null> {
    const reader = this.#readersNow(data, [places[shard]!])?.[0] ?? null;
    const query = reader === null ? undefined : this.#queryVector(data, reader, terms);
    const vectors =
      reader === null || query === undefined
        ? null
        : await this.#ofVectors(reader, seqs, there, (slots) => this.#vectors.records(slots));
    return this.#counted(query === undefined || vectors === null ? null : { query, vectors });
  }

  /** What a shard would answer to SIMILARITIES; null: ask it. */
  async similarities(
    { data, places }: LocalView,
    shard: number,
    query: Float32Array,
    seqs: ArrayLike<number>,
    there: EmbedThere,
  ): Promise<Float32Array | null> {
    const reader = this.#readersNow(data, [places[shard]!])?.[0] ?? null;
    if (reader === null) return this.#counted(null);
    return this.#counted(
      await this.#ofVectors(reader, seqs, there, (slots) => this.#vectors.similarities(query, slots)),
    );
  }

  /** Undefined: ask the shard. */
  #queryVector(
    data: number,
    reader: EngineReader,
    terms: readonly WeightedTerm[],
  ): Float32Array | null | undefined {
    if (terms.length === 0) return null;
    const begunMs = performance.now();
    this.#onReading(data);
    try {
      return reader.queryVector(terms);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      if (error.code !== "memory") this.#readers.readerFailed(data);
      return undefined;
    } finally {
      this.#onReading(null);
      this.#turn.spend(performance.now() - begunMs);
    }
  }

  /** What `use` makes of vectors; null when they cannot be known here. */
  async #ofVectors<T>(
    reader: EngineReader,
    seqs: ArrayLike<number>,
    there: EmbedThere,
    use: (slots: Int32Array) => T,
  ): Promise<T | null> {
    try {
      const fetch = async (missing: readonly number[]) => (await there([], missing)).vectors;
      return await this.#vectors.with(reader, seqs, fetch, (slots) => {
        const begunMs = performance.now();
        const made = use(slots);
        this.#turn.spend(performance.now() - begunMs);
        return made;
      });
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      this.#vectors.clear();
      return null;
    }
  }

  #answers(
    view: LocalView,
    shards: Places,
    question: SnapshotQuestion,
    program: Uint8Array,
  ): Uint8Array[] | null {
    const readers = this.#readersNow(view.data, shards);
    return this.#counted(readers === null ? null : this.#read(view, readers, question, program));
  }

  #counted<T>(answer: T | null): T | null {
    if (answer === null) this.#meter.left++;
    else this.#meter.answered++;
    return answer;
  }

  /** Null when one is missing, and when this thread has no time for them. */
  #readersNow(data: number, shards: Places): EngineReader[] | null {
    if (this.#turn.leftMs < LEAST_MS || this.#isPaused(data)) return null;
    const readers: EngineReader[] = [];
    for (const shard of shards) {
      const reader = this.#readers.reader(shard, data);
      if (reader !== null) readers.push(reader);
    }
    return readers.length === shards.length ? readers : null;
  }

  #read(
    { data, generation, oldestGeneration, deadline }: LocalView,
    readers: readonly EngineReader[],
    question: SnapshotQuestion,
    program: Uint8Array,
  ): Uint8Array[] | null {
    const answers: Uint8Array[] = [];
    const begunMs = performance.now();
    const work = { leftMs: this.#turn.leftMs };
    this.#onReading(data);
    try {
      for (const reader of readers) {
        const answer = reader.answer(question, generation, oldestGeneration, program, deadline, work);
        if (answer === null) return null;
        answers.push(answer);
      }
      this.#losses.succeeded(performance.now() - begunMs);
      return answers;
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      if (error.code === "trap" || error.code === "unusable") this.#readers.readerFailed(data);
      else if (error.code === "memory" || !this.#losses.lose(performance.now() - begunMs))
        this.pause(data, PAUSE_MS);
      return null;
    } finally {
      this.#onReading(null);
      this.#turn.spend(performance.now() - begunMs);
    }
  }

  #isPaused(data: number): boolean {
    const untilMs = this.#paused.get(data);
    if (untilMs === undefined) return false;
    if (performance.now() < untilMs) return true;
    this.#paused.delete(data);
    return false;
  }
}
