// The HTTP front-end on node:http. It serves where uWebSockets.js has no binary for the running Node or libc, and in
// tests. It is slower and otherwise behaves alike.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Limits } from "../limits.js";
import { BodyQueue, declaredLength } from "./body-queue.js";
import { closeStream, Exchange } from "./exchange.js";
import {
  ClientGone,
  type ExchangeContext,
  type HttpHandler,
  type HttpListener,
  type HttpReply,
  type ListenOptions,
  type ReadHeader,
} from "./port.js";
import { HELD_REPLY_BYTES, type UnsentBytes } from "./unsent.js";

/** Starts listening. Rejects when the address cannot be used. */
export async function listenNode(options: ListenOptions): Promise<HttpListener> {
  const { limits } = options;
  // Bodies have timers of their own, because a streamed body may take any time as long as it goes on.
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: limits.bodyIdleMsMax,
      requestTimeout: 0,
      // Node enforces `headersTimeout` only at these intervals.
      connectionsCheckingInterval: Math.ceil(limits.bodyIdleMsMax / 4),
    },
    (message, response) => {
      new NodeExchange(message, response, options).run(options.handler);
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const why = error.code === "EADDRINUSE" ? "the address is in use" : error.message;
      reject(new Error(`cannot listen on ${options.host}:${options.port}: ${why}`));
    });
    server.listen(options.port, options.host, resolve);
  });
  let closed: Promise<void> | null = null;
  const stop = (): Promise<void> => {
    closed ??= new Promise((resolve) => server.close(() => resolve()));
    return closed;
  };
  return {
    port: (server.address() as AddressInfo).port,
    stopAccepting() {
      void stop();
    },
    async close() {
      const done = stop();
      server.closeAllConnections();
      await done;
    },
  };
}

/** One request and its reply. */
class NodeExchange extends Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly ip: string;
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #limits: Limits;
  readonly #unsent: UnsentBytes;
  protected readonly queue: BodyQueue;

  constructor(
    message: IncomingMessage,
    response: ServerResponse,
    { limits, memory, unsent }: ExchangeContext,
  ) {
    super();
    this.#message = message;
    this.#response = response;
    this.#limits = limits;
    this.#unsent = unsent;
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
    response.on("close", () => {
      if (!response.writableFinished) this.abort();
    });
  }

  run(handler: HttpHandler): void {
    void handler(this).then(async (reply) => {
      const failure = await this.#send(reply).catch((error: unknown) => error);
      this.queue.close();
      reply.onFinished?.(failure);
    });
  }

  header(name: ReadHeader): string {
    const value = this.#message.headers[name];
    return typeof value === "string" ? value : "";
  }

  async #send(reply: HttpReply): Promise<void> {
    const { body } = reply;
    const streamed = typeof body !== "string" && !(body instanceof Uint8Array);
    if (this.aborted) return streamed ? closeStream(body) : undefined;
    for (const [name, value] of reply.headers) this.#response.setHeader(name, value);
    this.#response.statusCode = reply.status;
    if (streamed) {
      this.#response.flushHeaders();
      return this.sendStream(body, this.#limits.bodyIdleMsMax);
    }
    const bare = this.method === "HEAD" || reply.status === 204;
    const bytes = Buffer.byteLength(body);
    if (bytes > 0 || !bare) this.#response.setHeader("content-length", bytes);
    if (bytes > HELD_REPLY_BYTES && !bare) return this.#sendWhole(body, bytes);
    this.#response.end(body);
  }

  /** Resolves when the client has taken the reply or is gone. A client that takes nothing for too long is cut off. */
  #sendWhole(body: string | Uint8Array, bytes: number): Promise<void> {
    const response = this.#response;
    this.#unsent.add(bytes);
    return new Promise((resolve) => {
      response.setTimeout(this.#limits.bodyIdleMsMax, () => void response.destroy());
      response.once("close", () => {
        this.#unsent.remove(bytes);
        resolve();
      });
      response.end(body);
    });
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
