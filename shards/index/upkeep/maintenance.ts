// Runs an index's background work, one job at a time: merges neighbouring segments, re-indexes segments with
// an older schema, deletes documents that no read can see, and frees memory and disk space. This file decides
// which job is next; the jobs are in merge-job, reindex-job, renewal-job, vectors-job and compaction-job. A
// failed job is reported to the owner and retried after a pause.

import { collect } from "../../../engine-wasm/host/runtime/discards.js";
import { chooseMerge, type MergeCandidate, type MergeChoice } from "../../segments/merge-policy.js";
import { StoreWriteError } from "../../storage/store.js";
import { LARGE_LOOK_MS } from "../large-work.js";
import {
  IDLE_MS,
  LARGE_IDLE_MS,
  LARGE_WORK_BYTES,
  MERGE_BUSY,
  MERGE_IDLE,
  QUIET_WAIT_MS,
  RENEW_PAUSE_MS,
  SEGMENTS_MANY,
  SEGMENTS_MAX,
} from "../limits.js";
import { compactionJob, wholeCompactionJob } from "./compaction-job.js";
import type { JobContext } from "./job-context.js";
import { mergeJob } from "./merge-job.js";
import { reindexJob } from "./reindex-job.js";
import { renewalJob, renewalNeed } from "./renewal-job.js";
import {
  clearVectorsJob,
  damagedVectorsJob,
  nextForVectors,
  nextToStore,
  storeAllCodes,
  storeCodesJob,
  vectorsJob,
} from "./vectors-job.js";

const PAUSE_AFTER_FAULT_MS = 5000;

type Job = () => Promise<void>;
type WakeReason = "idle" | "fault" | "memory" | "large";

export class Maintenance {
  readonly #context: JobContext;
  readonly #onFault: (error: unknown) => void;
  readonly #waiting: (() => void)[] = [];
  #running = false;
  #ended: Promise<void> = Promise.resolve();
  #stopped = false;
  readonly #openedMs = performance.now();
  #lastWriteMs = Number.NEGATIVE_INFINITY;
  /** Bytes that the last renewal could not free. */
  #keptBytes = 0;
  #lastReadMs = Number.NEGATIVE_INFINITY;
  /** Engine.lentReads at the last check for work. */
  #lentReads = 0;
  /**
   * True if segments were replaced or documents deleted since the last compaction. Initially true, because
   * that may have happened before the index was opened.
   */
  #garbage = true;
  #pausedUntilMs = 0;
  #oldestGeneration = 0;
  readonly #timers = new Map<WakeReason, NodeJS.Timeout>();
  #memoryBytes = 0;
  #renewedMs = Number.NEGATIVE_INFINITY;
  /**
   * The last job that took the shard's slot for large work. The index keeps the slot until a renewal has
   * freed the memory.
   */
  #large: Job | null = null;

  constructor(context: JobContext, onFault: (error: unknown) => void) {
    this.#context = context;
    this.#onFault = onFault;
  }

  get running(): boolean {
    return this.#running;
  }

  /** True if a timer is set for the next check for work, for example for when the index becomes quiet. */
  get due(): boolean {
    return this.#timers.size > 0;
  }

  /** Called after a write was committed. Checks for work now, and again once writes have stopped. */
  written(): void {
    this.#lastWriteMs = performance.now();
    this.#wakeAfter("idle", IDLE_MS);
    this.wake();
  }

  /**
   * Called with the lowest generation still used by reads and writes. Checks for work if dead documents can
   * now be deleted.
   */
  seen(oldestGeneration: number): void {
    if (oldestGeneration <= this.#oldestGeneration) return;
    this.#oldestGeneration = oldestGeneration;
    if (this.#context.state.dead.releasable(oldestGeneration).length > 0) this.wake();
  }

  /** Called after a read was answered, because it may have grown the engine's memory. */
  answered(): void {
    this.#lastReadMs = performance.now();
    const bytes = this.#context.state.engine.memoryBytes();
    if (bytes > this.#memoryBytes) this.released();
    this.#memoryBytes = bytes;
  }

  /** Called when there may be memory to free. Schedules a check soon. */
  released(): void {
    if (!this.#stopped && !this.#timers.has("memory")) this.#wakeAfter("memory", RENEW_PAUSE_MS);
  }

  /** Starts looking for work unless it is already running, stopped or paused after a fault. */
  wake(): void {
    if (this.#running || this.#stopped || performance.now() < this.#pausedUntilMs) return;
    this.#running = true;
    this.#ended = this.#run();
  }

  /** Resolves once another segment may be added: immediately, unless merging has fallen far behind. */
  async room(): Promise<void> {
    while (this.#context.state.entries.length >= SEGMENTS_MAX && this.running && !this.#stopped) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Stops after the current slice or switch. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#release();
    await this.#ended;
  }

  /** See storeAllCodes. Must be called after `stop`. */
  storeCodes(): Promise<void> {
    return storeAllCodes(this.#context);
  }

  /** Each reason has one timer; a later call for the same reason restarts it. */
  #wakeAfter(reason: WakeReason, ms: number): void {
    if (this.#stopped) return;
    clearTimeout(this.#timers.get(reason));
    const timer = setTimeout(() => {
      this.#timers.delete(reason);
      this.wake();
    }, ms + 1);
    timer.unref();
    this.#timers.set(reason, timer);
  }

  /**
   * Milliseconds until deferrable work may start; 0 or less if it may start now. Such work waits until the
   * index has been neither read nor written for a while. An index under constant reads would never be that
   * quiet, so a longer time without writes also suffices.
   */
  #quietInMs(): number {
    const changed = Math.max(this.#lastWriteMs, this.#openedMs);
    const now = performance.now();
    return Math.min(Math.max(this.#lastReadMs, changed) + this.#idleMs, changed + QUIET_WAIT_MS) - now;
  }

  get #idleMs(): number {
    return this.#context.state.engine.memoryBytes() < LARGE_WORK_BYTES ? IDLE_MS : LARGE_IDLE_MS;
  }

  #release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async #run(): Promise<void> {
    try {
      for (;;) {
        await this.#context.slices.next();
        if (this.#stopped) return;
        const job = this.#next();
        if (job === null) return;
        if (job !== this.#large) this.#endTurn();
        await job();
        this.#release();
      }
    } catch (error) {
      if (this.#stopped) return;
      if (error instanceof StoreWriteError) this.#context.state.short = true;
      this.#pausedUntilMs = performance.now() + PAUSE_AFTER_FAULT_MS;
      this.#wakeAfter("fault", PAUSE_AFTER_FAULT_MS);
      this.#onFault(error);
    } finally {
      this.#endTurn();
      this.#running = false;
      this.#release();
    }
  }

  /** Detects reads by other threads, which do not send messages. */
  #noteLentReads(): void {
    const { lentReads } = this.#context.state.engine;
    if (lentReads === this.#lentReads) return;
    this.#lentReads = lentReads;
    this.#lastReadMs = performance.now();
  }

  #next(): Job | null {
    const { state } = this.#context;
    this.#noteLentReads();
    const stopped = (): boolean => this.#stopped || state.closed;
    const candidates = this.#candidates();
    const quietInMs = this.#quietInMs();
    const merge = this.#mergeDue(candidates, quietInMs);
    const mergeBytes = merge === null ? 0 : bytesOf(candidates, merge);
    const stale = state.entries.find(({ segment }) => state.isStale(segment));
    const mergesFirst =
      merge !== null && mergeBytes < LARGE_WORK_BYTES && stale === undefined && !state.short;
    const renewal = this.#renewal(stopped, mergesFirst);
    if (renewal !== null) return renewal;
    if (state.short && this.#purgeable()) return () => this.#purge();
    if (state.short && this.#garbage) return this.#collecting(wholeCompactionJob);
    if (merge !== null && (stale === undefined || candidates.length >= SEGMENTS_MANY)) {
      const merging = this.#replacing(() => mergeJob(this.#context, merge, stopped));
      // If writes are about to wait for this merge, it does not wait for the large-work slot.
      const job = candidates.length >= SEGMENTS_MANY ? merging : this.#inTurn(mergeBytes, merging);
      if (job !== null) return job;
    }
    if (stale !== undefined) return this.#replacing(() => reindexJob(this.#context, stale, stopped));
    if (this.#purgeable()) return () => this.#purge();
    if (state.vectors.mustClear) return this.#replacing(() => clearVectorsJob(this.#context));
    if (state.vectors.damaged.size > 0) return () => damagedVectorsJob(this.#context);
    const vectors = nextForVectors(state);
    if (vectors !== undefined) {
      const yields = (): boolean => stopped() || this.#mergeIsUrgent();
      return this.#replacing(() => vectorsJob(this.#context, vectors, yields));
    }
    const unstored = nextToStore(state);
    if (quietInMs > 0) {
      if (this.#garbage || unstored !== undefined || chooseMerge(candidates, MERGE_IDLE) !== null)
        this.#wakeAfter("idle", quietInMs);
      return null;
    }
    if (unstored !== undefined) return this.#replacing(() => storeCodesJob(this.#context, unstored));
    return this.#garbage ? this.#collecting(compactionJob) : null;
  }

  #candidates(): MergeCandidate[] {
    const { state } = this.#context;
    return state.entries.map(({ segment }) => {
      const { bytes, rows } = segment.record;
      return { bytes, rows, deleted: state.surelyDeletedCount(segment), stale: state.isStale(segment) };
    });
  }

  #mergeDue(candidates: readonly MergeCandidate[], quietInMs: number): MergeChoice | null {
    if (quietInMs <= 0) return chooseMerge(candidates, MERGE_IDLE);
    return Number.isFinite(this.#lastWriteMs) ? chooseMerge(candidates, MERGE_BUSY) : null;
  }

  /**
   * True if writes will soon have to wait for a merge. Vector work, which may take minutes, must not delay
   * that merge.
   */
  #mergeIsUrgent(): boolean {
    const { length } = this.#context.state.entries;
    return length >= SEGMENTS_MANY && this.#mergeDue(this.#candidates(), this.#quietInMs()) !== null;
  }

  /**
   * Returns `job`, which temporarily needs `bytes` more memory. Returns null if it has to wait because too
   * many shards do large work; a timer then checks again.
   */
  #inTurn(bytes: number, job: Job): Job | null {
    if (bytes < LARGE_WORK_BYTES) return job;
    if (this.#large === null && !this.#context.large.begin()) {
      this.#wakeAfter("large", LARGE_LOOK_MS);
      return null;
    }
    this.#large = job;
    return job;
  }

  #endTurn(): void {
    if (this.#large === null) return;
    this.#large = null;
    this.#context.large.end();
  }

  #collecting(compaction: (context: JobContext) => Promise<void>): Job {
    return () => {
      this.#garbage = false;
      return compaction(this.#context);
    };
  }

  #replacing(job: Job): Job {
    return async () => {
      await job();
      this.#garbage = true;
    };
  }

  /**
   * Returns the renewal that is due, or null. A renewal is postponed if it would follow the last one too
   * soon. If `mergesFirst` is true, a deferrable renewal runs after small merges, so that it has less to
   * copy.
   */
  #renewal(stopped: () => boolean, mergesFirst: boolean): Job | null {
    const need = renewalNeed(this.#context.state, this.#keptBytes);
    if (need === "none" || (need === "idle" && mergesFirst)) return null;
    const now = performance.now();
    const usedMs = Math.max(this.#lastReadMs, this.#lastWriteMs, this.#openedMs);
    const waitMs = (need === "now" ? this.#renewedMs + RENEW_PAUSE_MS : usedMs + this.#idleMs) - now;
    if (waitMs > 0) {
      this.#wakeAfter("memory", waitMs);
      return null;
    }
    return this.#inTurn(this.#context.state.engine.usedBytes(), async () => {
      this.#renewedMs = now;
      const isQuiet = need === "idle"; // then no request waits while garbage is collected
      if (isQuiet) collect();
      this.#keptBytes = await renewalJob(this.#context, stopped);
      if (isQuiet) collect();
      this.#endTurn(); // other shards free their memory before this one merges again
    });
  }

  #purgeable(): boolean {
    return this.#context.state.dead.releasable(this.#oldestGeneration).length > 0;
  }

  /** Runs in the lane, so that no write changes the lists of dead documents at the same time. */
  async #purge(): Promise<void> {
    const { lane, state } = this.#context;
    await lane.run(() => state.purge(this.#oldestGeneration));
    this.#garbage = true;
  }
}

function bytesOf(candidates: readonly MergeCandidate[], { first, count }: MergeChoice): number {
  return candidates.slice(first, first + count).reduce((sum, { bytes }) => sum + bytes, 0);
}
