// All reads of indexes: snapshots for queries and exports, single reads, cached answers. Except for cached
// answers, a read opens its index, and the index stays open until the read ends.
import type { Workbench } from "../../../engine-wasm/host/instance/workbench.js";
import type { Location } from "../../catalog/schema/placement.js";
import { SkeinError } from "../../ground/errors.js";
import { RequestLife } from "../../ground/jobs/request-life.js";
import { settled, type Work } from "../../ground/jobs/work.js";
import type { Limits } from "../../ground/limits.js";
import type { QueryTrace } from "../../ground/metrics/query-trace.js";
import type { LocalReadMeter } from "../../ground/metrics/recorder.js";
import { LocalDocuments } from "../local/local-documents.js";
import { LocalReader, type OnReading, type Readers } from "../local/local-reader.js";
import { LocalVectors } from "../local/local-vectors.js";
import { TurnBudget } from "../local/turn-budget.js";
import { messageRead, type ShardReader } from "../shard-reader.js";
import type { Subject } from "../threads/isolation.js";
import type { QueryLoad } from "../threads/query-load.js";
import type { Message } from "../threads/shard-pool.js";
import { type OwnSlices, RequestSlices, TenantSlices } from "../threads/tenant-slices.js";
import { ThreadLoad } from "../threads/thread-load.js";
import type { Question, RememberedAnswer } from "./answer-cache.js";
import type { IndexHandle, IndexScale } from "./index-handle.js";
import { IndexSnapshot, type ShardReaders } from "./index-snapshot.js";

/** An index that stays open until `end` is called. */
export interface IndexUse<S extends IndexHandle = IndexHandle> {
  readonly state: S;
  readonly end: () => void;
}

/** The indexes that this thread may read. */
export interface IndexHandles {
  /** Number of live documents; 0 if the index cannot be opened. */
  documents(uid: number): number;
  /** Returns the index's handle. Throws SK-SE-503 if the index cannot be opened. */
  state(uid: number): IndexHandle;
  /**
   * Opens the index if necessary and starts a use of it. The caller must call `end` afterwards. Throws
   * SkeinError.
   */
  use(uid: number): Promise<IndexUse>;
  /** Returns the handle of an index that is open, without using it. */
  open(uid: number): IndexHandle | undefined;
  /** Synchronous form of `use`. Returns undefined if the index is not open. */
  useOpen(uid: number): IndexUse | undefined;
}

/**
 * Factor for `localReadMsMax` if there are several front-ends. Local reads may then take longer, because they
 * delay only the connections of their own front-end.
 */
const TURN_OF_SEVERAL = 4;

/** What Reads needs. */
export interface ReadsOptions {
  readonly indexes: IndexHandles;
  /** Reads by sending messages to the shards' threads, for whatever cannot be read locally. */
  readonly threads: ShardReader;
  /** Readers with direct access to the shards' memories. */
  readonly readers: Readers;
  readonly workbench: Workbench;
  /** Counts the queries in progress on this thread; the shards see the total over all threads. */
  readonly queries: QueryLoad;
  /** See ThreadLoad. */
  readonly oneOfSeveral: boolean;
  readonly limits: Limits;
  readonly meter: LocalReadMeter;
  readonly onReading?: OnReading;
}

export class Reads {
  readonly #indexes: IndexHandles;
  readonly #readers: ShardReaders;
  readonly #queries: QueryLoad;
  /** Time slices for long-running work on this thread. */
  readonly slices = new TenantSlices();
  readonly #limits: Pick<Limits, "searchMsMax">;

  constructor({
    indexes,
    threads,
    readers,
    workbench,
    queries,
    oneOfSeveral,
    limits,
    meter,
    onReading,
  }: ReadsOptions) {
    this.#indexes = indexes;
    const budget = new TurnBudget(limits.localReadMsMax * (oneOfSeveral ? TURN_OF_SEVERAL : 1));
    const documents = new LocalDocuments(workbench, budget, limits.shownDocumentsBytesMax);
    const vectors = new LocalVectors(() => workbench.vectorTable(), limits.comparedVectorsBytesMax);
    const local = new LocalReader(
      threads,
      readers,
      documents,
      vectors,
      budget,
      new ThreadLoad(queries, oneOfSeveral),
      limits,
      meter,
      onReading,
    );
    this.#readers = { threads, local };
    this.#queries = queries;
    this.#limits = limits;
  }

  /** Number of shards that have the index now. */
  shards(uid: number): number {
    return this.#indexes.state(uid).location.places.length;
  }

  /**
   * Makes the shards serve the index's reads for `ms` milliseconds, instead of this thread. `data`: see
   * Location.
   */
  leaveToShards(data: number, ms: number): void {
    this.#readers.local.pause(data, ms);
  }

  /** Number of live documents; 0 if the index cannot be opened. */
  documents(uid: number): number {
    return this.#indexes.documents(uid);
  }

  /** The index's size, by which a query is planned. */
  scale(uid: number): IndexScale {
    const { documents, documentsMax } = this.#indexes.state(uid);
    return { documents, documentsMax };
  }

  /** Returns the cached answer as `IndexHandle.recall` does. Returns null also if the index is not open. */
  recall(uid: number, question: Question): RememberedAnswer | null {
    const answer = this.#indexes.open(uid)?.recall(question) ?? null;
    if (answer !== null) this.#indexes.useOpen(uid)?.end(); // an answer counts as a use of its index
    return answer;
  }

  /**
   * Returns a snapshot of the index's current state, which the caller must release. Its reads end with
   * `life`.
   */
  async snapshot(uid: number, life: RequestLife): Promise<IndexSnapshot> {
    const use = this.#indexes.useOpen(uid) ?? (await this.#indexes.use(uid));
    return this.#snapshot(use, life, new RequestSlices(this.slices, use.state.record.tenant, life));
  }

  #snapshot(
    { state, end }: IndexUse,
    life: RequestLife,
    slices: OwnSlices,
    trace?: QueryTrace,
  ): IndexSnapshot {
    const deadline = Math.min(life.deadline, Math.ceil(Date.now() + this.#limits.searchMsMax));
    return new IndexSnapshot(state, this.#readers, life, slices, deadline, end, trace);
  }

  /**
   * Runs `work`, which answers a query from a snapshot, then releases the snapshot. `work` returns null if a
   * shard no longer has one of the snapshot's documents; it is then run again with a new snapshot. Throws
   * SK-SE-503 if it returns null again. The reads end with `life`; `trace` records their phases.
   */
  *answer<T>(
    uid: number,
    life: RequestLife,
    trace: QueryTrace | undefined,
    work: (snapshot: IndexSnapshot) => Work<T | null>,
  ): Work<T> {
    // A restarted shard has only its newest state, so a snapshot taken before the restart may fail; a new
    // snapshot sees the newest state.
    for (let tries = 0; tries < 2; tries++) {
      const use = this.#indexes.useOpen(uid) ?? (yield* this.#opened(uid, trace));
      const slices = this.slices.query(use.state.record.tenant, life);
      const snapshot = this.#snapshot(use, life, slices, trace);
      this.#queries.begin();
      try {
        const answer = yield* work(snapshot);
        if (answer !== null) return answer;
        snapshot.forget();
      } finally {
        this.#queries.end();
        slices.end();
        snapshot.release();
      }
    }
    throw new SkeinError("SK-SE-503", "the index changed while it was being read; retry in a moment", {
      retryAfter: 1,
    });
  }

  /**
   * Reads the newest state from one shard. `ask` makes the request for that state's location. Throws
   * SkeinError if the shard refuses the request or its thread ends.
   */
  async one<T>(
    uid: number,
    ask: (newest: Location) => { readonly shard: number; readonly request: Message },
    decode: (reply: Uint8Array) => T,
  ): Promise<T> {
    const { state, end } = await this.#indexes.use(uid);
    try {
      const { tenant } = state.record;
      return await state.withNewest((newest) => {
        const { shard, request } = ask(newest);
        return this.#message(shard, tenant, request, decode);
      });
    } finally {
      end();
    }
  }

  /**
   * Sends a read for a thread that is not allowed to send it directly. Returns the shard's raw reply.
   * `subject`: see Subject.
   */
  forwarded(shard: number, tenant: number, message: Message, subject: string): Promise<Uint8Array> {
    return this.#message(
      shard,
      tenant,
      message,
      (reply) => reply,
      () => subject,
    );
  }

  #message<T>(
    shard: number,
    tenant: number,
    message: Message,
    decode: (reply: Uint8Array) => T,
    subject?: Subject,
  ): Promise<T> {
    const life = new RequestLife();
    const asker = { tenant, life, slices: new RequestSlices(this.slices, tenant, life) };
    const read = messageRead(asker, message, decode, subject);
    return this.#readers.threads.read(read, [shard])[0] as Promise<T>;
  }

  *#opened(uid: number, trace: QueryTrace | undefined): Work<IndexUse> {
    trace?.enter("open");
    const use = yield* settled(this.#indexes.use(uid));
    trace?.enter("plan");
    return use;
  }
}
