// Reads small indexes on this thread, straight from the shards' memories, without sending a message. If a
// read fails here, it is sent to the shard's thread, which can report why. The only safeguard that a local
// read needs is a time limit, after which it is abandoned.
import { EngineError } from "../../../engine-wasm/host/engine-error.js";
import type { EngineReader } from "../../../engine-wasm/host/instance/engine-reader.js";
import type { SnapshotQuestion } from "../../../engine-wasm/host/wasm/memory.js";
import type { FetchedDocument, FetchOptions } from "../../../shards/protocol/fetch.js";
import type { EmbedReply, WeightedTerm } from "../../../shards/protocol/vectors.js";
import type { Places } from "../../catalog/schema/placement.js";
import { run, settled, type Work } from "../../ground/jobs/work.js";
import type { Limits } from "../../ground/limits.js";
import type { LocalReadMeter } from "../../ground/metrics/recorder.js";
import {
  type AskedSnapshot,
  embedRead,
  fetchRead,
  type PageRead,
  type ProgramRead,
  type ShardRead,
  type ShardReader,
  similaritiesRead,
} from "../shard-reader.js";
import type { ThreadLoad } from "../threads/thread-load.js";
import type { FetchThere, LocalDocuments } from "./local-documents.js";
import type { LocalVectors } from "./local-vectors.js";
import { LossBudget } from "./loss-budget.js";
import type { TurnBudget } from "./turn-budget.js";

/** Readers of the shards' memories. See ShardPool. */
export interface Readers {
  reader(shard: number, data: number): EngineReader | null;
  readerFailed(data: number): void;
  readerUnused(data: number): void;
}

/** Called with the index's data number when an engine begins a read, and with null when the read ends. */
export type OnReading = (data: number | null) => void;

type LocalLimits = Pick<Limits, "localDocumentsMax" | "localDocumentsBusyMax">;

/** A read starts only if at least this much time (ms) is left in the turn of the event loop. */
const LEAST_MS = 1;
/**
 * After abandoned reads have wasted too much time or a read ran out of memory, the shards serve the index's
 * reads for this long (ms).
 */
const PAUSE_MS = 500;
/**
 * A local search returns no documents: this thread takes them from its cache, and fetches the missing ones,
 * once the page's rows are known.
 */
const NO_DOCUMENTS: FetchedDocument[] = [];

export class LocalReader implements ShardReader {
  readonly #threads: ShardReader;
  readonly #readers: Readers;
  readonly #load: Pick<ThreadLoad, "wantsHelp">;
  readonly #limits: LocalLimits;
  readonly #meter: LocalReadMeter;
  readonly #onReading: OnReading;
  readonly #budget: TurnBudget;
  readonly #losses = new LossBudget();
  /**
   * Indexes whose reads took too much time or memory. For each data number, the time (performance.now())
   * until which the shards serve the index's reads.
   */
  readonly #paused = new Map<number, number>();
  readonly #documents: LocalDocuments;
  readonly #vectors: LocalVectors;

  /** Reads that cannot be served here go to `threads`. */
  constructor(
    threads: ShardReader,
    readers: Readers,
    documents: LocalDocuments,
    vectors: LocalVectors,
    budget: TurnBudget,
    load: Pick<ThreadLoad, "wantsHelp">,
    limits: LocalLimits,
    meter: LocalReadMeter,
    onReading: OnReading = () => undefined,
  ) {
    this.#threads = threads;
    this.#readers = readers;
    this.#load = load;
    this.#documents = documents;
    this.#vectors = vectors;
    this.#limits = limits;
    this.#budget = budget;
    this.#meter = meter;
    this.#onReading = onReading;
  }

  /** Makes the shards serve the index's reads for `ms` milliseconds. */
  pause(data: number, ms: number): void {
    this.#paused.set(data, performance.now() + ms);
  }

  /**
   * True if an index with this number of documents is read on this thread. Larger indexes are searched by all
   * shards in parallel, and keep nothing lent to this thread. A busy thread reads only indexes so small that
   * sending a message would cost it more than the read.
   */
  takes(data: number, documents: number): boolean {
    const { localDocumentsMax, localDocumentsBusyMax } = this.#limits;
    if (documents > localDocumentsMax) {
      this.#readers.readerUnused(data);
      return false;
    }
    return documents <= localDocumentsBusyMax || !this.#load.wantsHelp;
  }

  read<T>(read: ShardRead<T>, shards: Places): (T | Promise<T>)[] {
    switch (read.kind) {
      case "message":
        return this.#threads.read(read, shards);
      // The next three return values of the type that `decode` would return for a shard's reply.
      case "fetch":
        return [this.#fetched(read.of, shards, read.seqs, read.options) as T | Promise<T>];
      case "embed":
        return [run(this.#embedded(read.of, shards, read.terms, read.seqs) as Work<T>)];
      case "similarities":
        return [run(this.#similarities(read.of, shards, read.query, read.seqs) as Work<T>)];
      case "page": {
        const results = this.#results("search", read, shards);
        if (results === null) return this.#threads.read(read, shards);
        return results.length === 1
          ? [read.decode(results[0]!, NO_DOCUMENTS)]
          : inOrder(results, (result) => read.decode(result, NO_DOCUMENTS));
      }
      default: {
        const results = this.#results(read.kind, read, shards);
        return results === null ? this.#threads.read(read, shards) : inOrder(results, read.decode);
      }
    }
  }

  #fetched(
    of: AskedSnapshot,
    shards: Places,
    seqs: readonly number[],
    options: FetchOptions,
  ): FetchedDocument[] | Promise<FetchedDocument[]> {
    const there: FetchThere = (some, wanted) => this.#there(fetchRead(of, some, wanted), shards);
    return this.#documents.show(of.record, seqs, options, there);
  }

  *#embedded(
    of: AskedSnapshot,
    shards: Places,
    terms: readonly WeightedTerm[],
    seqs: readonly number[],
  ): Work<EmbedReply> {
    const reader = this.#readersNow(of.data, shards)?.[0] ?? null;
    const query = reader === null ? undefined : this.#queryVector(of.data, reader, terms);
    const vectors =
      reader === null || query === undefined
        ? null
        : yield* this.#ofVectors(of, shards, reader, seqs, (slots) => this.#vectors.records(slots));
    const known = this.#counted(query === undefined || vectors === null ? null : { query, vectors });
    return known ?? (yield* this.#there(embedRead(of, terms, seqs), shards));
  }

  *#similarities(
    of: AskedSnapshot,
    shards: Places,
    query: Float32Array,
    seqs: ArrayLike<number>,
  ): Work<Float32Array> {
    const reader = this.#readersNow(of.data, shards)?.[0] ?? null;
    const use = (slots: Int32Array): Float32Array => this.#vectors.similarities(query, slots);
    const known = reader === null ? null : yield* this.#ofVectors(of, shards, reader, seqs, use);
    return this.#counted(known) ?? (yield* this.#there(similaritiesRead(of, query, seqs), shards));
  }

  /** Lets the shard's thread serve the read. `shards` contains one shard. */
  #there<T>(read: ShardRead<T>, shards: Places): Work<T> {
    return settled(this.#threads.read(read, shards)[0] as T | Promise<T>);
  }

  /** Computes the query vector: null if there are no terms, undefined if the shard has to compute it. */
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
      this.#budget.spend(performance.now() - begunMs);
    }
  }

  /**
   * Calls `use` with the documents' slots in the vector cache and returns its result. Returns null if this
   * thread cannot get the vectors.
   */
  *#ofVectors<T>(
    of: AskedSnapshot,
    shards: Places,
    reader: EngineReader,
    seqs: ArrayLike<number>,
    use: (slots: Int32Array) => T,
  ): Work<T | null> {
    try {
      const there = (missing: readonly number[]): Work<EmbedReply> =>
        this.#there(embedRead(of, [], missing), shards);
      return yield* this.#vectors.with(reader, seqs, there, (slots) => {
        const begunMs = performance.now();
        const made = use(slots);
        this.#budget.spend(performance.now() - begunMs);
        return made;
      });
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      this.#vectors.clear();
      return null;
    }
  }

  /** Runs a program in the memory of each shard. Returns null if the shards' threads must run it. */
  #results<T>(
    question: SnapshotQuestion,
    read: ProgramRead<T> | PageRead<T>,
    shards: Places,
  ): Uint8Array[] | null {
    const readers = this.#readersNow(read.of.data, shards);
    return this.#counted(readers === null ? null : this.#run(question, read, readers));
  }

  #counted<T>(answer: T | null): T | null {
    if (answer === null) this.#meter.left++;
    else this.#meter.answered++;
    return answer;
  }

  /**
   * Returns a reader for each shard. Returns null if one is missing, if this turn has no time left, or if the
   * index is paused.
   */
  #readersNow(data: number, shards: Places): EngineReader[] | null {
    if (this.#budget.leftMs < LEAST_MS || this.#isPaused(data)) return null;
    const readers: EngineReader[] = [];
    for (const shard of shards) {
      const reader = this.#readers.reader(shard, data);
      if (reader !== null) readers.push(reader);
    }
    return readers.length === shards.length ? readers : null;
  }

  #run<T>(
    question: SnapshotQuestion,
    { of, program, deadline }: ProgramRead<T> | PageRead<T>,
    readers: readonly EngineReader[],
  ): Uint8Array[] | null {
    const { data, generation, oldestGeneration } = of;
    const answers: Uint8Array[] = [];
    const begunMs = performance.now();
    const work = { leftMs: this.#budget.leftMs };
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
      this.#budget.spend(performance.now() - begunMs);
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

/** Decodes the results one after another, so that two large results never share a time slice. */
function inOrder<T>(
  results: readonly Uint8Array[],
  decode: (result: Uint8Array) => T | Promise<T>,
): (T | Promise<T>)[] {
  let before: Promise<unknown> | null = null;
  return results.map((result) => {
    const decoded: T | Promise<T> = before === null ? decode(result) : before.then(() => decode(result));
    if (decoded instanceof Promise) before = decoded;
    return decoded;
  });
}
