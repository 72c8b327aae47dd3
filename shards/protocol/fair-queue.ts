// Decides which flow (tenant) is served next. Each flow has its own queue, and the flow that has used the
// least time goes first: start-time fair queueing (Goyal, Vin and Cheng 1996), with the time actually used in
// place of an estimate. A returning flow starts level with the others, so no flow can save up time by
// waiting. Independent of what the queued items are.

interface Flow<T> {
  /** Time used, on a scale shared by all flows. */
  used: number;
  readonly items: T[];
}

export class FairQueue<T> {
  /** Flows with waiting items, and flows that have used more than `#now`. */
  readonly #flows = new Map<number, Flow<T>>();
  #size = 0;
  /** Virtual time: the amount that the last served flow had used when it was served. Never decreases. */
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
   * Takes the first item of the flow that has used the least time; if several flows are equal, of the one
   * that has waited longest. `fits` rejects a flow if its first item cannot be served now or if the flow has
   * used too much. Returns undefined if no flow fits.
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

  /** Returns the time that a flow has used; 0 if the flow is no longer known. */
  usedBy(flow: number): number {
    return this.#flows.get(flow)?.used ?? 0;
  }

  /** Adds the cost of a taken item to the time that its flow has used. */
  spent(flow: number, cost: number): void {
    const known = this.#flows.get(flow);
    if (known === undefined) return;
    known.used += cost;
    // Moved to the end, so that among equals the flow waiting longest comes first.
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
