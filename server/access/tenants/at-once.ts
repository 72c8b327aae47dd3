// Limits how many operations a tenant may run concurrently under its plan.
import { SkeinError } from "../../ground/errors.js";

const RETRY_AFTER_SECONDS = 1;

export class AtOnce {
  readonly #what: string;
  readonly #running = new Map<number, number>();

  /** `what` names the operations in the error message, in the plural. */
  constructor(what: string) {
    this.#what = what;
  }

  /**
   * Counts one more running operation until the returned function is called. If `most` is null, there is no
   * limit. Throws SK-SYS-429 if `most` operations are already running.
   */
  begin(tenant: number, most: number | null): () => void {
    const running = this.#running.get(tenant) ?? 0;
    if (most !== null && running >= most) {
      throw new SkeinError("SK-SYS-429", `the plan allows ${most} ${this.#what} at a time`, {
        retryAfter: RETRY_AFTER_SECONDS,
        details: { limit: most },
      });
    }
    this.#running.set(tenant, running + 1);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      const left = this.#running.get(tenant)! - 1;
      if (left === 0) this.#running.delete(tenant);
      else this.#running.set(tenant, left);
    };
  }
}
