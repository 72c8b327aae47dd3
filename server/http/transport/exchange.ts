// What both transports do alike with one request and its reply: the body comes through a queue, a client that goes away
// ends both, and a streamed reply is sent no faster than the client reads it. Knows neither of the two libraries.

import type { ErrorCode } from "../../ground/errors.js";
import { within } from "../../ground/jobs/deadline.js";
import type { BodyQueue } from "./body-queue.js";
import { ClientGone, type HttpRequest, type ReadHeader } from "./port.js";

export abstract class Exchange implements HttpRequest {
  abstract readonly method: string;
  abstract readonly path: string;
  abstract readonly query: string;
  abstract readonly ip: string;
  protected abstract readonly queue: BodyQueue;
  /** Called when the client has taken what waited of the reply, or has gone. */
  protected wake: (() => void) | null = null;
  #aborted = false;
  #controller: AbortController | null = null;

  abstract header(name: ReadHeader): string;

  /** False when the bytes wait in memory; `wake` is called when they have left. */
  protected abstract write(chunk: Uint8Array): boolean;

  protected abstract end(): void;

  /** Cuts the connection, so that the client sees that the reply is incomplete. */
  protected abstract cut(): void;

  get aborted(): boolean {
    return this.#aborted;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted) this.#controller.abort();
    return this.#controller.signal;
  }

  body(bytesMax: number, tooLarge: ErrorCode): Promise<Uint8Array> {
    return this.queue.collect(bytesMax, tooLarge);
  }

  bodyStream(): AsyncIterable<Uint8Array> {
    return this.queue.stream();
  }

  /** The client has gone. */
  protected abort(): void {
    this.#aborted = true;
    this.queue.fail(new ClientGone());
    this.#controller?.abort();
    this.wake?.();
  }

  /**
   * Sends all pieces and ends the reply. A client that reads nothing for `stallMsMax` is cut off. The iterable is closed in
   * every case. An error of the iterable cuts the connection and is thrown.
   */
  protected async sendStream(body: AsyncIterable<Uint8Array>, stallMsMax: number): Promise<void> {
    try {
      for await (const chunk of body) {
        if (this.aborted) return;
        if (chunk.byteLength === 0 || this.write(chunk)) continue;
        await this.#drained(stallMsMax);
        if (this.aborted) return;
      }
    } catch (error) {
      if (!this.aborted) this.cut();
      throw error;
    }
    if (!this.aborted) this.end();
  }

  /** Resolves when the waiting bytes have left or the client has gone. */
  async #drained(stallMsMax: number): Promise<void> {
    const drained = new Promise<void>((resolve) => {
      this.wake = resolve;
    });
    await within(drained, stallMsMax, () => {
      if (!this.aborted) this.cut();
    });
  }
}

/** Closes a body that nobody will send, so that what it holds is released. */
export async function closeStream(body: AsyncIterable<Uint8Array>): Promise<void> {
  await body[Symbol.asyncIterator]().return?.();
}
