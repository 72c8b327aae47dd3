// The part of a request and its reply that does not depend on the transport. The body passes through a queue.
// If the client disconnects, both the body and the reply end. A streamed reply is sent no faster than the
// client reads it.

import type { ErrorCode } from "../../ground/errors.js";
import { within } from "../../ground/jobs/deadline.js";
import { RequestLife } from "../../ground/jobs/request-life.js";
import type { BodyQueue } from "./body-queue.js";
import { ClientGone, type HttpRequest, type ReadHeader } from "./port.js";

export abstract class Exchange implements HttpRequest {
  abstract readonly method: string;
  abstract readonly path: string;
  abstract readonly query: string;
  abstract readonly ip: string;
  protected abstract readonly queue: BodyQueue;
  /** Called when the buffered bytes have been sent or the client has disconnected. */
  protected wake: (() => void) | null = null;
  readonly life = new RequestLife();
  #aborted = false;
  #controller: AbortController | null = null;

  abstract header(name: ReadHeader): string;

  /**
   * Sends the bytes. Returns false if they had to be buffered; `wake` is called once the buffer has been
   * sent.
   */
  protected abstract write(chunk: Uint8Array): boolean;

  protected abstract end(): void;

  /** Closes the connection, so that the client can tell that the reply is incomplete. */
  protected abstract cut(): void;

  get aborted(): boolean {
    return this.#aborted;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted) this.#controller.abort();
    return this.#controller.signal;
  }

  chargeTo(tenant: number): void {
    this.queue.chargeTo(tenant);
  }

  body(bytesMax: number, tooLarge: ErrorCode): Uint8Array | Promise<Uint8Array> {
    return this.queue.collect(bytesMax, tooLarge);
  }

  bodyStream(): AsyncIterable<Uint8Array> {
    return this.queue.stream();
  }

  /** Called when the client has disconnected. */
  protected abort(): void {
    this.#aborted = true;
    const gone = new ClientGone();
    this.queue.fail(gone);
    this.life.end(gone);
    this.#controller?.abort();
    this.wake?.();
  }

  /**
   * Sends all pieces and ends the reply. Disconnects a client that reads nothing for `stallMsMax`
   * milliseconds. Always closes the iterable. If the iterable throws, closes the connection and rethrows the
   * error.
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

  /** Resolves when the buffered bytes have been sent or the client has disconnected. */
  async #drained(stallMsMax: number): Promise<void> {
    const drained = new Promise<void>((resolve) => {
      this.wake = resolve;
    });
    await within(drained, stallMsMax, () => {
      if (!this.aborted) this.cut();
    });
  }
}

/** Closes a body that will not be sent, so that its resources are released. */
export async function closeStream(body: AsyncIterable<Uint8Array>): Promise<void> {
  await body[Symbol.asyncIterator]().return?.();
}
