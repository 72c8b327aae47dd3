// Decides whether this thread is so busy that it should leave work to the shards' threads where possible.
import type { QueryLoad } from "./query-load.js";

const LOOK_MS = 250;
/** Event loop utilization above which the thread counts as busy. */
const BUSY_SHARE = 0.9;

export class ThreadLoad {
  readonly #queries: Pick<QueryLoad, "here">;
  readonly #oneOfSeveral: boolean;
  #since = performance.eventLoopUtilization();
  #sinceMs = performance.now();
  #busy = false;

  /**
   * `oneOfSeveral` is true if other threads also answer queries. The shards' threads are then not idle
   * either.
   */
  constructor(queries: Pick<QueryLoad, "here">, oneOfSeveral: boolean) {
    this.#queries = queries;
    this.#oneOfSeveral = oneOfSeveral;
  }

  /**
   * True if this thread is busy and other queries are waiting for it. Read it before a query begins, so that
   * the query itself is not counted.
   */
  get wantsHelp(): boolean {
    return !this.#oneOfSeveral && this.#isBusy() && this.#queries.here > 0;
  }

  /** Measures the utilization since the last measurement, at most once per LOOK_MS. */
  #isBusy(): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#sinceMs < LOOK_MS) return this.#busy;
    this.#busy = performance.eventLoopUtilization(this.#since).utilization > BUSY_SHARE;
    this.#since = performance.eventLoopUtilization();
    this.#sinceMs = nowMs;
    return this.#busy;
  }
}
