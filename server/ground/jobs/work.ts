// Work that may have to wait, written once for both cases. It is a generator that yields each promise it
// waits for. If nothing has to wait, it never yields and runs like a plain function: no promise is created,
// and its result is there when `run` returns. docs/adr/0021-work-that-may-wait.md says why.

/** Yields the promises that it waits for. Is resumed with a promise's value, or is thrown its reason. */
export type Work<T> = Generator<Promise<unknown>, T, unknown>;

/**
 * Runs the work until it ends or has to wait. Returns its result, or a promise of its result if it has to
 * wait. Throws what the work throws before it first waits; later, the promise rejects with it.
 */
export function run<T>(work: Work<T>): T | Promise<T> {
  const step = work.next();
  return step.done === true ? step.value : finished(work, step);
}

async function finished<T>(work: Work<T>, first: IteratorResult<Promise<unknown>, T>): Promise<T> {
  let step = first;
  while (step.done !== true) {
    let value: unknown;
    try {
      value = await step.value;
    } catch (error) {
      step = work.throw(error);
      continue;
    }
    step = work.next(value);
  }
  return step.value;
}

/** Waits for the value if it is a promise. On hot paths, test for a promise first to save the generator. */
export function* settled<T>(value: T | Promise<T>): Work<T> {
  return value instanceof Promise ? ((yield value) as T) : value;
}

/**
 * Runs several pieces of work concurrently. Returns their results in order, or throws the first error. The
 * others are not stopped by it.
 */
export function* together<T extends readonly unknown[]>(
  ...works: { readonly [K in keyof T]: Work<T[K]> }
): Work<T> {
  let waits = false;
  const results = works.map((work) => {
    const result = begun(work);
    if (result instanceof Promise) waits = true;
    return result;
  });
  return (waits ? yield* settled(Promise.all(results)) : results) as unknown as T;
}

/**
 * Like `run`, but always returns a rejected promise instead of throwing, so that the pieces of work that have
 * already begun are still waited for.
 */
function begun<T>(work: Work<T>): T | Promise<T> {
  try {
    return run(work);
  } catch (error) {
    return Promise.reject(error);
  }
}
