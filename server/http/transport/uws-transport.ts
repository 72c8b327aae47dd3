// The HTTP transport on uWebSockets.js. Only this file uses the library (load-uws.ts loads it) and has to
// follow its rules. A request can be read only inside its callback, so everything is copied first. A body
// chunk is valid only inside its own callback. A response must not be touched after it was aborted or ended.
// Writes belong inside `cork`.

import type { HttpResponse, TemplatedApp, HttpRequest as UwsRequest, us_listen_socket } from "uWebSockets.js";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { CertificatePair } from "../../access/edge/certificate.js";
import { SkeinError } from "../../ground/errors.js";
import type { Limits } from "../../ground/limits.js";
import { BodyQueue, declaredLength, type Flow } from "./body-queue.js";
import { closeStream, Exchange } from "./exchange.js";
import type { Uws } from "./load-uws.js";
import {
  type Closing,
  type ExchangeContext,
  type HttpHandler,
  type HttpReply,
  type ListenOptions,
  type OwnListener,
  READ_HEADERS,
  REASONS,
  type ReadHeader,
} from "./port.js";
import { HELD_REPLY_BYTES, type UnsentBytes } from "./unsent.js";

/**
 * Listening options that allow or forbid other sockets on the same port (LIBUS_LISTEN_DEFAULT,
 * LIBUS_LISTEN_EXCLUSIVE_PORT).
 */
const SHARED_PORT = 0;
const EXCLUSIVE_PORT = 1;

/**
 * Maximum size in bytes of the pieces into which a streamed reply is split. When the library reports free
 * space, the system accepts a whole piece of this size.
 */
const PIECE_BYTES_MAX = 64 * 1024;

const HEADER_PLACES: ReadonlyMap<string, number> = new Map(READ_HEADERS.map((name, place) => [name, place]));
const NO_HEADERS: readonly string[] = READ_HEADERS.map(() => "");

/** Methods missing from the library's typings. */
interface UntypedApp {
  listen(host: string, port: number, options: number, done: (socket: us_listen_socket | false) => void): void;
  /** Returns the handle by which other apps refer to this app. */
  getDescriptor(): unknown;
  /** Passes the connections that this app accepts from now on to the app behind `descriptor`. */
  addChildAppDescriptor(descriptor: unknown): void;
  removeChildAppDescriptor(descriptor: unknown): void;
}
type App = UntypedApp & Pick<TemplatedApp, "any" | "close" | "filter">;

/** Starts listening with uWebSockets.js. Rejects if the address cannot be used. */
export async function listenUws(uws: Uws, options: ListenOptions): Promise<OwnListener> {
  const apps = new Apps(uws, options);
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    const sharing = options.isShared ? SHARED_PORT : EXCLUSIVE_PORT;
    apps.acceptor.listen(options.host, options.port, sharing, resolve);
  });
  if (socket === false) {
    throw new Error(`cannot listen on ${options.host}:${options.port}: the address is in use or not allowed`);
  }
  const port = uws.us_socket_local_port(socket);
  let accepting = true;
  const stopAccepting = (): void => {
    apps.closing.now = true;
    if (accepting) uws.us_listen_socket_close(socket);
    accepting = false;
  };
  const close = async (): Promise<void> => {
    stopAccepting();
    await yieldToEventLoop(); // replies handed to the library are not sent until the end of the turn
    apps.close();
  };
  const cut = (): void => {
    stopAccepting();
    apps.close();
  };
  return {
    port,
    get connections() {
      return apps.connections;
    },
    stopAccepting,
    close,
    cut,
    useCertificate: (pair) => apps.use(pair),
  };
}

/**
 * The apps behind one listener. An app's certificate cannot be changed, so a new certificate needs a new app.
 * The first app continues to accept connections and hands them to the newest app. No connection is refused,
 * and open connections stay with their app.
 */
class Apps {
  readonly acceptor: App;
  readonly closing: Closing = { now: false };
  /** Number of open connections of all apps. */
  connections = 0;
  readonly #uws: Uws;
  readonly #options: ListenOptions;
  /** All apps that may have connections, newest last. */
  readonly #all: App[];
  #certificate: CertificatePair | null;

  constructor(uws: Uws, options: ListenOptions) {
    this.#uws = uws;
    this.#options = options;
    this.#certificate = options.certificate;
    this.acceptor = this.#make(options.certificate);
    this.#all = [this.acceptor];
  }

  /** Uses the certificate for new connections. Throws if the library does not accept it. */
  use(pair: CertificatePair): void {
    const { certificate, key } = this.#certificate ?? {};
    if (pair.certificate === certificate && pair.key === key) return;
    const newest = this.#make(pair);
    const before = this.#all.at(-1)!;
    if (before !== this.acceptor) this.acceptor.removeChildAppDescriptor(before.getDescriptor());
    this.acceptor.addChildAppDescriptor(newest.getDescriptor());
    this.#all.push(newest);
    this.#certificate = pair;
  }

  /** Closes all connections. */
  close(): void {
    for (const app of this.#all) app.close();
  }

  /** Called with 1 for each new connection, and with -1 for each closed one. */
  readonly #counted = (_response: unknown, change: number): void => {
    this.connections += change;
  };

  /** Creates an app. The library reads the certificate files and accepts only TLS 1.2 and later. */
  #make(pair: CertificatePair | null): App {
    const app =
      pair === null
        ? this.#uws.App()
        : this.#uws.SSLApp({ cert_file_name: pair.files.certificate, key_file_name: pair.files.key });
    app.filter(this.#counted);
    app.any("/*", (response, request) => {
      new UwsExchange(response, request, this.#options, this.closing).run(this.#options.handler);
    });
    return app as unknown as App;
  }
}

/** One request and its reply. */
class UwsExchange extends Exchange implements Flow {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #response: HttpResponse;
  readonly #limits: Limits;
  readonly #unsent: UnsentBytes;
  readonly #closing: Closing;
  readonly #headers: string[] = NO_HEADERS.slice();
  protected readonly queue: BodyQueue;
  #ended = false;
  #paused = false;
  /** True once the whole body has arrived. */
  #received = false;
  #cutAfterReply = false;
  /** Last byte of the most recent piece, or null if the library already has it. See `write`. */
  #lastByte: Uint8Array | null = null;

  constructor(
    response: HttpResponse,
    request: UwsRequest,
    { limits, memory, unsent, isShared }: ExchangeContext & Pick<ListenOptions, "isShared">,
    closing: Closing,
  ) {
    super();
    this.#response = response;
    this.#limits = limits;
    this.#unsent = unsent;
    this.#closing = closing;
    this.method = request.getCaseSensitiveMethod();
    this.path = request.getUrl();
    this.query = request.getQuery() ?? "";
    const lengths = this.#readHeaders(request);
    this.queue = new BodyQueue(this, declaredLength(this.header("content-length")), limits, memory);
    if (lengths > 1) {
      this.#cutAfterReply = true;
      this.queue.fail(new SkeinError("SK-SYS-400", "the request has more than one Content-Length header"));
    }
    response.onAborted(() => this.abort());
    response.onData((chunk, last) => {
      if (!this.queue.discarding) this.queue.push(new Uint8Array(chunk));
      if (!last) return;
      this.#received = true;
      // In a front-end, end the body outside the library's callback. Ending it runs the request's handler,
      // and if that hangs or fills the heap, its thread is ended in the middle of it. The library would not
      // survive that inside its own callback.
      if (isShared) setImmediate(() => this.queue.end());
      else this.queue.end();
    });
  }

  /**
   * Copies the headers. If a header is repeated, the first value counts, except that the values of
   * X-Forwarded-For are joined into a list, because each proxy may add one. Returns the number of
   * Content-Length headers: if there are two, the end of the body is ambiguous.
   */
  #readHeaders(request: UwsRequest): number {
    let lengths = 0;
    request.forEach((name, value) => {
      if (name === "content-length") lengths++;
      const at = HEADER_PLACES.get(name);
      if (at === undefined) return;
      if (this.#headers[at] === "") this.#headers[at] = value;
      else if (name === "x-forwarded-for") this.#headers[at] += `, ${value}`;
    });
    return lengths;
  }

  /** Looked up only when needed, because the lookup is a system call and few requests need the address. */
  get ip(): string {
    if (this.aborted || this.#ended) return "";
    return Buffer.from(this.#response.getRemoteAddressAsText()).toString("latin1");
  }

  run(handler: HttpHandler): void {
    void handler(this).then(async (reply) => {
      let failure: unknown;
      // The end of the body may arrive in this turn. Until it has, the connection must not be closed.
      if (this.#closing.now) await yieldToEventLoop();
      try {
        const sending = this.#send(reply);
        if (sending !== undefined) await sending;
      } catch (error) {
        failure = error;
      }
      this.#readNext();
      this.queue.close();
      reply.onFinished?.(failure);
    });
  }

  header(name: ReadHeader): string {
    return this.#headers[HEADER_PLACES.get(name)!]!;
  }

  pause(): void {
    if (this.aborted || this.#ended || this.#paused) return;
    this.#paused = true;
    this.#response.pause();
    // A pause inside onData does not stop the idle timer, which would then cut the connection. A second pause
    // after onData has returned does stop it.
    setImmediate(() => {
      if (this.#paused && !this.aborted && !this.#ended) this.#response.pause();
    });
  }

  /**
   * Does nothing once the whole body has arrived: resuming would start the idle timer, which only the end of
   * a body stops, and the timer would cut off a request that takes longer than ten seconds.
   */
  resume(): void {
    if (!this.#received) this.#readNext();
  }

  /**
   * Resumes a paused socket once the request is answered. Otherwise the connection's next request would never
   * be read.
   */
  #readNext(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (!this.aborted && !this.#ended) this.#response.resume();
  }

  /**
   * Resolves when the reply has been handed over to the library. Hands over a small reply synchronously and
   * returns undefined.
   */
  #send(reply: HttpReply): Promise<void> | undefined {
    const { body } = reply;
    if (typeof body !== "string" && !(body instanceof Uint8Array)) {
      return this.aborted ? closeStream(body) : this.#stream(reply, body);
    }
    if (this.aborted) return undefined;
    this.#readNext();
    if (body.length > HELD_REPLY_BYTES && this.method !== "HEAD") return this.#sendWhole(reply, body);
    this.#ended = true;
    const isBare = this.method === "HEAD" || reply.status === 204;
    // A connection that is closed while the client is still sending is reset, and the reply may be lost.
    const cuts = this.#cutAfterReply || (this.#closing.now && this.#received && !isBare);
    this.#response.cork(() => {
      this.#writeHead(reply, this.#closing.now && !cuts); // if it cuts, the library writes the header
      if (!isBare) {
        this.#response.end(body, cuts);
        return;
      }
      if (body.length > 0) this.#response.writeHeader("content-length", String(Buffer.byteLength(body)));
      this.#response.endWithoutBody();
    });
    return undefined;
  }

  /**
   * Resolves when the client has received the reply or disconnected. uWebSockets.js disconnects a client that
   * reads nothing for about ten seconds.
   */
  #sendWhole(reply: HttpReply, body: string | Uint8Array): Promise<void> {
    const response = this.#response;
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    this.#unsent.add(bytes.byteLength);
    return new Promise((resolve) => {
      const finished = (): void => {
        this.#ended = true;
        this.wake = null;
        this.#unsent.remove(bytes.byteLength);
        resolve();
      };
      const sendFrom = (offset: number): boolean => {
        const [taken, done] = response.tryEnd(bytes.subarray(offset), bytes.byteLength);
        if (done) finished();
        return taken;
      };
      this.wake = finished;
      response.onWritable(sendFrom);
      response.cork(() => {
        this.#writeHead(reply);
        sendFrom(0);
      });
    });
  }

  #stream(reply: HttpReply, body: AsyncIterable<Uint8Array>): Promise<void> {
    this.#response.onWritable(() => {
      this.wake?.();
      return true;
    });
    this.#response.cork(() => this.#writeHead(reply));
    return this.sendStream(inPieces(body), this.#limits.bodyIdleMsMax);
  }

  /**
   * Passes the piece to the library, but keeps its last byte back while the library is buffering. The library
   * reports when it has room for more, but sends its buffer only at the next write, so there must always be
   * something left to write. Otherwise the rest of a reply could still be unsent when its request is over.
   */
  protected write(piece: Uint8Array): boolean {
    let accepted = true;
    this.#response.cork(() => {
      this.#writeLastByte();
      this.#lastByte = piece.subarray(-1);
      accepted = piece.byteLength === 1 || this.#response.write(piece.subarray(0, -1));
      if (accepted) accepted = this.#writeLastByte();
    });
    return accepted;
  }

  protected end(): void {
    this.#readNext();
    this.#ended = true;
    this.#response.cork(() => {
      this.#writeLastByte();
      this.#response.end(undefined, this.#closing.now && this.#received);
    });
  }

  #writeLastByte(): boolean {
    const last = this.#lastByte;
    this.#lastByte = null;
    return last === null || this.#response.write(last);
  }

  protected cut(): void {
    this.#response.close();
  }

  #writeHead(reply: HttpReply, announcesClose = this.#closing.now): void {
    this.#response.writeStatus(`${reply.status} ${REASONS[reply.status] ?? "Status"}`);
    for (const [name, value] of reply.headers) this.#response.writeHeader(name, value);
    if (announcesClose) this.#response.writeHeader("connection", "close");
  }
}

/**
 * Splits large pieces, because the library would otherwise buffer more per turn of the event loop than it
 * sends.
 */
async function* inPieces(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    for (let at = 0; at < chunk.byteLength; at += PIECE_BYTES_MAX)
      yield chunk.subarray(at, at + PIECE_BYTES_MAX);
  }
}
