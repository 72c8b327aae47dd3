// The chunks of a feed that arrives slowly. Readers of a whole feed wait for full blocks; a preview wants the items that
// are there.

const FLUSH = new Uint8Array(0);

/** The chunks, with an empty one after about every `ms` of waiting for more: readers then use what they hold of a block. */
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
    next.catch(() => undefined); // after an early return nobody else waits for it
    await source.return?.();
  }
}

/** Whether `next` is still pending at `dueMs`. Never rejects: the caller awaits `next` and meets its failure there. */
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
