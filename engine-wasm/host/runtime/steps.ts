// Work in small steps: a generator that pauses now and then, so that whoever runs it can let others have their turn.

/** Does all steps at once. */
export function finished<T>(work: Generator<void, T>): T {
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}
