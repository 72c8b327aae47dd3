// The HTTP transport on node:http and node:https. Used in tests and where uWebSockets.js has no binary for
// this Node version or libc. Slower, but otherwise behaves like uws-transport.ts.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, type Socket, Server as TcpServer } from "node:net";
import type { Duplex } from "node:stream";
import type { SecureContextOptions } from "node:tls";
import { type CertificatePair, TLS_VERSION_MIN } from "../../access/edge/certificate.js";
import { SkeinError } from "../../ground/errors.js";
import { within } from "../../ground/jobs/deadline.js";
import type { Limits } from "../../ground/limits.js";
import { BodyQueue, declaredLength } from "./body-queue.js";
import { closeStream, Exchange } from "./exchange.js";
import {
  ClientGone,
  type Closing,
  type ExchangeContext,
  type HttpHandler,
  type HttpReply,
  type ListenOptions,
  type OwnListener,
  REASONS,
  type ReadHeader,
} from "./port.js";
import { HELD_REPLY_BYTES, type UnsentBytes } from "./unsent.js";

/** Time (ms) that clients have to take buffered replies when all connections are closed. */
const FLUSH_MS_MAX = 500;

/**
 * True if this version of Node allows several threads to listen on one address. 22.12 and later 22.x versions
 * do, and so do 23.1 and later.
 */
export function canShareNodePort(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12);
}

/** Starts listening with node:http or node:https. Rejects if the address cannot be used. */
export async function listenNode(options: ListenOptions): Promise<OwnListener> {
  const { limits, certificate } = options;
  // No request timeout, because a streamed body may take any time while it makes progress. BodyQueue enforces
  // the time limits on bodies.
  const settings = {
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.bodyIdleMsMax,
    requestTimeout: 0,
    // Node enforces `headersTimeout` only at these intervals.
    connectionsCheckingInterval: Math.ceil(limits.bodyIdleMsMax / 4),
  };
  const closing: Closing = { now: false };
  const context = { ...options, closing };
  const answering = new WeakMap<Duplex, ServerResponse>();
  const take = (message: IncomingMessage, response: ServerResponse): void => {
    answering.set(message.socket, response);
    new NodeExchange(message, response, context).run(options.handler);
  };
  const tls =
    certificate === null
      ? null
      : createTlsServer(
          { ...settings, ...secureContext(certificate), handshakeTimeout: limits.bodyIdleMsMax },
          take,
        );
  const server = tls ?? createServer(settings, take);
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    const begun = answering.get(socket)?.headersSent ?? false;
    const reply = begun || !socket.writable ? null : malformedReply(error, options);
    if (reply === null) socket.destroy();
    else socket.end(reply);
  });
  // All open connections, including those still in their TLS handshake. The latter are not HTTP connections
  // yet, so node:http would leave them open, and they would keep the server from closing.
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const why = error.code === "EADDRINUSE" ? "the address is in use" : error.message;
      reject(new Error(`cannot listen on ${options.host}:${options.port}: ${why}`));
    });
    const { port, host, isShared } = options;
    server.listen({ port, host, reusePort: isShared }, resolve);
  });
  let closed: Promise<void> | null = null;
  // Only stops accepting. The HTTP server's own `close` would also cut idle connections.
  const stop = (): Promise<void> => {
    closed ??= new Promise((resolve) => TcpServer.prototype.close.call(server, () => resolve()));
    return closed;
  };
  const cut = (): void => {
    void stop();
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return sockets.size;
    },
    stopAccepting() {
      closing.now = true;
      void stop();
    },
    async close() {
      const done = stop();
      for (const socket of sockets) socket.destroySoon(); // sends what is still buffered
      await within(done, FLUSH_MS_MAX, () => undefined);
      for (const socket of sockets) socket.destroy();
      await done;
    },
    cut,
    useCertificate: (pair) => tls?.setSecureContext(secureContext(pair)),
  };
}

function secureContext({ certificate, key }: CertificatePair): SecureContextOptions {
  return { cert: certificate, key, minVersion: TLS_VERSION_MIN };
}

/**
 * Returns the reply, as text, to input that is not an HTTP request. Returns null if the connection has
 * failed, because then nobody would read the reply.
 */
function malformedReply(error: NodeJS.ErrnoException, { limits, malformed }: ListenOptions): string | null {
  const why = malformation(error, limits);
  if (why === null) return null;
  const { status, headers, body } = malformed(why);
  const lines = [
    `HTTP/1.1 ${status} ${REASONS[status]}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

function malformation({ code = "" }: NodeJS.ErrnoException, limits: Limits): SkeinError | null {
  if (code === "HPE_HEADER_OVERFLOW") {
    return new SkeinError("SK-SYS-431", `the request head is larger than ${limits.headerBytesMax} bytes`);
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new SkeinError("SK-SYS-408", "the request head did not arrive in time");
  }
  return code.startsWith("HPE_") ? new SkeinError("SK-SYS-400", "the request is not valid HTTP/1.1") : null;
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
  readonly #closing: Closing;
  protected readonly queue: BodyQueue;

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
    if (this.#closing.now) this.#response.setHeader("connection", "close"); // node:http then closes it
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

  /**
   * Resolves when the client has received the reply or disconnected. A client that reads nothing for too long
   * is disconnected.
   */
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
