// Turns on the HTTP thread for what takes it long: large bodies, large answers of shards, deep pages. One turn passes in each
// turn of the event loop, the tenants one after the other, so that whatever is short waits for one piece of long work at most.
// Turns give way to light queries, which are those under way that have needed no turn: such a query passes this thread several
// times, and would wait for a piece of long work each time.
import { FairQueue } from "../../../shards/protocol/fair-queue.js";

/** Bodies and answers of more bytes wait for a turn. Most are smaller, and the wait would cost more than they do. */
export const LARGE_BYTES = 128 * 1024;

/** How long a turn gives way at most, so that light queries without end leave long work its share. */
const PATIENCE_MS = 8;

/** The turns of a query under way. */
export interface QueryTurns {
  /** See TenantTurns. */
  next(): Promise<void>;
  /** Must be called once when the query has ended. */
  end(): void;
}

export class TenantTurns {
  readonly #waiting = new FairQueue<() => void>();
  #scheduled = false;
  /** Queries under way that have needed no turn. */
  #light = 0;
  /** Runs while a turn gives way. */
  #patience: NodeJS.Timeout | null = null;

  /** A query begins. It is light until it needs a turn. */
  query(tenant: number): QueryTurns {
    this.#light++;
    let light = true;
    const end = (): void => {
      if (!light) return;
      light = false;
      if (--this.#light === 0) this.#goOn();
    };
    return {
      next: () => {
        end();
        return this.next(tenant);
      },
      end,
    };
  }

  /** Resolves when it is the tenant's turn. What runs until the next await is its turn and should be some milliseconds at most. */
  next(tenant: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add(tenant, resolve);
      this.#schedule();
    });
  }

  /** The same, unless so few bytes are to be worked on that they need no turn; then there is no promise. */
  forBytes(tenant: number, bytes: number): Promise<void> | undefined {
    return bytes > LARGE_BYTES ? this.next(tenant) : undefined;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#turn);
  }

  /** The turn that gives way need not wait any longer. */
  #goOn(): void {
    if (this.#patience === null) return;
    clearTimeout(this.#patience);
    this.#patience = null;
    setImmediate(this.#give);
  }

  readonly #turn = (): void => {
    if (this.#light === 0 || this.#waiting.size === 0) this.#give();
    else this.#patience = setTimeout(this.#give, PATIENCE_MS);
  };

  readonly #give = (): void => {
    this.#patience = null;
    this.#scheduled = false;
    const next = this.#waiting.take();
    if (next === undefined) {
      this.#waiting.reset();
      return;
    }
    next.item();
    this.#waiting.spent(next.flow, 1);
    this.#schedule();
  };
}

/** How long one turn may last. */
const TURN_MS = 2;

/** Does the work step by step; after a while it waits for its next turn. A short one is done at once, and then there is no promise. */
export function inTurns<T>(work: Generator<void, T>, nextTurn: () => Promise<void>): T | Promise<T> {
  const endMs = performance.now() + TURN_MS;
  let step = work.next();
  while (step.done !== true) {
    if (performance.now() > endMs) return nextTurn().then(() => inTurns(work, nextTurn));
    step = work.next();
  }
  return step.value;
}
