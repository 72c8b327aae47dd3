// Runs tasks one at a time in the order of arrival, so that each sees the result of the one before. Knows nothing of
// the tasks.

export class Lane {
  #last: Promise<void> = Promise.resolve();
  #size = 0;

  /** Number of tasks that run or wait. */
  get size(): number {
    return this.#size;
  }

  /** Runs the task when all earlier ones have ended, even if they failed. Settles as the task does. */
  run<T>(task: () => Promise<T>): Promise<T> {
    this.#size++;
    const result = this.#last.then(task).finally(() => this.#size--);
    this.#last = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  /** Resolves when all tasks given so far have ended. */
  idle(): Promise<void> {
    return this.#last;
  }
}
