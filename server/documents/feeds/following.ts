// Puts a stream's first element, which has already been consumed, back in front of the stream.

/** Yields the first element, then `rest`. Closes `rest` if the reader stops early. */
export async function* following<T>(first: T, rest: AsyncIterator<T>): AsyncGenerator<T> {
  try {
    yield first;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
