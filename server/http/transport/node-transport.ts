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
import { NodeExchange } from "./node-exchange.js";
import {
  type Closing,
  headerLines,
  type ListenOptions,
  type OwnListener,
  REASONS,
  type SentRefusal,
} from "./port.js";
import { RequestHead } from "./request-head.js";

/** Time (ms) that clients have to take buffered replies when all connections are closed. */
const FLUSH_MS_MAX = 500;
/** Time (ms) for which bytes are dropped that arrive after a connection's last reply. */
const LINGER_MS = 1000;

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
    insecureHTTPParser: false,
    requireHostHeader: false, // RequestHead requires it, so that the refusal has the usual form
    headersTimeout: limits.bodyIdleMsMax,
    requestTimeout: 0,
    // Node enforces `headersTimeout` only at these intervals.
    connectionsCheckingInterval: Math.ceil(limits.bodyIdleMsMax / 4),
  };
  const closing: Closing = { now: false };
  const context = { ...options, closing };
  const connections = new WeakMap<Duplex, Connection>();
  const connectionOf = (socket: Duplex): Connection => {
    let connection = connections.get(socket);
    if (connection === undefined) {
      connection = new Connection(socket, context);
      connections.set(socket, connection);
    }
    return connection;
  };
  const take = (message: IncomingMessage, response: ServerResponse): void =>
    connectionOf(message.socket).take(message, response);
  const tls =
    certificate === null
      ? null
      : createTlsServer(
          { ...settings, ...secureContext(certificate), handshakeTimeout: limits.bodyIdleMsMax },
          take,
        );
  const server = tls ?? createServer(settings, take);
  // RequestHead must see all headers; otherwise node:http drops those after the first 1,000.
  server.maxHeadersCount = 0;
  server.on("checkExpectation", take); // RequestHead refuses what the server cannot meet
  server.on("connect", (message: IncomingMessage, socket: Duplex) => {
    socket.on("error", () => socket.destroy());
    const refused = faultOf(headOf(message), message)!; // RequestHead refuses the method CONNECT
    connectionOf(socket).refuseRest(refused);
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    const why = malformation(error, limits);
    if (why === null) socket.destroy();
    else connectionOf(socket).refuseRest(why);
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

/** The requests of one connection. */
class Connection {
  readonly #socket: Duplex;
  readonly #context: ListenOptions & { readonly closing: Closing };
  #latest: NodeExchange | null = null;
  /** The requests whose replies have not been sent completely. */
  readonly #open = new Set<NodeExchange>();
  /** True if no further request is taken: the last one was refused or asked to close the connection. */
  #isEnding = false;

  constructor(socket: Duplex, context: ListenOptions & { readonly closing: Closing }) {
    this.#socket = socket;
    this.#context = context;
    // node:http tells only the first of several pipelined requests that the connection has closed.
    socket.once("close", () => {
      for (const exchange of this.#open) exchange.connectionClosed();
    });
  }

  take(message: IncomingMessage, response: ServerResponse): void {
    if (this.#isEnding) return;
    const { handler, malformed } = this.#context;
    const exchange = new NodeExchange(message, response, this.#context);
    this.#latest = exchange;
    this.#open.add(exchange);
    response.once("close", () => this.#open.delete(exchange));
    const head = headOf(message);
    const fault = faultOf(head, message);
    this.#isEnding = fault !== null || head.isLast;
    if (fault !== null) exchange.refuse(malformed(fault, exchange.header("x-request-id")));
    else exchange.run(handler, head.isLast);
  }

  /**
   * Refuses the request to which the connection's last bytes belong, after the replies to those before it.
   */
  refuseRest(why: SkeinError): void {
    const latest = this.#latest;
    const isPending = latest !== null && !latest.isOver;
    const isItsBody = isPending && !latest.hasBody;
    if (this.#isEnding && !isItsBody) return;
    this.#isEnding = true;
    const reply = this.#context.malformed(why);
    if (isItsBody) latest.refuse(reply);
    else if (isPending) latest.onceOver(() => sendLast(this.#socket, reply));
    else sendLast(this.#socket, reply);
  }
}

/**
 * Sends the last reply of a connection and closes it. Bytes that the client is still sending are dropped for
 * a while: if the connection were closed while they arrive, the client might never see the reply.
 */
function sendLast(socket: Duplex, sent: SentRefusal): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { status, body } = sent.reply;
  const lines = [
    `HTTP/1.1 ${status} ${REASONS[status]}`,
    ...headerLines(sent).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
}

function headOf({ rawHeaders }: IncomingMessage): RequestHead {
  const head = new RequestHead();
  for (let i = 0; i < rawHeaders.length; i += 2) head.add(rawHeaders[i]!.toLowerCase(), rawHeaders[i + 1]!);
  return head;
}

/** Returns why the request must be refused; null if its head is in order. */
function faultOf(
  head: RequestHead,
  { method = "", url = "", httpVersion }: IncomingMessage,
): SkeinError | null {
  return head.fault(method, url, httpVersion);
}

/** Returns the error for bytes that are not a request. Returns null if the connection has failed. */
function malformation({ code = "" }: NodeJS.ErrnoException, limits: Limits): SkeinError | null {
  if (code === "HPE_HEADER_OVERFLOW") {
    return new SkeinError("SK-SYS-431", `the request head is larger than ${limits.headerBytesMax} bytes`);
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new SkeinError("SK-SYS-408", "the request head did not arrive in time");
  }
  return code.startsWith("HPE_") ? new SkeinError("SK-SYS-400", "the request is not valid HTTP/1.1") : null;
}
