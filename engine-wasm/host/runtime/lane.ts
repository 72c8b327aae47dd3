// Runs tasks one at a time in order of arrival, so that each task sees the previous task's result. Knows
// nothing about the tasks.

export class Lane {
  #last: Promise<void> = Promise.resolve();
  #size = 0;

  /** Number of running and waiting tasks. */
  get size(): number {
    return this.#size;
  }

  /**
   * Runs the task once all earlier tasks have ended, even if they failed. Settles with the task's outcome.
   */
  run<T>(task: () => Promise<T>): Promise<T> {
    this.#size++;
    const result = this.#last.then(task).finally(() => this.#size--);
    this.#last = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  /** Resolves when all tasks added so far have ended. */
  idle(): Promise<void> {
    return this.#last;
  }
}
