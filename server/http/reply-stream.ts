// Sends a streamed reply body no faster than the client reads it. Shared by both front-ends.

export interface ReplySink {
  /** True once the client has gone. */
  gone(): boolean;
  /** False when the bytes wait in memory and the caller should await `drained`. */
  write(chunk: Uint8Array): boolean;
  /** Resolves when the waiting bytes have left or the client has gone. */
  drained(): Promise<void>;
  end(): void;
  /** Cuts the connection, so that the client sees that the reply is incomplete. */
  cut(): void;
}

/**
 * Sends all pieces and ends the reply. The iterable is closed in every case. An error of the iterable cuts the
 * connection and is thrown.
 */
export async function sendStream(
  body: AsyncIterable<Uint8Array>,
  sink: ReplySink,
  stallMsMax: number,
): Promise<void> {
  try {
    for await (const chunk of body) {
      if (sink.gone()) return;
      if (chunk.byteLength === 0 || sink.write(chunk)) continue;
      await drainedInTime(sink, stallMsMax);
      if (sink.gone()) return;
    }
  } catch (error) {
    if (!sink.gone()) sink.cut();
    throw error;
  }
  if (!sink.gone()) sink.end();
}

/** Closes a body that nobody will send, so that what it holds is released. */
export async function closeStream(body: AsyncIterable<Uint8Array>): Promise<void> {
  await body[Symbol.asyncIterator]().return?.();
}

/** Cuts the connection of a client that reads nothing for too long. */
async function drainedInTime(sink: ReplySink, stallMsMax: number): Promise<void> {
  const timer = setTimeout(() => {
    if (!sink.gone()) sink.cut();
  }, stallMsMax);
  await sink.drained();
  clearTimeout(timer);
}
