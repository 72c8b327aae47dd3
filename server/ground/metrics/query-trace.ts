// The stopwatch of one query: every moment belongs to the phase entered last, so the phases add up to the
// whole. A phase may be entered again; its times add up.

/** In the order in which a query goes through them; "open" only when the index was not loaded. */
export const QUERY_PHASES = ["plan", "open", "expand", "search", "semantic", "fetch", "respond"] as const;
export type QueryPhase = (typeof QUERY_PHASES)[number];

export class QueryTrace {
  /** Documents found, null while unknown. */
  found: number | null = null;
  /** In how many shards the index lies; 0 while unknown. */
  shards = 0;
  /** It was asked in other words than it was typed. */
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

  /** Starts in the phase "plan". */
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

  /** Counts the time until now. What the getters tell is as of the last call. */
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
