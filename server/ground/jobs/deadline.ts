// Work that must end in time, or when one of several signals says so.

/**
 * Runs the work with a controller that is aborted when one of the signals is, with its reason, and leaves no listener behind.
 * In Node.js 20 `AbortSignal.any` lets go of signals that nothing else holds (nodejs/node#57736).
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

/** Runs the work with a signal that is aborted when the given one is, and when the time is over; its reason is then a TimeoutError. */
export async function withDeadline<T>(
  signal: AbortSignal,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return underSignals([signal], async (stop) => {
    const timer = setTimeout(() => stop.abort(new DOMException("The time is over.", "TimeoutError")), ms);
    try {
      return await work(stop.signal);
    } finally {
      clearTimeout(timer);
    }
  });
}
