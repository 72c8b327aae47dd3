// Enforces a tenant's document limit exactly, although its writes run concurrently. Writes may run
// concurrently if they fit even when every document in them is new. A write that might not fit runs alone,
// because only then is the number of existing documents known for certain. Knows nothing about the documents
// themselves.
import { Lane } from "../../../engine-wasm/host/runtime/lane.js";

export interface DocumentQuota {
  /**
   * Reserves room for this many documents until the returned function is called. Returns null if the write
   * must run through `alone` instead.
   */
  enter(documents: number): (() => void) | null;
  /** Runs `work` after all earlier writes and before all later ones. It may add up to `free` documents. */
  alone<T>(work: (free: number) => Promise<T>): Promise<T>;
}

export class DocumentQuotas {
  readonly #documentsOf: (tenant: number) => number;
  readonly #limitOf: (tenant: number) => number | null;
  readonly #tenants = new Map<number, TenantWrites>();

  /**
   * `documentsOf` returns the tenant's number of live documents, including those of every answered write.
   * `limitOf` returns the limit in the tenant's plan.
   */
  constructor(documentsOf: (tenant: number) => number, limitOf: (tenant: number) => number | null) {
    this.#documentsOf = documentsOf;
    this.#limitOf = limitOf;
  }

  /** The tenant's quota under its current plan, or null if there is no limit. */
  of(tenant: number): DocumentQuota | null {
    const limit = this.#limitOf(tenant);
    if (limit === null) return null;
    const writes = this.#tenants.get(tenant) ?? new TenantWrites();
    this.#tenants.set(tenant, writes);
    const free = (): number => Math.max(0, limit - this.#documentsOf(tenant) - writes.reserved);
    return {
      enter: (documents) => (documents <= free() ? writes.enter(documents) : null),
      alone: (work) => writes.alone(() => work(free())),
    };
  }
}

/** The running and queued writes of one tenant that may add documents. */
class TenantWrites {
  /** Number of documents that the running concurrent writes may add. */
  reserved = 0;
  #inside = 0;
  #onIdle: (() => void) | null = null;
  /** Writes running alone or queued to run alone. */
  readonly #alone = new Lane();

  /**
   * Returns null while a write runs alone or is queued to run alone, because later writes must wait for it.
   */
  enter(documents: number): (() => void) | null {
    if (this.#alone.size > 0) return null;
    this.#inside++;
    this.reserved += documents;
    return () => {
      this.#inside--;
      this.reserved -= documents;
      if (this.#inside === 0) this.#onIdle?.();
    };
  }

  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#alone.run(async () => {
      await this.#idle();
      return work();
    });
  }

  #idle(): Promise<void> {
    if (this.#inside === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle = resolve;
    });
  }
}
