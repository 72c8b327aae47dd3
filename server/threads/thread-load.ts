// Whether this thread has hardly a moment to spare, so that work which another thread can do is better left to it.

const LOOK_MS = 250;
/** Share of the time in which the event loop was not waiting. */
const BUSY_SHARE = 0.9;

export class ThreadLoad {
  #since = performance.eventLoopUtilization();
  #sinceMs = performance.now();
  #busy = false;

  /** Between the last two looks; those who ask look, at most every quarter of a second. */
  get busy(): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#sinceMs < LOOK_MS) return this.#busy;
    this.#busy = performance.eventLoopUtilization(this.#since).utilization > BUSY_SHARE;
    this.#since = performance.eventLoopUtilization();
    this.#sinceMs = nowMs;
    return this.#busy;
  }
}
