// Whether this thread has hardly a moment to spare, so that work which a shard's thread can do is better left
// to it.
import type { QueryLoad } from "./query-load.js";

const LOOK_MS = 250;
/** Share of the time in which the event loop was not waiting. */
const BUSY_SHARE = 0.9;

export class ThreadLoad {
  readonly #queries: Pick<QueryLoad, "here">;
  readonly #oneOfSeveral: boolean;
  #since = performance.eventLoopUtilization();
  #sinceMs = performance.now();
  #busy = false;

  /** `oneOfSeveral`: there are other threads that answer queries, so the shards' threads are no idle ones. */
  constructor(queries: Pick<QueryLoad, "here">, oneOfSeveral: boolean) {
    this.#queries = queries;
    this.#oneOfSeveral = oneOfSeveral;
  }

  /** Before a query begins: others wait for this thread, which is busy. */
  get wantsHelp(): boolean {
    return !this.#oneOfSeveral && this.#isBusy() && this.#queries.here > 0;
  }

  /** Between the last two looks; those who ask look, at most every quarter of a second. */
  #isBusy(): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#sinceMs < LOOK_MS) return this.#busy;
    this.#busy = performance.eventLoopUtilization(this.#since).utilization > BUSY_SHARE;
    this.#since = performance.eventLoopUtilization();
    this.#sinceMs = nowMs;
    return this.#busy;
  }
}
