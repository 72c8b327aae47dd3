// Makes readers use the data of a slow feed as it arrives. They normally wait for full blocks, but a preview
// needs the first items promptly.

const FLUSH = new Uint8Array(0);

/**
 * Yields the chunks. If the next chunk has not arrived `ms` milliseconds after the last flush, first yields
 * an empty chunk, so that readers use their partial blocks.
 */
export async function* withFlushes(
  chunks: AsyncIterable<Uint8Array>,
  ms: number,
): AsyncGenerator<Uint8Array> {
  const source = chunks[Symbol.asyncIterator]();
  let next = source.next();
  let dueMs = performance.now() + ms;
  try {
    for (;;) {
      if (await isLate(next, dueMs)) {
        yield FLUSH;
        await next;
        dueMs = performance.now() + ms;
      }
      const { done, value } = await next;
      if (done === true) return;
      yield value;
      next = source.next();
    }
  } finally {
    next.catch(() => undefined); // nothing else awaits it after an early return
    await source.return?.();
  }
}

/**
 * True if `next` is still pending at `dueMs`. Never rejects: the caller awaits `next` itself and gets its
 * error there.
 */
function isLate(next: Promise<unknown>, dueMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), Math.max(0, dueMs - performance.now()));
    const settled = () => {
      clearTimeout(timer);
      resolve(false);
    };
    next.then(settled, settled);
  });
}
