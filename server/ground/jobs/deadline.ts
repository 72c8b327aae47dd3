// Limits the time that work may take: cancels it at a deadline, or stops waiting for it and lets it continue.

/** Longest timer delay (ms) that Node.js supports. A timer with a longer delay fires at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Runs the work with a controller that aborts when the first of the signals does, with the same reason.
 * Leaves no listener behind. Not `AbortSignal.any`, because in Node.js 20 it loses signals that nothing else
 * references (nodejs/node#57736).
 */
export async function underSignals<T>(
  signals: readonly AbortSignal[],
  work: (stop: AbortController) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const onAbort = ({ target }: Event): void => stop.abort((target as AbortSignal).reason);
  for (const signal of signals) {
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) stop.abort(signal.reason);
  }
  try {
    return await work(stop);
  } finally {
    for (const signal of signals) signal.removeEventListener("abort", onAbort);
  }
}

/**
 * Runs the work with a signal that aborts with the given signal, or with a TimeoutError after `ms`
 * milliseconds.
 */
export async function withDeadline<T>(
  signal: AbortSignal,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return underSignals([signal], async (stop) => {
    const late = (): void => stop.abort(new DOMException("The time is over.", "TimeoutError"));
    const timer = setTimeout(late, Math.min(ms, TIMER_MS_MAX));
    try {
      return await work(stop.signal);
    } finally {
      clearTimeout(timer);
    }
  });
}

/**
 * Settles with whichever comes first: the outcome of `work`, the outcome of `late()` after `ms` milliseconds,
 * or a rejection with the signal's reason. Leaves no timer or listener behind. The work itself continues, and
 * its owner must end it.
 */
export function within<T, L>(
  work: Promise<T>,
  ms: number,
  late: () => L,
  signal?: AbortSignal,
): Promise<T | L> {
  return new Promise<T | L>((resolve, reject) => {
    const settle = (outcome: () => T | L): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
      try {
        resolve(outcome());
      } catch (error) {
        reject(error);
      }
    };
    const fail = (error: unknown): void => settle(() => raise(error));
    const stop = (): void => fail(signal?.reason);
    const timer = setTimeout(settle, Math.min(ms, TIMER_MS_MAX), late);
    signal?.addEventListener("abort", stop);
    work.then((value) => settle(() => value), fail);
    if (signal?.aborted) stop();
  });
}

function raise(error: unknown): never {
  throw error;
}
