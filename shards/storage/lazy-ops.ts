// Operations of a batch that are made when their turn comes, so that a large batch is not all in the heap at once.
import type { StoreOp } from "./store.js";

/** Operations that `make` makes anew each time somebody iterates over them. */
export function lazily(make: () => Iterable<StoreOp>): Iterable<StoreOp> {
  return { [Symbol.iterator]: () => make()[Symbol.iterator]() };
}

/** The operations of the first, then those of the next, and so on. */
export function inTurn(...parts: readonly Iterable<StoreOp>[]): Iterable<StoreOp> {
  return lazily(() => each(parts));
}

function* each(parts: readonly Iterable<StoreOp>[]): Iterable<StoreOp> {
  for (const part of parts) yield* part;
}
