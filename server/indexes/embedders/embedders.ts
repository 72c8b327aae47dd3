// Keeps the vectors of indexes up to date. Tells shards where vectors come from, trains models and sends them
// to the shards, requests vectors from endpoints, and waits until every document has its vector. Checks an
// index after it is opened or changed, and when writes to it pause.
import { setTimeout as sleep } from "node:timers/promises";
import { modelInfo } from "../../../engine-wasm/host/vectors/model-info.js";
import type { IndexStats } from "../../../shards/protocol/control.js";
import type { Catalog } from "../../catalog/catalog.js";
import { vectorPolicy } from "../../catalog/definition/embedder-sources.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import type { CatalogState } from "../../catalog/state.js";
import type { IndexState } from "../../fleet/owner/index-state.js";
import type { OpenIndexes } from "../../fleet/owner/open-indexes.js";
import type { Reads } from "../../fleet/reads/reads.js";
import type { Jobs } from "../../ground/jobs/jobs.js";
import type { EmbeddingEndpoints } from "../../models/embedding-endpoints.js";
import { EndpointError } from "../../models/model-server.js";
import { type EndpointQueueOptions, embedWaiting } from "./endpoint-queue.js";
import { sampleDocuments } from "./sample.js";
import { trainedFields } from "./trained-fields.js";
import type { TrainerPool } from "./trainer-pool.js";

interface EmbeddersOptions extends EndpointQueueOptions {
  readonly catalog: Pick<Catalog, "state" | "watch">;
  readonly indexes: OpenIndexes;
  readonly reads: Reads;
  readonly trainer: TrainerPool;
  readonly endpoints: EmbeddingEndpoints;
  readonly jobs: Jobs;
}

/** State of the work on an index's vectors. */
export type EmbedderState = "none" | "waiting" | "training" | "embedding" | "ready" | "failed";

const QUIET_MS = 1_000;
/** Maximum time (ms) for which continuing writes may delay a check. */
const DELAY_MS_MAX = 60_000;
const POLL_MS = 200;
/**
 * A model is retrained once the index has this many times as many documents as when the model was trained.
 */
const GROWTH = 2;
/** Delay (ms) before retrying a failed endpoint, unless the error specifies a delay. */
const ENDPOINT_RETRY_MS = 30_000;
/** Delay (ms) before repeating a check that failed for any other reason. */
const RETRY_MS = 30_000;
const TERMS_MAX = 50_000;
const MODEL_NUMBER_MAX = 2 ** 31 - 1;

export class Embedders {
  readonly #options: EmbeddersOptions;
  readonly #states = new Map<number, EmbedderState>();
  /** Each index's record at the last check, by uid. */
  readonly #seen = new Map<number, IndexRecord>();
  /**
   * Indexes whose documents still wait for vectors after their endpoint failed. They are checked even if they
   * are not loaded.
   */
  readonly #owed = new Set<number>();
  /** The time of the first write since an index's last check, by uid. */
  readonly #dueMs = new Map<number, number>();

  constructor(options: EmbeddersOptions) {
    this.#options = options;
    options.catalog.watch((state) => this.#follow(state));
  }

  /**
   * Returns the state of an index's vectors. Must be called only for an index that should have vectors. If
   * the index has not been checked yet, or its last check ended with "waiting", the shards' counters decide:
   * it is ready if it has a model or vectors and no document is pending.
   */
  stateOf(
    uid: number,
    stats: Pick<IndexStats, "liveDocs" | "vectors" | "pending" | "modelNumber">,
  ): EmbedderState {
    const state = this.#states.get(uid) ?? "waiting";
    const { liveDocs, vectors, pending, modelNumber } = stats;
    if (state === "waiting" && liveDocs > 0 && pending === 0 && (vectors > 0 || modelNumber > 0))
      return "ready";
    return state === "none" ? "waiting" : state;
  }

  /**
   * Called when an index has been opened. The open message has already told its shards where its vectors come
   * from.
   */
  opened(uid: number): void {
    const record = this.#options.catalog.state.indexes.get(uid);
    if (record === undefined) return;
    this.#seen.set(uid, record);
    if (vectorPolicy(record, this.#options.indexes.documents(uid)).source !== "none") this.#lookIn(0, uid);
  }

  /** Called after documents have been written. Schedules a check for when writes pause. */
  written(uid: number): void {
    const now = Date.now();
    const since = this.#dueMs.get(uid) ?? now;
    this.#dueMs.set(uid, since);
    this.#lookIn(Math.max(0, Math.min(QUIET_MS, since + DELAY_MS_MAX - now)), uid);
  }

  #follow({ indexes }: CatalogState): void {
    for (const [uid, record] of this.#seen) {
      const now = indexes.get(uid);
      if (now === record) continue;
      if (now === undefined) {
        this.#options.jobs.cancel(vectorsSubject(uid));
        for (const known of [this.#seen, this.#states, this.#dueMs, this.#owed]) known.delete(uid);
      } else if (now.isHome !== record.isHome) {
        this.#seen.set(uid, now); // it was spread over all shards, along with its model and vectors
        this.written(uid);
      } else {
        this.#states.set(uid, "none"); // its vectors may now come from another source
        this.#lookIn(0, uid);
      }
    }
  }

  #lookIn(ms: number, uid: number): void {
    const job = { name: "look after vectors", subject: vectorsSubject(uid) };
    this.#options.jobs.after(ms, job, (signal) => this.#look(uid, signal));
  }

  /**
   * Checks an index. An index that is not loaded is skipped until it is opened, unless its documents still
   * wait for an endpoint.
   */
  async #look(uid: number, signal: AbortSignal): Promise<void> {
    const { indexes, catalog } = this.#options;
    const dueMs = this.#dueMs.get(uid) ?? Number.NEGATIVE_INFINITY;
    if (Date.now() < dueMs + DELAY_MS_MAX && indexes.find(uid)?.writing.busy) {
      this.written(uid); // a write is still running, so writes have not paused
      return;
    }
    this.#dueMs.delete(uid);
    const use =
      (await indexes.useLoaded(uid)) ?? (this.#owed.delete(uid) ? await indexes.use(uid) : undefined);
    const record = catalog.state.indexes.get(uid); // may have changed while the index was being opened
    if (record !== undefined) this.#seen.set(uid, record);
    if (use === undefined) return;
    const { state, end } = use;
    if (record === undefined) return end();
    const became = (now: EmbedderState): void => {
      // If the record has changed since, this state is outdated; the next check sets the new one.
      if (catalog.state.indexes.get(uid) === record) this.#states.set(uid, now);
    };
    try {
      became(await this.#bring(state, record, signal));
    } catch (error) {
      became("failed");
      if (!signal.aborted) this.#lookIn(RETRY_MS, uid);
      throw error;
    } finally {
      end();
    }
  }

  /**
   * Brings the index's vectors up to date: sends its vector source to the shards, trains a model or asks the
   * endpoint, and waits until no document is pending. Returns the state in which it stopped.
   */
  async #bring(state: IndexState, record: IndexRecord, signal: AbortSignal): Promise<EmbedderState> {
    const { indexes, catalog } = this.#options;
    const policy = vectorPolicy(record, state.documents);
    await indexes.messages.changeSource(record, state.newest);
    if (policy.source === "none") return "none";
    for (;;) {
      // Repeated in every round, because documents may have arrived, or a shard may have lost its model.
      if (policy.source === "documents" && !(await this.#bringModel(record, state.documents, signal)))
        return "waiting";
      // Repeated in every round, because a shard finds the documents without vectors only gradually.
      if (policy.source === "endpoint" && !(await this.#askEndpoint(state, record, policy.origin, signal)))
        return "failed";
      const shards = await indexes.statsByShard(record.uid);
      if (pendingOf(shards) === 0) {
        // Cached answers may have been found with other vectors or with none.
        if (this.#states.get(record.uid) !== "ready") state.forget();
        // A document may remain without a vector if it has too few words, or if its client should have sent a
        // vector but did not.
        return shards.some(({ liveDocs }) => liveDocs > 0) ? "ready" : "waiting";
      }
      this.#states.set(record.uid, "embedding");
      await sleep(POLL_MS, undefined, { ref: false, signal });
      if (indexes.find(record.uid) !== state || catalog.state.indexes.get(record.uid) !== record)
        return "waiting"; // the index was closed or changed, so another check follows
    }
  }

  /**
   * Requests vectors for all pending documents. If the endpoint fails, schedules another check and returns
   * false.
   */
  async #askEndpoint(
    state: IndexState,
    record: IndexRecord,
    origin: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { endpoints, indexes, log } = this.#options;
    const endpoint = endpoints.of(record);
    const shards = await indexes.statsByShard(record.uid);
    if (endpoint === null || pendingOf(shards) === 0) return true;
    this.#states.set(record.uid, "embedding");
    const stored = (): void => state.forget();
    try {
      await embedWaiting(this.#options, record, endpoint, origin, shards.length, stored, signal);
      return true;
    } catch (error) {
      if (!(error instanceof EndpointError)) throw error;
      log.warn({ err: error, index: record.name }, "an endpoint makes no vectors now; documents wait");
      this.#owed.add(record.uid);
      this.#lookIn(error.afterMs ?? ENDPOINT_RETRY_MS, record.uid);
      return false;
    }
  }

  /**
   * Ensures that the index has a recent enough model and that every shard has it. Returns false if there are
   * no documents or no fields to train on.
   */
  async #bringModel(record: IndexRecord, documents: number, signal: AbortSignal): Promise<boolean> {
    if (documents === 0) return false;
    const { vectors, indexes } = this.#options;
    const { uid } = record;
    const shards = await indexes.statsByShard(uid);
    const newest = shards.reduce((best, one) => (one.modelNumber > best.modelNumber ? one : best));
    const { modelNumber, modelDocuments, modelFields } = newest;
    const isDue = documents >= GROWTH * modelDocuments || modelFields !== trainedFields(record).fingerprint;
    if (modelNumber === 0 || isDue) return this.#train(record, documents, shards, signal);
    const without = shards.flatMap((one, shard) => (one.modelNumber < modelNumber ? [shard] : []));
    if (without.length === 0) return true;
    const model = await vectors.modelOf(uid, shards.indexOf(newest));
    if (model === null) return this.#train(record, documents, shards, signal);
    this.#states.set(uid, "embedding");
    await vectors.setModel(uid, model, without);
    return true;
  }

  /**
   * Trains a model and sends it to the shards. Returns false if there are no documents or no fields to train
   * on.
   */
  async #train(
    record: IndexRecord,
    documents: number,
    shards: readonly IndexStats[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const { vectors, reads, trainer, log } = this.#options;
    const { uid, name } = record;
    const { names, fields, schema, fingerprint } = trainedFields(record);
    if (names.length === 0) return false;
    this.#states.set(uid, "training");
    const startedMs = performance.now();
    const newest = Math.max(...shards.map(({ modelNumber }) => modelNumber));
    const previous =
      newest === 0
        ? null
        : await vectors.modelOf(
            uid,
            shards.findIndex(({ modelNumber }) => modelNumber === newest),
          );
    const sample = await sampleDocuments(reads, vectors, uid, names, signal);
    const { length: sampled } = sample.ends; // read now: training transfers the buffers to its thread
    if (sampled === 0) return false;
    const number = (newest % MODEL_NUMBER_MAX) + 1;
    const bytes = await trainer.train(
      { ...sample, schema, fields, number, termsMax: TERMS_MAX, previous: previous?.bytes ?? null },
      signal,
    );
    const tookMs = Math.round(performance.now() - startedMs);
    const model = {
      number,
      since: modelInfo(bytes).aligned && previous !== null ? previous.since : number,
      documents,
      fields: fingerprint,
      trainedAt: Math.max(0, Math.floor(Date.now() / 1000)),
      tookMs,
      bytes,
    };
    await vectors.setModel(
      uid,
      model,
      shards.map((_, shard) => shard),
    );
    log.info({ index: name, sample: sampled, bytes: bytes.length, tookMs }, "a model was trained");
    return true;
  }
}

/** Returns the job subject for an index's vectors, so that its checks run one at a time. */
function vectorsSubject(uid: number): string {
  return `vectors of index ${uid}`;
}

function pendingOf(shards: readonly IndexStats[]): number {
  return shards.reduce((sum, { pending }) => sum + pending, 0);
}
