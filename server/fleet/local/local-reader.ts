// Reads small indexes on this thread, straight from the shards' memories, without sending a message, and
// larger ones while no other query waits. If a read fails here, it is sent to the shard's thread, which can
// report why. The only safeguard that a local read needs is a time limit, after which it is abandoned.
import { EngineError } from "../../../engine-wasm/host/engine-error.js";
import type { EngineReader } from "../../../engine-wasm/host/instance/engine-reader.js";
import { ClockCache } from "../../../engine-wasm/host/runtime/clock-cache.js";
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

type LocalLimits = Pick<
  Limits,
  | "localDocumentsMax"
  | "localDocumentsBusyMax"
  | "localDocumentsQuietMax"
  | "localUnwrittenMsMin"
  | "localReadMsMax"
>;
type Load = Pick<ThreadLoad, "wantsHelp" | "begins">;

/** A read starts only if at least this much time (ms) is left in the turn of the event loop. */
const LEAST_MS = 1;
/** For how many large indexes a thread remembers when they were last written. */
const GENERATIONS_MAX = 1_000;
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
  readonly #load: Load;
  readonly #limits: LocalLimits;
  readonly #meter: LocalReadMeter;
  readonly #onReading: OnReading;
  readonly #budget: TurnBudget;
  readonly #losses = new LossBudget();
  /** For large indexes: the generation of the last query, and since when queries have had it. */
  readonly #generations = new ClockCache<number, { generation: number; sinceMs: number }>(GENERATIONS_MAX);
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
    load: Load,
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
   * Call this before each query begins. Returns true if the query reads the index, with this number of
   * documents, on this thread. A busy thread reads only indexes so small that sending a message would cost it
   * more than the read. Larger indexes are searched by all shards in parallel if several queries have to be
   * answered; a single query costs less without messages, unless it takes long (`isLight`). A large index
   * that has been written returns to its shards, with this query, what it has lent to this thread.
   */
  begins(data: number, generation: number, documents: number): boolean {
    const { localDocumentsMax, localDocumentsBusyMax, localDocumentsQuietMax } = this.#limits;
    const { wantsHelp } = this.#load;
    const isQuiet = this.#load.begins();
    if (documents <= localDocumentsMax) return documents <= localDocumentsBusyMax || !wantsHelp;
    const readsLarge = localDocumentsMax > 1 && localDocumentsQuietMax > 1;
    if (readsLarge && this.#isSettled(data, generation)) return isQuiet;
    this.#readers.readerUnused(data);
    return false;
  }

  /** True if queries have found the index at the same generation for a while. */
  #isSettled(data: number, generation: number): boolean {
    const nowMs = performance.now();
    const known = this.#generations.get(data);
    if (known?.generation === generation) return nowMs - known.sinceMs >= this.#limits.localUnwrittenMsMin;
    this.#generations.set(data, { generation, sinceMs: nowMs });
    return false;
  }

  read<T>(read: ShardRead<T>, shards: Places): (T | Promise<T>)[] {
    if (!this.#isLight(read)) return this.#threads.read(read, shards);
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
        const decode = (result: Uint8Array) => read.decode(result, NO_DOCUMENTS);
        return this.#withRest(read, shards, results.length, inOrder(results, decode));
      }
      default: {
        const results = this.#results(read.kind, read, shards);
        return this.#withRest(read, shards, results.length, inOrder(results, read.decode));
      }
    }
  }

  /**
   * True if the index is small, or the read probably takes no longer than a read of a small index: it looks
   * up words or shows documents, or searches for words whose forms are not in many documents.
   */
  #isLight<T>(read: ShardRead<T>): boolean {
    if (read.kind === "message" || !this.#isLarge(read.of)) return true;
    if (read.kind === "expand" || read.kind === "fetch") return true;
    if (read.kind !== "page") return false;
    const { words } = read.asked;
    let sum = 0;
    for (const { alternatives, postings = Number.POSITIVE_INFINITY } of words)
      if (alternatives.length > 0) sum += postings;
    return words.length > 0 && sum <= this.#limits.localDocumentsQuietMax;
  }

  #isLarge({ documents }: AskedSnapshot): boolean {
    return documents > this.#limits.localDocumentsMax;
  }

  /** How long (ms) reads of the index may take in one turn. Reads of a large index never get more. */
  #turnMs(of: AskedSnapshot): number {
    return this.#isLarge(of) ? this.#limits.localReadMsMax : Number.POSITIVE_INFINITY;
  }

  /** Appends the answers of the shards after the first `count`, which their threads give. */
  #withRest<T>(
    read: ShardRead<T>,
    shards: Places,
    count: number,
    answers: (T | Promise<T>)[],
  ): (T | Promise<T>)[] {
    if (count === shards.length) return answers;
    answers.push(...this.#threads.read(read, count === 0 ? shards : shards.slice(count)));
    return answers;
  }

  #fetched(
    of: AskedSnapshot,
    shards: Places,
    seqs: readonly number[],
    options: FetchOptions,
  ): FetchedDocument[] | Promise<FetchedDocument[]> {
    const there: FetchThere = (some, wanted) => this.#there(fetchRead(of, some, wanted), shards);
    return this.#documents.show(of.record, seqs, options, there, this.#turnMs(of));
  }

  *#embedded(
    of: AskedSnapshot,
    shards: Places,
    terms: readonly WeightedTerm[],
    seqs: readonly number[],
  ): Work<EmbedReply> {
    const reader = this.#readersNow(of, shards)?.[0] ?? null;
    const query = reader === null ? undefined : this.#queryVector(of.data, reader, terms);
    const vectors =
      reader === null || query === undefined
        ? null
        : yield* this.#ofVectors(of, shards, reader, seqs, (slots) => this.#vectors.records(slots));
    const known = query === undefined || vectors === null ? null : { query, vectors };
    this.#count(known !== null);
    return known ?? (yield* this.#there(embedRead(of, terms, seqs), shards));
  }

  *#similarities(
    of: AskedSnapshot,
    shards: Places,
    query: Float32Array,
    seqs: ArrayLike<number>,
  ): Work<Float32Array> {
    const reader = this.#readersNow(of, shards)?.[0] ?? null;
    const use = (slots: Int32Array): Float32Array => this.#vectors.similarities(query, slots);
    const known = reader === null ? null : yield* this.#ofVectors(of, shards, reader, seqs, use);
    this.#count(known !== null);
    return known ?? (yield* this.#there(similaritiesRead(of, query, seqs), shards));
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

  /**
   * Runs a program in the memories of the first shards. Returns their results; the remaining shards' threads
   * must run it themselves.
   */
  #results<T>(question: SnapshotQuestion, read: ProgramRead<T> | PageRead<T>, shards: Places): Uint8Array[] {
    const readers = this.#readersNow(read.of, shards);
    const results = readers === null ? [] : this.#run(question, read, readers);
    this.#count(results.length === shards.length);
    return results;
  }

  /** Counts a read; `isWhole` is true if this thread has answered all of it. */
  #count(isWhole: boolean): void {
    if (isWhole) this.#meter.answered++;
    else this.#meter.left++;
  }

  /**
   * Returns a reader for each shard. Returns null if one is missing, if this turn has no time left, or if the
   * index is paused.
   */
  #readersNow(of: AskedSnapshot, shards: Places): EngineReader[] | null {
    const { data } = of;
    if (this.#budget.leftOf(this.#turnMs(of)) < LEAST_MS || this.#isPaused(data)) return null;
    const readers: EngineReader[] = [];
    for (const shard of shards) {
      const reader = this.#readers.reader(shard, data);
      if (reader !== null) readers.push(reader);
    }
    return readers.length === shards.length ? readers : null;
  }

  /**
   * Stops at the first shard whose read fails, or is likely to exceed the turn's time because the shards
   * before it took longer than what is left: documents are distributed evenly over the shards.
   */
  #run<T>(
    question: SnapshotQuestion,
    { of, program, deadline }: ProgramRead<T> | PageRead<T>,
    readers: readonly EngineReader[],
  ): Uint8Array[] {
    const { data, generation, oldestGeneration } = of;
    const answers: Uint8Array[] = [];
    const begunMs = performance.now();
    const leftMs = this.#budget.leftOf(this.#turnMs(of));
    const work = { leftMs };
    let spentMs = 0;
    this.#onReading(data);
    try {
      for (const reader of readers) {
        if (answers.length > 0 && spentMs / answers.length > leftMs - spentMs) break;
        const answer = reader.answer(question, generation, oldestGeneration, program, deadline, work);
        if (answer === null) break;
        answers.push(answer);
        spentMs = performance.now() - begunMs;
      }
      this.#losses.succeeded(spentMs);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      if (error.code === "trap" || error.code === "unusable") this.#readers.readerFailed(data);
      else if (error.code === "memory" || !this.#losses.lose(performance.now() - begunMs - spentMs))
        this.pause(data, PAUSE_MS);
    } finally {
      this.#onReading(null);
      this.#budget.spend(performance.now() - begunMs);
    }
    return answers;
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
