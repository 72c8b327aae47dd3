// Decides which flow (tenant) is served next. Each flow has its own queue, and the flow that has used the
// least time goes first. This is start-time fair queueing (Goyal, Vin and Cheng 1996), with the time actually
// used instead of an estimate. A returning flow starts level with the others, so no flow can save up time by
// waiting. Knows nothing about the queued items.

interface Flow<T> {
  /**
   * The flow's virtual time: the queue's virtual time (`#now`) when the flow last arrived, plus the time that
   * it has used since.
   */
  used: number;
  readonly items: T[];
}

export class FairQueue<T> {
  /** Flows with waiting items, and flows that have used more than `#now`. */
  readonly #flows = new Map<number, Flow<T>>();
  #size = 0;
  /** Virtual time: how much time the last served flow had used when it was served. Never decreases. */
  #now = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds an item at the end of its flow's queue. */
  add(flow: number, item: T): void {
    this.#size++;
    const known = this.#flows.get(flow);
    if (known === undefined) this.#flows.set(flow, { used: this.#now, items: [item] });
    else {
      if (known.items.length === 0) known.used = Math.max(known.used, this.#now);
      known.items.push(item);
    }
  }

  /**
   * Removes and returns the first item of the flow that has used the least time. Among equal flows, the one
   * that has waited longest goes first. `fits` rejects a flow if its first item cannot be served now or if
   * the flow has used too much. Returns undefined if no flow fits.
   */
  take(fits: (item: T, flow: number, used: number) => boolean = all): { flow: number; item: T } | undefined {
    let least: Flow<T> | undefined;
    let name = 0;
    for (const [flow, candidate] of this.#flows) {
      if (candidate.items.length === 0 || (least !== undefined && candidate.used >= least.used)) continue;
      if (!fits(candidate.items[0] as T, flow, candidate.used)) continue;
      least = candidate;
      name = flow;
    }
    if (least === undefined) return undefined;
    this.#size--;
    this.#now = Math.max(this.#now, least.used);
    return { flow: name, item: least.items.shift() as T };
  }

  /** Returns the time that a flow has used; 0 if the queue no longer knows the flow. */
  usedBy(flow: number): number {
    return this.#flows.get(flow)?.used ?? 0;
  }

  /** Adds the cost of a taken item to its flow's used time. */
  spent(flow: number, cost: number): void {
    const known = this.#flows.get(flow);
    if (known === undefined) return;
    known.used += cost;
    // Moves the flow to the end, so that among equal flows the one that has waited longest comes first.
    this.#flows.delete(flow);
    if (known.items.length > 0 || known.used > this.#now) this.#flows.set(flow, known);
  }

  /** Forgets all usage. Called when nothing waits and nothing is being served. */
  reset(): void {
    this.#flows.clear();
    this.#now = 0;
  }
}

function all(): boolean {
  return true;
}
