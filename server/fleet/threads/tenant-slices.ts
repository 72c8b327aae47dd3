// Divides long work on the HTTP thread (large bodies, large replies from shards, deep pages) into time
// slices. Each turn of the event loop runs one slice, and tenants take turns, so short work waits for at most
// one slice. A slice yields to light queries in progress, that is, queries that have not needed a slice. A
// light query passes through this thread several times, and would otherwise wait for a slice each time.
import { FairQueue } from "../../../shards/protocol/fair-queue.js";
import type { RequestLife } from "../../ground/jobs/request-life.js";
import { WaitingTurn } from "../../ground/jobs/waiting-turn.js";

/**
 * Bodies and replies larger than this many bytes wait for a slice. For smaller ones, which are most, waiting
 * would take longer than the work.
 */
export const LARGE_BYTES = 128 * 1024;

/**
 * Maximum time (ms) for which a slice yields, so that long work still gets its share under a steady load of
 * light queries.
 */
const PATIENCE_MS = 8;

/** A request's access to its tenant's slices. */
export interface OwnSlices {
  /** See TenantSlices. */
  next(): Promise<void>;
}

export class TenantSlices {
  readonly #waiting = new FairQueue<WaitingTurn>();
  #scheduled = false;
  /** Number of queries in progress that have not needed a slice. */
  #light = 0;
  /** Timer that ends the current slice's wait for light queries; null if no slice is waiting. */
  #patience: NodeJS.Timeout | null = null;

  /** Starts a query. Call `end` when it has ended. */
  query(tenant: number, life: RequestLife): QuerySlices {
    return new QuerySlices(this, tenant, life);
  }

  /** Call when a query starts. */
  beginLight(): void {
    this.#light++;
  }

  /** Call when a query needs a slice, or ends without having needed one. */
  endLight(): void {
    if (--this.#light === 0) this.#goOn();
  }

  /**
   * Resolves when the tenant's slice begins, and rejects if the request's life ends before that. A slice
   * lasts until the caller's next await and should take at most a few milliseconds.
   */
  next(tenant: number, life: RequestLife): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(tenant, new WaitingTurn(life, resolve, reject));
      this.#schedule();
    });
  }

  /** Like `next`, for work on `bytes` bytes. Returns undefined if that is too little to need a slice. */
  forBytes(tenant: number, bytes: number, life: RequestLife): Promise<void> | undefined {
    return bytes > LARGE_BYTES ? this.next(tenant, life) : undefined;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#run);
  }

  /** Starts the slice that is waiting for light queries, if there is one. */
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
    for (let next = this.#waiting.take(); next !== undefined; next = this.#waiting.take()) {
      if (!next.item.begin()) continue;
      this.#waiting.spent(next.flow, 1);
      this.#schedule();
      return;
    }
    this.#waiting.reset();
  };
}

/** The slices of one request. */
export class RequestSlices implements OwnSlices {
  protected readonly all: TenantSlices;
  readonly #tenant: number;
  readonly #life: RequestLife;

  constructor(all: TenantSlices, tenant: number, life: RequestLife) {
    this.all = all;
    this.#tenant = tenant;
    this.#life = life;
  }

  next(): Promise<void> {
    return this.all.next(this.#tenant, this.#life);
  }
}

/** The slices of a query, which is light until it needs one or ends. */
class QuerySlices extends RequestSlices {
  #isLight = true;

  constructor(all: TenantSlices, tenant: number, life: RequestLife) {
    super(all, tenant, life);
    all.beginLight();
  }

  override next(): Promise<void> {
    this.end();
    return super.next();
  }

  /** Call when the query has ended. */
  end(): void {
    if (!this.#isLight) return;
    this.#isLight = false;
    this.all.endLight();
  }
}

/** Once a slice has lasted this long (ms), `inSlices` waits for another one. */
const SLICE_MS = 2;

/**
 * Runs the work step by step, and waits for another slice whenever the current one is used up. If the work
 * fits into the current slice, returns its result synchronously.
 */
export function inSlices<T>(work: Generator<void, T>, slices: OwnSlices): T | Promise<T> {
  const endMs = performance.now() + SLICE_MS;
  let step = work.next();
  while (step.done !== true) {
    if (performance.now() > endMs) return slices.next().then(() => inSlices(work, slices));
    step = work.next();
  }
  return step.value;
}
