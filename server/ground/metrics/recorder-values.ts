// Merges the recorders of several threads. Values are plain: a number, or values under names or in a map, so
// they can be sent to another thread, and any two of one form can be added without knowing their meaning.
import type { Recorder } from "./recorder.js";

export type RecorderValues = ReturnType<Recorder["values"]>;

/** Sum of one or more recorders. */
export function sumOf([first, ...others]: readonly [RecorderValues, ...RecorderValues[]]): RecorderValues {
  return others.reduce((sum, values) => added(sum, values) as RecorderValues, first);
}

/**
 * A value missing from one of them counts as 0. The order is that of the first, followed by entries only the
 * second has.
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
 * Values reported by other threads. Those of a dead thread are kept, because a counter must not decrease;
 * only its current activity is dropped.
 */
export class ToldValues {
  readonly #living = new Map<number, RecorderValues>();
  #ended: RecorderValues[] = [];

  /** Everything a live thread has counted since its start. */
  told(thread: number, values: RecorderValues): void {
    this.#living.set(thread, values);
  }

  /** The thread has died. Its number may be reused by another one, which starts at 0. */
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
