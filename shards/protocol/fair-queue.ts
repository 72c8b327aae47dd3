// Decides who is served next. Each flow (a tenant) has a queue of its own, and the flow that has used the
// least goes next: start-time fair queueing (Goyal, Vin and Cheng 1996), with the time actually used in place
// of an estimate. A flow that comes back begins where the others stand, so nobody saves up time by waiting.
// Knows nothing of what is queued.

interface Flow<T> {
  /** What it has used, on the scale of all flows. */
  used: number;
  readonly items: T[];
}

export class FairQueue<T> {
  /** Those that wait, and those that have used more than the one served last. */
  readonly #flows = new Map<number, Flow<T>>();
  #size = 0;
  /** What the flow served last had used when it was served. */
  #now = 0;

  get size(): number {
    return this.#size;
  }

  /** Behind all that its flow has in the queue. */
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
   * Takes the first item of the flow that has used the least, among equals of the one that waits longest.
   * `fits` leaves out flows whose first item cannot be served now, and says how much those may have used that
   * can. Undefined when there is none.
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

  /** What a flow has used; 0 for one that is not known any more. */
  usedBy(flow: number): number {
    return this.#flows.get(flow)?.used ?? 0;
  }

  /** Counts what the flow of an item that was taken has used. */
  spent(flow: number, cost: number): void {
    const known = this.#flows.get(flow);
    if (known === undefined) return;
    known.used += cost;
    // It goes to the end, so that among equals the one that waits longest is first.
    this.#flows.delete(flow);
    if (known.items.length > 0 || known.used > this.#now) this.#flows.set(flow, known);
  }

  /** Nothing waits and nothing is being served: all begin anew. */
  reset(): void {
    this.#flows.clear();
    this.#now = 0;
  }
}

function all(): boolean {
  return true;
}
