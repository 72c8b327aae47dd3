// One request of node:http and its reply.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Limits } from "../../ground/limits.js";
import { BodyQueue, declaredLength } from "./body-queue.js";
import { closeStream, Exchange } from "./exchange.js";
import {
  ClientGone,
  type Closing,
  type ExchangeContext,
  type HttpHandler,
  headerLines,
  type ReadHeader,
  type SentReply,
} from "./port.js";
import { HELD_REPLY_BYTES, type UnsentBytes } from "./unsent.js";

export class NodeExchange extends Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly ip: string;
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #limits: Limits;
  readonly #unsent: UnsentBytes;
  readonly #closing: Closing;
  protected readonly queue: BodyQueue;
  /** Called when the client has disconnected. */
  #onAborted: (() => void) | null = null;

  constructor(
    message: IncomingMessage,
    response: ServerResponse,
    { limits, memory, unsent, closing }: ExchangeContext & { closing: Closing },
  ) {
    super();
    this.#message = message;
    this.#response = response;
    this.#limits = limits;
    this.#unsent = unsent;
    this.#closing = closing;
    this.method = message.method ?? "";
    const target = message.url ?? "/";
    const mark = target.indexOf("?");
    this.path = mark < 0 ? target : target.slice(0, mark);
    this.query = mark < 0 ? "" : target.slice(mark + 1);
    this.ip = message.socket.remoteAddress ?? "";
    const flow = { pause: () => void message.pause(), resume: () => void message.resume() };
    this.queue = new BodyQueue(flow, declaredLength(this.header("content-length")), limits, memory);
    message.on("data", (chunk: Buffer) => this.queue.push(chunk));
    message.on("end", () => this.queue.end());
    message.on("error", () => this.queue.fail(new ClientGone()));
    response.on("drain", () => this.wake?.());
    response.on("error", () => this.abort());
    response.on("close", () => this.connectionClosed());
  }

  /** Aborts the request unless its reply has been sent completely. */
  connectionClosed(): void {
    if (!this.#response.writableFinished) this.abort();
  }

  protected override abort(): void {
    super.abort();
    this.#onAborted?.();
  }

  /** Answers the request with the handler's reply. If it is the last one, then closes the connection. */
  run(handler: HttpHandler, isLast: boolean): void {
    if (isLast) this.#response.shouldKeepAlive = false;
    void this.#answer(handler);
  }

  async #answer(handler: HttpHandler): Promise<void> {
    const sent = await handler(this);
    const failure = await this.#send(sent).catch((error: unknown) => error);
    this.queue.close();
    sent.finished(failure);
  }

  /** True if the whole body has arrived. */
  get hasBody(): boolean {
    return this.#message.complete;
  }

  /** True if the reply has been sent or the client has disconnected. */
  get isOver(): boolean {
    return this.#response.writableFinished || this.aborted;
  }

  onceOver(then: () => void): void {
    this.#response.once("close", then);
  }

  /**
   * Answers the request with `reply` and closes the connection. If the reply of the request's handler has
   * begun, only closes the connection.
   */
  refuse(reply: SentReply): void {
    if (this.#response.headersSent) this.cut();
    else {
      this.#response.setHeader("connection", "close");
      void this.#send(reply);
    }
    this.abort();
  }

  header(name: ReadHeader): string {
    const value = this.#message.headers[name];
    return typeof value === "string" ? value : "";
  }

  async #send(sent: SentReply): Promise<void> {
    const { status, body } = sent.reply;
    const streamed = typeof body !== "string" && !(body instanceof Uint8Array);
    if (this.aborted) return streamed ? closeStream(body) : undefined;
    for (const [name, value] of headerLines(sent)) this.#response.setHeader(name, value);
    if (this.#closing.now) this.#response.setHeader("connection", "close"); // node:http then closes it
    this.#response.statusCode = status;
    if (streamed) {
      this.#response.flushHeaders();
      return this.sendStream(body, this.#limits.bodyIdleMsMax);
    }
    const bare = this.method === "HEAD" || status === 204;
    const bytes = Buffer.byteLength(body);
    if (bytes > 0 || !bare) this.#response.setHeader("content-length", bytes);
    if (bytes > HELD_REPLY_BYTES && !bare) return this.#sendWhole(body, bytes);
    // node:http may send the bytes later, when their owner has already put another reply in their place.
    this.#response.end(typeof body === "string" ? body : Buffer.from(body));
  }

  /**
   * Resolves when the client has received the reply or disconnected. A client that reads nothing for too long
   * is disconnected.
   */
  #sendWhole(body: string | Uint8Array, bytes: number): Promise<void> {
    const response = this.#response;
    this.#unsent.add(bytes);
    return new Promise<void>((resolve) => {
      response.setTimeout(this.#limits.bodyIdleMsMax, () => void response.destroy());
      response.once("close", resolve);
      this.#onAborted = resolve;
      response.end(body);
    }).then(() => this.#unsent.remove(bytes));
  }

  protected write(chunk: Uint8Array): boolean {
    return this.#response.write(chunk);
  }

  protected end(): void {
    this.#response.end();
  }

  protected cut(): void {
    this.#response.destroy();
  }
}
