// Time slices on the HTTP thread for long work: large bodies, large replies of shards, deep pages. Each turn
// of the event loop runs one slice, tenant after tenant, so short work waits for one piece of long work at
// most. Slices give way to light queries, which are queries under way that have needed no slice: such a query
// passes this thread several times, and each time it would wait for a piece of long work.
import { FairQueue } from "../../../shards/protocol/fair-queue.js";

/**
 * Larger bodies and replies wait for a slice. Most are smaller, and the wait would cost more than the work.
 */
export const LARGE_BYTES = 128 * 1024;

/** Maximum time a slice gives way, so that a steady load of light queries leaves long work its share. */
const PATIENCE_MS = 8;

/** The slices of a query under way. */
export interface QuerySlices {
  /** See TenantSlices. */
  next(): Promise<void>;
  /** Must be called once when the query has ended. */
  end(): void;
}

export class TenantSlices {
  readonly #waiting = new FairQueue<() => void>();
  #scheduled = false;
  /** Queries under way that have needed no slice. */
  #light = 0;
  /** Runs while a slice gives way. */
  #patience: NodeJS.Timeout | null = null;

  /** A query begins. It is light until it needs a slice. */
  query(tenant: number): QuerySlices {
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

  /**
   * Resolves when the tenant's slice begins. It lasts until the caller's next await, at most a few
   * milliseconds.
   */
  next(tenant: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add(tenant, resolve);
      this.#schedule();
    });
  }

  /** The same for work on this many bytes; undefined if they are too few to need a slice. */
  forBytes(tenant: number, bytes: number): Promise<void> | undefined {
    return bytes > LARGE_BYTES ? this.next(tenant) : undefined;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#run);
  }

  /** The slice that gives way may begin. */
  #goOn(): void {
    if (this.#patience === null) return;
    clearTimeout(this.#patience);
    this.#patience = null;
    setImmediate(this.#give);
  }

  readonly #run = (): void => {
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

/** Maximum length of one slice. */
const SLICE_MS = 2;

/**
 * Does the work step by step, waiting for another slice whenever one is used up. Short work returns its
 * result at once.
 */
export function inSlices<T>(work: Generator<void, T>, nextSlice: () => Promise<void>): T | Promise<T> {
  const endMs = performance.now() + SLICE_MS;
  let step = work.next();
  while (step.done !== true) {
    if (performance.now() > endMs) return nextSlice().then(() => inSlices(work, nextSlice));
    step = work.next();
  }
  return step.value;
}
