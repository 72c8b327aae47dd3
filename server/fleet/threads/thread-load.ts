// Decides whether this thread is so busy that it should leave reads to the shards' threads where possible, or
// so quiet that it may do more of them itself.
import type { QueryLoad } from "./query-load.js";

const LOOK_MS = 250;
/** The thread counts as busy if its event loop is active for more than this fraction of the time. */
const BUSY_SHARE = 0.9;

/** If this thread has worked longer (ms) since its last query began, other work may be waiting. */
const WORK_MS_MAX = 20;
/** How many queries in a row must have found this thread waiting for work before it counts as quiet. */
const ALONE_MIN = 8;

export class ThreadLoad {
  readonly #queries: Pick<QueryLoad, "here">;
  readonly #oneOfSeveral: boolean;
  #since = performance.eventLoopUtilization();
  #sinceMs = performance.now();
  #busy = false;
  /** Total times that the event loop had waited and worked when the last query began. */
  #idleMs = 0;
  #activeMs = 0;
  /** How many queries in a row found this thread waiting for work. */
  #alone = 0;

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

  /**
   * Call this before each query begins. Returns true if no other query is likely to wait for this thread: it
   * has worked little since the previous query began, and this query and those before it, ALONE_MIN in all,
   * found it waiting for work. A query found it at work if another was being answered, or if the event loop
   * had not waited since the previous query began. (This happens to some queries of a single client, too: it
   * may ask again before the thread has finished the work that follows a reply.)
   */
  begins(): boolean {
    const { idle, active } = performance.eventLoopUtilization();
    const workedMs = active - this.#activeMs;
    const foundAtWork = idle === this.#idleMs || this.#queries.here > 0;
    this.#alone = foundAtWork ? 0 : this.#alone + 1;
    this.#idleMs = idle;
    this.#activeMs = active;
    return workedMs <= WORK_MS_MAX && this.#alone >= ALONE_MIN;
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
