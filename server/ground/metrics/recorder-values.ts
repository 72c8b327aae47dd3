// Adds up the counts of several threads' recorders. A recorder's values are numbers, nested in objects and
// Maps. They can be sent to another thread, and values with the same structure can be added without knowing
// what they mean.
import type { Recorder } from "./recorder.js";

export type RecorderValues = ReturnType<Recorder["values"]>;

/** The sum of the values of one or more recorders. */
export function sumOf([first, ...others]: readonly [RecorderValues, ...RecorderValues[]]): RecorderValues {
  return others.reduce((sum, values) => added(sum, values) as RecorderValues, first);
}

/**
 * The sum of two values. A missing entry counts as 0. Entries are in the order of `a`, followed by those
 * found only in `b`.
 */
function added(a: unknown, b: unknown): unknown {
  if (a === undefined) return b;
  if (b === undefined) return a;
  if (typeof a === "number") return a + (b as number);
  if (!(a instanceof Map)) {
    const sums = added(new Map(Object.entries(a as object)), new Map(Object.entries(b as object)));
    return Object.fromEntries(sums as Map<string, unknown>);
  }
  const sums = new Map<unknown, unknown>(a);
  for (const [name, value] of b as Map<unknown, unknown>) sums.set(name, added(sums.get(name), value));
  return sums;
}

/**
 * The values that other threads have reported. When a thread dies, its values are kept, because a counter
 * must not decrease; only its requests in flight are dropped.
 */
export class ToldValues {
  readonly #living = new Map<number, RecorderValues>();
  #ended: RecorderValues[] = [];

  /**
   * Stores a live thread's report of everything it has counted since it started, in place of its previous
   * report.
   */
  told(thread: number, values: RecorderValues): void {
    this.#living.set(thread, values);
  }

  /**
   * Call when a thread has died. A new thread with the same number may report later; it starts counting at 0.
   */
  ended(thread: number): void {
    const last = this.#living.get(thread);
    if (last === undefined) return;
    this.#living.delete(thread);
    this.#ended = [sumOf([{ ...last, requestsInFlight: 0 }, ...this.#ended])];
  }

  all(): readonly RecorderValues[] {
    return [...this.#ended, ...this.#living.values()];
  }
}
