// Spreads an index that has outgrown its home over all shards while it is in use. Copies its documents from
// the home, under a different data number and at a generation that is not visible yet. Writes to the index
// wait for the copy, a few seconds at most; reads continue. Changing the catalog record commits the move.
// Reads of older generations still use the home, which is dropped after the last of them.
import { setTimeout as sleep } from "node:timers/promises";
import type { Workbench } from "../../../engine-wasm/host/instance/workbench.js";
import type { OpenReply } from "../../../shards/protocol/control.js";
import { openReply } from "../../../shards/protocol/reply.js";
import type { Catalog } from "../../catalog/catalog.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import { type IndexState, indexSubject, SPREAD_WAIT_MS_MAX } from "../../fleet/owner/index-state.js";
import type { OpenIndexes } from "../../fleet/owner/open-indexes.js";
import type { Writes } from "../../fleet/owner/writes.js";
import type { ShardCalls } from "../../fleet/threads/shard-calls.js";
import { decodeReply } from "../../fleet/threads/shard-errors.js";
import type { Message } from "../../fleet/threads/shard-pool.js";
import type { Headroom } from "../../ground/data-dir/headroom.js";
import { fault } from "../../ground/fault.js";
import type { Jobs } from "../../ground/jobs/jobs.js";
import type { Limits } from "../../ground/limits.js";
import type { Logger } from "../../ground/log.js";
import { moveIndex } from "./move-index.js";
import type { AskShard } from "./new-part.js";

export interface SpreadingOptions {
  readonly catalog: Catalog;
  readonly indexes: OpenIndexes;
  readonly writes: Writes;
  readonly calls: ShardCalls;
  readonly headroom: Headroom;
  readonly workbench: Workbench;
  readonly jobs: Jobs;
  readonly limits: Pick<Limits, "documentBytesMax" | "homeDocumentsMax" | "homeBytesMax">;
  readonly log: Logger;
  /** Called when the index starts using its new shards. */
  readonly onSpread: (uid: number) => void;
}

const TURNS = "spreading of indexes";
/** Initial retry delay (ms); doubles after each failure. */
const PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 5 * 60_000;
const LOOK_MS = 100;
/** Minimum interval (ms) between measurements of an index at home that is being written. */
const MEASURE_MS = 1_000;
/** Free disk space needed for the copy and its merges, as a multiple of the index's size at home. */
const COPY_BYTES_FACTOR = 2;

/** Size of an index at home, and the performance.now() at which it was measured. */
interface Measured {
  readonly atMs: number;
  readonly bytes: number;
}

const NOT_MEASURED: Measured = { atMs: Number.NEGATIVE_INFINITY, bytes: 0 };

export class Spreading {
  readonly #options: SpreadingOptions;
  /** Sends a request to the index's home shard. Reports damage. Throws if the shard replies with an error. */
  readonly #askHome: AskShard;
  readonly #measured = new WeakMap<IndexState, Measured>();
  /** By index uid, the delay (ms) before the next attempt, for indexes that are waiting for one. */
  readonly #paused = new Map<number, number>();

  constructor(options: SpreadingOptions) {
    this.#options = options;
    this.#askHome = async (shard, request) => {
      const reply = await options.calls.ask(shard, request);
      decodeReply(reply, openReply, (error) => options.indexes.onDamage(shard, error));
      return reply;
    };
  }

  /**
   * Called after an index has been opened or written. If it has grown too large for its home, spreads it in
   * the background, one index at a time.
   */
  look(uid: number): void {
    if (this.#paused.has(uid)) return;
    if (this.#hasGrown(uid)) this.#lookNow(uid);
    else this.#measure(uid);
  }

  #lookNow(uid: number): void {
    const { indexes, jobs } = this.#options;
    if (!this.#hasGrown(uid)) this.#paused.delete(uid);
    else if (indexes.isRebuilding(uid)) this.#pause(uid, PAUSE_MS);
    else {
      const turn = { name: `spread index ${uid}`, subject: TURNS };
      const job = { name: "spread an index", subject: indexSubject(uid) };
      if (!jobs.has(turn)) void jobs.start(turn, () => jobs.run(job, (signal) => this.#spread(uid, signal)));
    }
  }

  #hasGrown(uid: number): boolean {
    const { indexes, limits } = this.#options;
    const state = indexes.find(uid);
    if (!state?.isHome || !this.#isThere(state) || indexes.isFailing(uid)) return false;
    const { bytes } = this.#measured.get(state) ?? NOT_MEASURED;
    return state.documents > limits.homeDocumentsMax || bytes > limits.homeBytesMax;
  }

  /** Measures the index's size on disk in the background, and starts spreading it if it is too large. */
  #measure(uid: number): void {
    const { indexes, limits, log, jobs } = this.#options;
    const state = indexes.find(uid);
    if (!state?.isHome || state.documents * limits.documentBytesMax <= limits.homeBytesMax) return;
    const atMs = performance.now();
    const before = this.#measured.get(state) ?? NOT_MEASURED;
    if (atMs - before.atMs < MEASURE_MS) return;
    this.#measured.set(state, { ...before, atMs });
    void jobs.start({ name: "measure", subject: `bytes of index ${uid}` }, async () => {
      try {
        this.#measured.set(state, { atMs, bytes: await this.#homeBytes(state) });
        if (this.#hasGrown(uid)) this.#lookNow(uid);
      } catch (error) {
        // The next write measures again.
        log.debug({ err: error, uid }, "a shard could not be asked how large an index is");
      }
    });
  }

  async #homeBytes({ home }: IndexState): Promise<number> {
    const [size] = await this.#options.indexes.messages.sizes([home]);
    return size!.diskBytes;
  }

  /**
   * False if the index is gone from the catalog. A swap may delete it during a spread; its data is dropped
   * after that.
   */
  #isThere(state: IndexState): boolean {
    const { catalog, indexes } = this.#options;
    const { uid } = state.record;
    return indexes.find(uid) === state && catalog.state.indexes.has(uid);
  }

  async #spread(uid: number, signal: AbortSignal): Promise<void> {
    const { indexes, headroom, log } = this.#options;
    // The index may have changed while it was queued.
    if (!this.#hasGrown(uid) || indexes.isRebuilding(uid)) return this.#lookNow(uid);
    const startedMs = performance.now();
    try {
      const { state, end } = await indexes.use(uid);
      try {
        headroom.check(COPY_BYTES_FACTOR * (await this.#homeBytes(state)));
        const done = await state.writing.quiet(SPREAD_WAIT_MS_MAX, () => this.#move(state, signal));
        if (done === undefined) throw new Error("the writes under way did not end");
        const tookMs = Math.round(performance.now() - startedMs);
        const { documents, record } = state;
        log.info({ index: record.name, documents, tookMs }, "an index was spread over all shards");
        this.#paused.delete(uid);
      } finally {
        end();
      }
    } catch (error) {
      if (!signal.aborted) this.#failed(uid, error);
    }
  }

  #failed(uid: number, error: unknown): void {
    const { indexes, log } = this.#options;
    if (indexes.find(uid) === undefined) {
      this.#paused.delete(uid);
      return;
    }
    const retryMs = Math.min(2 * (this.#paused.get(uid) ?? PAUSE_MS / 2), PAUSE_MS_MAX);
    log.warn({ err: error, uid, retryMs }, "an index could not be spread over all shards; trying again");
    this.#pause(uid, retryMs);
  }

  #pause(uid: number, ms: number): void {
    this.#paused.set(uid, ms);
    const job = { name: `look at index ${uid} again`, subject: TURNS };
    this.#options.jobs.after(ms, job, async () => this.#lookNow(uid));
  }

  /** Moves the index. Nothing writes to the index while this runs. */
  async #move(state: IndexState, signal: AbortSignal): Promise<true> {
    const { indexes, jobs, onSpread } = this.#options;
    const { record, generations } = state;
    await indexes.messages.dropCopies([record]);
    const generation = generations.begin();
    let mayBeDecided = false;
    try {
      const told = await this.#copy(state, generation, signal);
      mayBeDecided = true;
      state.spreadFrom(generation, await this.#decide(state, signal), told);
    } finally {
      generations.finish(generation);
      if (!mayBeDecided) {
        state.isMoving = false;
        await indexes.messages.dropCopies([record]).catch(() => undefined); // the next attempt retries this
      }
    }
    onSpread(record.uid);
    const job = { name: "drop what was at home", subject: `home of index ${record.uid}` };
    void jobs.start(job, (stop) => this.#dropHome(state, generation, stop));
    return true;
  }

  /**
   * Copies the documents, opens the copy in all shards and checks that it is complete. Returns each shard's
   * reply to the opening.
   */
  async #copy(state: IndexState, generation: number, signal: AbortSignal): Promise<OpenReply[]> {
    const { calls, indexes, workbench } = this.#options;
    const { record, home, spread } = state;
    const source = { ask: this.#askHome, location: home };
    const target = { ask: (shard: number, request: Message) => calls.ask(shard, request), location: spread };
    fault("spread.before-copy");
    const moved = await moveIndex({ record, workbench, source, target, generation, signal });
    fault("spread.after-copy");
    state.isMoving = true; // from now on, a restarted shard also opens the copy
    // A shard that restarted before that has not opened its part, so open the copy once more.
    const told = await indexes.messages.open(record, spread, state.generations.published);
    const copied = told.reduce((sum, { liveDocs }) => sum + liveDocs, 0);
    if (copied !== moved) throw new Error(`of ${moved} documents that were copied ${copied} are there`);
    return told;
  }

  /**
   * Commits the move in the catalog and returns the changed record. A failed catalog change may have been
   * stored all the same, so writes stay blocked until the outcome is certain. A backup between two attempts
   * contains both the home and the copy, so it is valid either way.
   */
  async #decide(state: IndexState, signal: AbortSignal): Promise<IndexRecord> {
    const { catalog, indexes, writes, log } = this.#options;
    const { uid } = state.record;
    for (;;) {
      try {
        return await writes.asOne(async () => {
          const decided = await catalog.change(({ indexes: present }) => {
            if (!present.has(uid)) throw new Error(`index ${uid} is deleted`);
            return { type: "index.spread", uid, home: state.home.data };
          });
          fault("spread.after-decision");
          return decided.indexes.get(uid)!;
        });
      } catch (error) {
        if (!this.#isThere(state)) throw error;
        if (signal.aborted) {
          indexes.forget(uid); // the next start finds out which location is valid
          throw error;
        }
        log.warn({ err: error, uid }, "the catalog does not take that an index is spread; trying again");
        await sleep(PAUSE_MS, undefined, { ref: false, signal }).catch(() => undefined);
      }
    }
  }

  /**
   * Drops the home once no read of an older generation remains. Retries until it is dropped; after a stop,
   * the next start drops it.
   */
  async #dropHome(state: IndexState, generation: number, signal: AbortSignal): Promise<void> {
    const { catalog, indexes, log } = this.#options;
    const { home, record } = state;
    for (;;) {
      await sleep(state.generations.oldest < generation ? LOOK_MS : 0, undefined, { ref: false, signal });
      if (state.generations.oldest < generation && indexes.find(record.uid) === state) continue;
      state.isMoving = false;
      try {
        fault("spread.before-drop");
        await indexes.messages.drop(home);
        await catalog.change(() => ({ type: "index.dropped", uid: home.data }));
        return;
      } catch (error) {
        log.warn(
          { err: error, uid: record.uid },
          "what a spread index had at home could not be dropped; trying again",
        );
        await sleep(PAUSE_MS, undefined, { ref: false, signal });
      }
    }
  }
}
