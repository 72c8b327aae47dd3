// Measures how long one query spends in each phase. At any time exactly one phase is running, so the phases
// add up to the total. A phase may be entered several times.

/** The phases, in the order in which a query enters them. "open" occurs only if the index was not loaded. */
export const QUERY_PHASES = ["plan", "open", "expand", "search", "semantic", "fetch", "respond"] as const;
export type QueryPhase = (typeof QUERY_PHASES)[number];

export class QueryTrace {
  /** Number of documents found; null while unknown. */
  found: number | null = null;
  /** Number of shards that have the index; 0 while unknown. */
  shards = 0;
  /** True if query understanding has rephrased the query. */
  understood = false;
  readonly #ms: Record<QueryPhase, number> = {
    plan: 0,
    open: 0,
    expand: 0,
    search: 0,
    semantic: 0,
    fetch: 0,
    respond: 0,
  };
  readonly #startedMs: number;
  #phase: QueryPhase = "plan";
  #sinceMs: number;

  /** Starts the stopwatch in phase "plan". */
  constructor() {
    this.#startedMs = performance.now();
    this.#sinceMs = this.#startedMs;
  }

  enter(phase: QueryPhase): void {
    const now = performance.now();
    this.#ms[this.#phase] += now - this.#sinceMs;
    this.#sinceMs = now;
    this.#phase = phase;
  }

  /** Ends the current phase. Later time is not counted in any phase or in the total. */
  stop(): void {
    this.enter(this.#phase);
  }

  /** Milliseconds from the start until now. */
  elapsedMs(): number {
    return performance.now() - this.#startedMs;
  }

  phaseMs(phase: QueryPhase): number {
    return this.#ms[phase];
  }

  get totalMs(): number {
    return this.#sinceMs - this.#startedMs;
  }
}
