// What the recorders of several threads have counted, as one. Values are plain: a number, or values under names or in a map, so
// that they may be sent to another thread, and any two of one form can be added without knowing what they mean.
import type { Recorder } from "./recorder.js";

export type RecorderValues = ReturnType<Recorder["values"]>;

/** Of one recorder or more. */
export function sumOf([first, ...others]: readonly [RecorderValues, ...RecorderValues[]]): RecorderValues {
  return others.reduce((sum, values) => added(sum, values) as RecorderValues, first);
}

/** What has no value in one of the two counts 0 there. The order is that of the first, then what only the second has. */
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
 * The values that other threads have told. Those of a thread that has ended are kept for ever, because a counter must not go
 * back; only what it was doing is over.
 */
export class ToldValues {
  readonly #living = new Map<number, RecorderValues>();
  #ended: RecorderValues[] = [];

  /** All that a living thread has counted since its start. */
  told(thread: number, values: RecorderValues): void {
    this.#living.set(thread, values);
  }

  /** The thread has ended. Another one may be told of under its number, which begins at 0. */
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
