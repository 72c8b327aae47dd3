// The owner's side of a request that arrived at a front-end. It is an exchange whose body and reply travel as
// messages instead of through a socket. The other two kinds of exchange belong to the HTTP libraries.

import { discardBuffer } from "../../../engine-wasm/host/runtime/discards.js";
import { BodyQueue, declaredLength } from "../transport/body-queue.js";
import { closeStream, Exchange } from "../transport/exchange.js";
import {
  ClientGone,
  type ExchangeContext,
  HEADER_PLACES,
  type HttpHandler,
  headerLines,
  type ReadHeader,
  type SentReply,
} from "../transport/port.js";
import { type CarriedError, errorOf, type ThreadChannel } from "./channel.js";
import type { ForwardedHead, FrontEndCalls } from "./messages.js";

/** Maximum bytes of a streamed reply in transit to the front-end. */
const REPLY_WINDOW_BYTES = 256 * 1024;

export class ForwardedExchange extends Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly ip: string;
  readonly #id: number;
  readonly #headers: readonly string[];
  readonly #frontEnd: ThreadChannel<FrontEndCalls>;
  readonly #stallMsMax: number;
  protected readonly queue: BodyQueue;
  /**
   * Body bytes received while the queue was paused. They are acknowledged when it resumes, so that the
   * front-end sends no more in the meantime.
   */
  #heldBack = 0;
  #isPaused = false;
  #unsentBytes = 0;

  constructor(
    head: ForwardedHead,
    frontEnd: ThreadChannel<FrontEndCalls>,
    { limits, memory }: ExchangeContext,
  ) {
    super();
    this.#id = head.id;
    this.#frontEnd = frontEnd;
    this.#headers = head.headers;
    this.#stallMsMax = limits.bodyIdleMsMax;
    this.method = head.method;
    this.path = head.path;
    this.query = head.query;
    this.ip = head.ip;
    const flow = {
      pause: () => {
        this.#isPaused = true;
      },
      resume: () => {
        this.#isPaused = false;
        this.#bodyTaken(this.#heldBack);
        this.#heldBack = 0;
      },
    };
    this.queue = new BodyQueue(flow, declaredLength(this.header("content-length")), limits, memory);
  }

  header(name: ReadHeader): string {
    return this.#headers[HEADER_PLACES.get(name)!] ?? "";
  }

  /**
   * Runs the handler and sends its reply. Calls `onEnd` once the reply has been sent or the client has
   * disconnected.
   */
  run(handler: HttpHandler, onEnd: () => void): void {
    void this.#answer(handler).then(onEnd);
  }

  async #answer(handler: HttpHandler): Promise<void> {
    const sent = await handler(this);
    const failure = await this.#send(sent).catch((error: unknown) => error);
    this.queue.close();
    sent.finished(failure);
  }

  /** Called with each piece of the body that the front-end sends. */
  arrived(bytes: Uint8Array): void {
    this.queue.push(bytes);
    discardBuffer(bytes.byteLength);
    if (this.#isPaused) this.#heldBack += bytes.byteLength;
    else this.#bodyTaken(bytes.byteLength);
  }

  bodyEnded(error: CarriedError | null): void {
    if (error === null) this.queue.end();
    else this.queue.fail(error.code === undefined ? new ClientGone() : errorOf(error));
  }

  /** Called when the client has disconnected. */
  gone(): void {
    if (!this.aborted) this.abort();
  }

  taken(bytes: number): void {
    this.#unsentBytes -= bytes;
    if (this.#unsentBytes < REPLY_WINDOW_BYTES) this.wake?.();
  }

  #bodyTaken(bytes: number): void {
    if (bytes > 0) this.#frontEnd.tell("bodyTaken", { id: this.#id, bytes });
  }

  async #send(sent: SentReply): Promise<void> {
    const id = this.#id;
    const { status, body } = sent.reply;
    const headers = headerLines(sent);
    const streamed = typeof body !== "string" && !(body instanceof Uint8Array);
    if (this.aborted) return streamed ? closeStream(body) : undefined;
    if (streamed) this.#frontEnd.tell("reply", { id, status, headers, body: null });
    else if (typeof body === "string") this.#frontEnd.tell("reply", { id, status, headers, body });
    else {
      const bytes = new Uint8Array(body);
      this.#frontEnd.tell("reply", { id, status, headers, body: bytes }, [bytes.buffer]);
    }
    if (streamed) await this.sendStream(body, this.#stallMsMax);
  }

  protected write(bytes: Uint8Array): boolean {
    this.#unsentBytes += bytes.byteLength;
    const own = new Uint8Array(bytes);
    this.#frontEnd.tell("piece", { id: this.#id, bytes: own }, [own.buffer]);
    return this.#unsentBytes < REPLY_WINDOW_BYTES;
  }

  protected end(): void {
    this.#frontEnd.tell("replyEnded", { id: this.#id, cut: false });
  }

  protected cut(): void {
    this.#frontEnd.tell("replyEnded", { id: this.#id, cut: true });
  }
}
