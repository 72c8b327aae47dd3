// A stream of which somebody has looked at the beginning.

/** What was read already and then the rest, which is ended when the reader stops early. */
export async function* following<T>(first: T, rest: AsyncIterator<T>): AsyncGenerator<T> {
  try {
    yield first;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
