// Work that must end in time.

/**
 * Runs the work with a signal that is aborted when the given one is, and when the time is over; its reason is then a TimeoutError.
 * In Node.js 20 `AbortSignal.any` lets go of an `AbortSignal.timeout` that nothing else holds (nodejs/node#57736): such a deadline
 * is sometimes never met.
 */
export async function withDeadline<T>(
  signal: AbortSignal,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new DOMException("The time is over.", "TimeoutError")), ms);
  const stop = (): void => deadline.abort(signal.reason);
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  try {
    return await work(deadline.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}
