// Background work of one index, one job at a time: merging neighbours, re-indexing segments of an older schema,
// deleting documents nobody can see, giving memory back. Decides what is next; the jobs themselves are in
// merge-job, reindex-job and renewal-job. A job that fails is told to the owner and tried again after a while.
import { chooseMerge, type MergeCandidate } from "../segments/merge-policy.js";
import type { JobContext } from "./job-context.js";
import { IDLE_MS, MERGE_BUSY, MERGE_IDLE, RENEW_PAUSE_MS, SEGMENTS_MANY, SEGMENTS_MAX } from "./limits.js";
import { mergeJob } from "./merge-job.js";
import { reindexJob } from "./reindex-job.js";
import { renewalDue, renewalJob } from "./renewal-job.js";

const PAUSE_AFTER_FAULT_MS = 5000;

type Job = () => Promise<void>;
type WakeReason = "idle" | "fault" | "memory";

export class Maintenance {
  readonly #context: JobContext;
  readonly #onFault: (error: unknown) => void;
  readonly #waiting: (() => void)[] = [];
  #running = false;
  #ended: Promise<void> = Promise.resolve();
  #stopped = false;
  #lastWriteMs = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = 0;
  #oldestGeneration = 0;
  readonly #timers = new Map<WakeReason, NodeJS.Timeout>();
  #memoryBytes = 0;
  #renewedMs = Number.NEGATIVE_INFINITY;

  constructor(context: JobContext, onFault: (error: unknown) => void) {
    this.#context = context;
    this.#onFault = onFault;
  }

  get running(): boolean {
    return this.#running;
  }

  /** A write was committed: look for work now and again when writes have stopped. */
  written(): void {
    this.#lastWriteMs = performance.now();
    this.#wakeAfter("idle", IDLE_MS);
    this.wake();
  }

  /** Reads and writes have told the lowest generation in use. */
  seen(oldestGeneration: number): void {
    if (oldestGeneration <= this.#oldestGeneration) return;
    this.#oldestGeneration = oldestGeneration;
    if (this.#context.state.dead.releasable(oldestGeneration).length > 0) this.wake();
  }

  /** A read was answered: it may have made the engine's memory grow. */
  answered(): void {
    const bytes = this.#context.state.engine.memoryBytes();
    if (bytes > this.#memoryBytes) this.released();
    this.#memoryBytes = bytes;
  }

  /** There may be memory to give back: look soon. */
  released(): void {
    if (!this.#stopped && !this.#timers.has("memory")) this.#wakeAfter("memory", RENEW_PAUSE_MS);
  }

  /** Looks for work. */
  wake(): void {
    if (this.#running || this.#stopped || performance.now() < this.#pausedUntilMs) return;
    this.#running = true;
    this.#ended = this.#run();
  }

  /** Resolves when another segment may be added; at once unless merging has fallen far behind. */
  async room(): Promise<void> {
    while (this.#context.state.entries.length >= SEGMENTS_MAX && this.running && !this.#stopped) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Ends after the slice or switch that is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#release();
    await this.#ended;
  }

  /** One timer for each reason; a later call puts it off. */
  #wakeAfter(reason: WakeReason, ms: number): void {
    clearTimeout(this.#timers.get(reason));
    const timer = setTimeout(() => {
      this.#timers.delete(reason);
      this.wake();
    }, ms + 1);
    timer.unref();
    this.#timers.set(reason, timer);
  }

  #release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async #run(): Promise<void> {
    try {
      for (;;) {
        await this.#context.turns.next();
        if (this.#stopped) return;
        const job = this.#next();
        if (job === null) return;
        await job();
        this.#release();
      }
    } catch (error) {
      if (this.#stopped) return;
      this.#pausedUntilMs = performance.now() + PAUSE_AFTER_FAULT_MS;
      this.#wakeAfter("fault", PAUSE_AFTER_FAULT_MS);
      this.#onFault(error);
    } finally {
      this.#running = false;
      this.#release();
    }
  }

  #next(): Job | null {
    const { state } = this.#context;
    const renewal = this.#renewal();
    if (renewal !== null) return renewal;
    const stopped = (): boolean => this.#stopped || state.closed;
    const candidates = state.entries.map(({ segment }): MergeCandidate => {
      const { bytes, rows } = segment.record;
      return { bytes, rows, deleted: state.deletedCount(segment), stale: state.isStale(segment) };
    });
    const idle = performance.now() - this.#lastWriteMs >= IDLE_MS;
    const merge = chooseMerge(candidates, idle ? MERGE_IDLE : MERGE_BUSY);
    const stale = state.entries.find(({ segment }) => state.isStale(segment));
    if (merge !== null && (stale === undefined || candidates.length >= SEGMENTS_MANY)) {
      return () => mergeJob(this.#context, merge, stopped);
    }
    if (stale !== undefined) return () => reindexJob(this.#context, stale, stopped);
    if (state.dead.releasable(this.#oldestGeneration).length > 0) return () => this.#purge();
    return null;
  }

  /** The renewal that is due; one that is due too soon after the last waits for its time. */
  #renewal(): Job | null {
    if (!renewalDue(this.#context.state)) return null;
    const waitMs = this.#renewedMs + RENEW_PAUSE_MS - performance.now();
    if (waitMs > 0) {
      this.#wakeAfter("memory", waitMs);
      return null;
    }
    this.#renewedMs = performance.now();
    return () => renewalJob(this.#context);
  }

  /** In the lane, so that no write works on the same lists. */
  #purge(): Promise<void> {
    const { lane, state } = this.#context;
    return lane.run(() => state.purge(this.#oldestGeneration));
  }
}
