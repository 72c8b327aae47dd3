// Counts how many uses of a numbered resource are in progress, and lets callers wait until a resource is
// unused. Does not know what the resources are.
import { within } from "./jobs/deadline.js";

export class Uses {
  readonly #counts = new Map<number, number>();
  readonly #waiting = new Map<number, (() => void)[]>();

  /** Begins a use. Call the returned function once to end it. */
  begin(id: number): () => void {
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
    let ended = false;
    return () => {
      if (!ended) this.#end(id);
      ended = true;
    };
  }

  /**
   * Resolves when the resource is unused, after `msMax` milliseconds, or when `signal` aborts, whichever
   * comes first.
   */
  async ended(id: number, msMax: number, signal?: AbortSignal): Promise<void> {
    if (!this.#counts.has(id) || signal?.aborted) return;
    const ended = new Promise<void>((resolve) => {
      this.#waiting.set(id, [...(this.#waiting.get(id) ?? []), resolve]);
    });
    await within(ended, msMax, () => undefined, signal).catch(() => undefined);
  }

  #end(id: number): void {
    const left = this.#counts.get(id)! - 1;
    if (left > 0) {
      this.#counts.set(id, left);
      return;
    }
    this.#counts.delete(id);
    for (const done of this.#waiting.get(id) ?? []) done();
    this.#waiting.delete(id);
  }
}
