// Decides whether this thread is so busy that it should leave reads to the shards' threads where possible.
import type { QueryLoad } from "./query-load.js";

const LOOK_MS = 250;
/** The thread counts as busy if its event loop is active for more than this fraction of the time. */
const BUSY_SHARE = 0.9;

export class ThreadLoad {
  readonly #queries: Pick<QueryLoad, "here">;
  readonly #oneOfSeveral: boolean;
  #since = performance.eventLoopUtilization();
  #sinceMs = performance.now();
  #busy = false;

  /**
   * `oneOfSeveral` is true if other threads answer queries too. The shards' threads then have no time to
   * spare, so this thread keeps its reads even when it is busy.
   */
  constructor(queries: Pick<QueryLoad, "here">, oneOfSeveral: boolean) {
    this.#queries = queries;
    this.#oneOfSeveral = oneOfSeveral;
  }

  /**
   * True if this thread is busy and answering other queries. Read it before a query begins, so that the query
   * itself is not counted.
   */
  get wantsHelp(): boolean {
    return !this.#oneOfSeveral && this.#isBusy() && this.#queries.here > 0;
  }

  /** True if the thread was busy when last measured. Measures at most once per LOOK_MS. */
  #isBusy(): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#sinceMs < LOOK_MS) return this.#busy;
    this.#busy = performance.eventLoopUtilization(this.#since).utilization > BUSY_SHARE;
    this.#since = performance.eventLoopUtilization();
    this.#sinceMs = nowMs;
    return this.#busy;
  }
}
