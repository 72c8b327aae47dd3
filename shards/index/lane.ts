// One task at a time, in the order of arrival: every change of an index's state goes through its lane, so a
// change sees the result of the one before. Reads do not.

export class Lane {
  #last: Promise<void> = Promise.resolve();
  #inside = 0;

  /** No task is under way or waits. */
  get empty(): boolean {
    return this.#inside === 0;
  }

  /** Runs the task after all earlier ones, whether those failed or not. */
  run<T>(task: () => Promise<T>): Promise<T> {
    this.#inside++;
    const result = this.#last.then(task).finally(() => this.#inside--);
    this.#last = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  /** Resolves when everything that was given so far has ended. */
  idle(): Promise<void> {
    return this.#last;
  }
}
