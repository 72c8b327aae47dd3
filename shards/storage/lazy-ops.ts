// Generates batch operations just in time, so that a large batch is never completely in the heap.
import type { StoreOp } from "./store.js";

/** Each iteration calls `make` again and yields its operations. */
export function lazily(make: () => Iterable<StoreOp>): Iterable<StoreOp> {
  return { [Symbol.iterator]: () => make()[Symbol.iterator]() };
}

/** Concatenates operations. */
export function inTurn(...parts: readonly Iterable<StoreOp>[]): Iterable<StoreOp> {
  return lazily(() => each(parts));
}

function* each(parts: readonly Iterable<StoreOp>[]): Iterable<StoreOp> {
  for (const part of parts) yield* part;
}
