// Opens an index in its shards when it is needed and unloads it when it is idle; also creates and drops
// indexes. Knows nothing about how indexes are read and written.
import type { IndexSize, IndexStats, OpenReply } from "../../../shards/protocol/control.js";
import { isUnreadable } from "../../../shards/protocol/errors.js";
import { vectorPolicy } from "../../catalog/definition/embedder-sources.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import { SkeinError } from "../../ground/errors.js";
import { fault } from "../../ground/fault.js";
import type { Jobs } from "../../ground/jobs/jobs.js";
import type { Limits } from "../../ground/limits.js";
import type { Logger } from "../../ground/log.js";
import type { Recorder } from "../../ground/metrics/recorder.js";
import type { WordMemories } from "../../question/words/word-memory.js";
import type { AnswerCache } from "../reads/answer-cache.js";
import type { IndexHandles, IndexUse } from "../reads/reads.js";
import type { Ask } from "../threads/shard-pool.js";
import { resolveDoubts } from "./in-doubt.js";
import { IndexMessages, type IndexMessagesOptions, sumStats } from "./index-messages.js";
import { IndexRegistry } from "./index-registry.js";
import { IndexState } from "./index-state.js";
import type { OnReindexed } from "./rebuild.js";
import { Residency } from "./residency.js";
import { SchemaChanges } from "./schema-changes.js";
import { recoverShard } from "./shard-recovery.js";

export interface OpenIndexesOptions extends Omit<IndexMessagesOptions, "onDamage" | "policyOf"> {
  /** Number of threads that may read indexes, including this one. */
  readonly threads: number;
  /** Called when an index has been opened. */
  readonly onOpened: (uid: number) => void;
  readonly onReindexed: OnReindexed;
  readonly limits: Pick<Limits, "openIndexesMax" | "indexIdleMsMax">;
  readonly jobs: Jobs;
  readonly log: Logger;
  readonly recorder: Recorder;
  readonly answers: AnswerCache;
  readonly words: WordMemories;
}

/** Maximum number of WebAssembly memories in a process. Each reserves 10 GiB of the 128 TiB address space. */
const MEMORIES_MAX = 10_000;
const SWEEPS_PER_IDLE_TIME = 8;
const SWEEP_MS_MIN = 50;
const NOTHING_STORED: OpenReply = { liveDocs: 0, maxSeq: 0, generation: 0, staleSegments: 0 };

export class OpenIndexes extends IndexRegistry implements IndexHandles {
  readonly #options: OpenIndexesOptions;
  readonly messages: IndexMessages;
  readonly schemas: SchemaChanges;
  readonly #residency: Residency;
  #stopped = false;
  #unseen = 0;

  constructor(options: OpenIndexesOptions) {
    super(options.log);
    this.#options = options;
    const { limits, locations } = options;
    this.messages = new IndexMessages({
      locations,
      ask: options.ask,
      policyOf: (record) => vectorPolicy(record, this.documents(record.uid)),
      onDamage: (shard, error) => this.onDamage(shard, error),
    });
    this.#residency = new Residency({
      loadedMax: Math.max(
        1,
        Math.min(limits.openIndexesMax, Math.floor(MEMORIES_MAX / locations.all.length)),
      ),
      idleMs: limits.indexIdleMsMax,
      now: () => performance.now(),
      open: (uid) => this.#open(uid),
      close: (uid) => this.#close(uid),
      mark: (uid, isOpen) => {
        const state = this.states.get(uid);
        if (state !== undefined) state.shared.isOpen = isOpen;
      },
      elsewhere: (uid) => this.usesElsewhere(uid),
    });
    this.schemas = new SchemaChanges({
      ...options,
      messages: this.messages,
      state: (uid) => this.state(uid),
      use: (uid) => this.use(uid),
      keep: (uid) => this.#residency.keep(uid),
      isSound: (state) => this.isSound(state),
    });
    const sweepMs = Math.max(SWEEP_MS_MIN, limits.indexIdleMsMax / SWEEPS_PER_IDLE_TIME);
    options.jobs.every(sweepMs, { name: "unload idle indexes", subject: "loaded indexes" }, () =>
      this.#residency.sweep(),
    );
  }

  /**
   * How many indexes are in each state. `failing`: damaged, or not opened successfully at the last use.
   * `unseen`: not opened since startup, so there may be damage that is not known yet.
   */
  get counts() {
    const { loaded, openings, unloads } = this.#residency;
    return { failing: this.failing, unseen: this.#unseen, loaded, openings, unloads };
  }

  /** Opens the index if necessary and starts a use of it. The caller must call `end`. Throws SkeinError. */
  async use(uid: number): Promise<IndexUse<IndexState>> {
    this.state(uid);
    const end = await this.#residency.begin(uid);
    try {
      return { state: this.state(uid), end };
    } catch (error) {
      end(); // the index was dropped while it was being opened
      throw error;
    }
  }

  /** Returns the state of an index that is open, without using it. */
  open(uid: number): IndexState | undefined {
    return this.#residency.isOpen(uid) ? this.states.get(uid) : undefined;
  }

  /** Synchronous form of `use`. Returns undefined if the index is not open. */
  useOpen(uid: number): IndexUse<IndexState> | undefined {
    const state = this.open(uid);
    return state && { state, end: this.#residency.keep(uid) };
  }

  /**
   * Like `use`, but never starts opening the index. Waits for an opening or unloading in progress. Resolves
   * with undefined if the index is not open after that.
   */
  async useLoaded(uid: number): Promise<IndexUse<IndexState> | undefined> {
    const end = await this.#residency.beginLoaded(uid);
    if (end === undefined) return undefined;
    const state = this.states.get(uid);
    if (state === undefined) end(); // the index was dropped while it was being opened
    return state && { state, end };
  }

  /**
   * Registers indexes that are already stored, with the standing that the shards report, after taking back
   * the writes that not all shards have. Does not open them.
   */
  async adopt(records: readonly IndexRecord[]): Promise<void> {
    const told = await resolveDoubts(records, this.messages, this.#options.log);
    for (const [i, record] of records.entries()) {
      const standing = told[i]!.filter((one) => one !== null);
      if (standing.length < told[i]!.length) continue;
      const state = this.#newState(record, standing);
      state.rebuilding = staleSegments(standing) > 0 || record.unready !== undefined;
      this.states.set(record.uid, state);
    }
  }

  /**
   * Opens every adopted index once, to find damage and to load large indexes before they are needed. Indexes
   * that must be re-indexed come first, then the largest. Opens them one after another. If more are loaded
   * than allowed, some are unloaded again.
   */
  async lookAtAll(signal: AbortSignal): Promise<void> {
    const waiting = [...this.states.values()].sort(
      (a, b) => Number(b.rebuilding) - Number(a.rebuilding) || b.documents - a.documents,
    );
    this.#unseen = waiting.length;
    for (const { record } of waiting) {
      if (signal.aborted) return;
      if (this.states.has(record.uid)) await this.#residency.visit(record.uid).catch(() => undefined);
      this.#unseen--;
    }
  }

  /** Creates a new index in its shards. */
  async create(record: IndexRecord): Promise<void> {
    const standing = this.#options.locations.of(record).places.map(() => NOTHING_STORED);
    const state = this.#newState({ ...record, making: true }, standing);
    this.states.set(record.uid, state);
    try {
      const { end } = await this.use(record.uid);
      state.record = record;
      end();
    } catch (error) {
      this.forget(record.uid);
      throw error;
    }
  }

  /** Forgets the index's state, as if it had never been adopted. Its stored data stays. */
  forget(uid: number): void {
    this.#residency.forget(uid);
    this.states.delete(uid);
  }

  /**
   * Drops the index and all its stored data. `uid` may also be a home's data number (schema/placement.ts):
   * then drops only the documents stored at home.
   */
  async drop(uid: number): Promise<void> {
    this.forget(uid);
    this.schemas.cancel(uid);
    for (const location of this.#options.locations.every(uid)) await this.messages.drop(location);
    this.damage.forget(uid);
  }

  /** Returns the index's statistics, summed over its shards. */
  async stats(uid: number): Promise<IndexStats> {
    return sumStats(await this.statsByShard(uid));
  }

  /** Returns the index's statistics per shard, in shard order. */
  async statsByShard(uid: number): Promise<IndexStats[]> {
    const { state, end } = await this.use(uid);
    try {
      return await state.withNewest((newest) => this.messages.stats(newest));
    } finally {
      end();
    }
  }

  /** Returns the size of each index, open or not, in the order of `records`. */
  sizes(records: readonly IndexRecord[]): Promise<IndexSize[]> {
    return this.messages.sizes(records.map((record) => this.#options.locations.of(record)));
  }

  /**
   * Opens the indexes in use in a shard's new thread, in which no index is open yet. Sends the messages with
   * `ask`.
   */
  recover(shard: number, ask: Ask): Promise<void> {
    return recoverShard(shard, ask, this.states, this.#residency, this.messages);
  }

  /**
   * Forgets all indexes, so that no further ones are opened or unloaded. Does not interrupt an opening or
   * unloading in progress.
   */
  stop(): void {
    this.#stopped = true;
    this.states.clear();
  }

  async #open(uid: number): Promise<void> {
    const state = this.state(uid);
    const startedMs = performance.now();
    try {
      const replies = await this.messages.open(state.record, state.newest, state.generations.published);
      fault("open.after-shards");
      state.setAllLiveDocs(replies);
      state.failing = false;
      if (state.rebuilding || staleSegments(replies) > 0) await this.schemas.follow(state);
    } catch (error) {
      await this.#closeEverywhere(state);
      this.#onNotOpened(state, error);
      throw error;
    }
    this.#options.recorder.openings.observe((performance.now() - startedMs) / 1000);
    this.#options.onOpened(uid);
  }

  /**
   * Logs why an index could not be opened. A damaged index stays unopenable until it has been repaired. After
   * any other error, the next use tries again.
   */
  #onNotOpened(state: IndexState, error: unknown): void {
    const { uid, name } = state.record;
    if (this.#stopped || this.states.get(uid) !== state) return;
    if (!state.failing) this.#options.log.error({ err: error, index: name, uid }, "an index does not open");
    state.failing = true;
    if (error instanceof SkeinError && isUnreadable(error.cause)) this.states.delete(uid);
  }

  /**
   * Unloads an index. Returns false if it stays loaded because a shard is working on it, another thread uses
   * it, or the server is stopping.
   */
  async #close(uid: number): Promise<boolean> {
    const state = this.states.get(uid);
    if (state === undefined || this.#stopped) return state === undefined;
    if (state.shared.isUsedElsewhere) return false; // a use may have begun since the last check
    if (this.damage.of(uid) === undefined) {
      const stats = await this.messages.statsWhereOpen(state.newest);
      if (stats.some(({ merging, queuedBytes }) => merging || queuedBytes > 0)) return false;
    }
    fault("unload.before-shards");
    await this.messages.close(state.newest);
    state.forget();
    return true;
  }

  /**
   * Unloads an index that could not be opened in all of its shards, because some of them may have loaded it.
   */
  async #closeEverywhere({ record, newest }: IndexState): Promise<void> {
    const { uid } = record;
    try {
      await this.messages.close(newest);
    } catch (error) {
      this.#options.log.debug({ err: error, uid }, "an index that did not open could not be unloaded");
    }
  }

  #newState(record: IndexRecord, told: readonly OpenReply[]): IndexState {
    const { threads, locations } = this.#options;
    return new IndexState(record, told, threads, locations, this.#options);
  }
}

function staleSegments(standing: readonly OpenReply[]): number {
  return standing.reduce((sum, one) => sum + one.staleSegments, 0);
}
