// Helpers for work in small steps. Such work is a generator that pauses regularly, so that its caller can run
// other work.

/** Runs all steps at once. */
export function finished<T>(work: Generator<void, T>): T {
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}
