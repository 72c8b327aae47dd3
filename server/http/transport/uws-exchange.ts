// One request of uWebSockets.js and its reply. Follows the library's rules: a request can be read only inside
// its callback, so everything is copied first; a body chunk is valid only inside its own callback; a response
// must not be touched after it was aborted or ended; writes belong inside `cork`.

import type { HttpResponse, HttpRequest as UwsRequest } from "uWebSockets.js";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { SkeinError } from "../../ground/errors.js";
import { within } from "../../ground/jobs/deadline.js";
import type { Limits } from "../../ground/limits.js";
import { BodyQueue, declaredLength, type Flow } from "./body-queue.js";
import { closeStream, Exchange } from "./exchange.js";
import {
  type Closing,
  type ExchangeContext,
  type HttpReply,
  type ListenOptions,
  READ_HEADERS,
  REASONS,
  type ReadHeader,
  type TextReply,
} from "./port.js";
import { RequestHead } from "./request-head.js";
import { HELD_REPLY_BYTES, type UnsentBytes } from "./unsent.js";

/**
 * Maximum size in bytes of the pieces into which a streamed reply is split. When the library reports free
 * space, the system accepts a whole piece of this size.
 */
const PIECE_BYTES_MAX = 64 * 1024;

const HEADER_PLACES: ReadonlyMap<string, number> = new Map(READ_HEADERS.map((name, place) => [name, place]));
const NO_HEADERS: readonly string[] = READ_HEADERS.map(() => "");

export class UwsExchange extends Exchange implements Flow {
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
  /** Called when the whole body has arrived or the client has disconnected. */
  #onReceived: (() => void) | null = null;
  /** Why the request is refused; null if its head is in order. */
  readonly #fault: SkeinError | null;
  /** True if the connection takes no further request: it is refused, or the client asked to close it. */
  readonly #isLast: boolean;
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
    const head = this.#readHeaders(request);
    this.#fault = head.fault(this.method, this.path + this.query, "1.1") ?? chunksRefused(head);
    this.#isLast = this.#fault !== null || head.isLast;
    this.queue = new BodyQueue(this, declaredLength(this.header("content-length")), limits, memory);
    if (this.#fault !== null) this.queue.discard();
    response.onAborted(() => this.abort());
    response.onData((chunk, last) => {
      if (!this.queue.discarding) this.queue.push(new Uint8Array(chunk));
      if (!last) return;
      this.#received = true;
      this.#onReceived?.();
      // In a front-end, end the body outside the library's callback. Ending it runs the request's handler,
      // and if that hangs or fills the heap, its thread is ended in the middle of it. The library would not
      // survive that inside its own callback.
      if (isShared) setImmediate(() => this.queue.end());
      else this.queue.end();
    });
  }

  /**
   * Copies the headers. If a header is repeated, the first value counts, except that the values of
   * X-Forwarded-For are joined into a list, because each proxy may add one.
   */
  #readHeaders(request: UwsRequest): RequestHead {
    const head = new RequestHead();
    request.forEach((name, value) => {
      head.add(name, value);
      const at = HEADER_PLACES.get(name);
      if (at === undefined) return;
      if (this.#headers[at] === "") this.#headers[at] = value;
      else if (name === "x-forwarded-for") this.#headers[at] += `, ${value}`;
    });
    return head;
  }

  /** Looked up only when needed, because the lookup is a system call and few requests need the address. */
  get ip(): string {
    if (this.aborted || this.#ended) return "";
    return Buffer.from(this.#response.getRemoteAddressAsText()).toString("latin1");
  }

  run({ handler, malformed }: Pick<ListenOptions, "handler" | "malformed">): void {
    const answer =
      this.#fault === null
        ? handler(this)
        : this.#refusal(malformed(this.#fault, this.header("x-request-id")));
    void answer.then(async (reply) => {
      let failure: unknown;
      // A connection is not closed in the turn in which its last request arrived. The end of the body may
      // follow in the same turn. If another request follows before the reply, the library closes the
      // connection itself; after the reply it would take that request, and forget to close the connection.
      if (this.#isLast || this.#closing.now) await yieldToEventLoop();
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

  /**
   * Returns the reply to a refused request once it can be sent. A body in chunks is read to its end first: a
   * client that is still sending when its connection is closed may never see the reply.
   */
  async #refusal(reply: TextReply): Promise<HttpReply> {
    if (this.#fault?.code === "SK-SYS-411" && !this.#received) {
      const received = new Promise<void>((resolve) => {
        this.#onReceived = resolve;
      });
      await within(received, this.#limits.bodyIdleMsMax, () => undefined);
    }
    return reply;
  }

  protected override abort(): void {
    super.abort();
    this.#onReceived?.();
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
    const cuts = this.#isLast || (this.#closing.now && this.#received && !isBare);
    this.#response.cork(() => {
      this.#writeHead(reply, this.#closing.now && !cuts); // if it cuts, the library writes the header
      if (!isBare) {
        this.#response.end(body, cuts);
        return;
      }
      if (this.#fault !== null) {
        this.#response.endWithoutBody(0, true);
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
      this.#response.end(); // told to close the connection, the library would write a header into the body
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
 * Returns why a request with a body in chunks is refused; null for other requests. All published builds of
 * the library misread chunks: they take trailers for the next request, chunk extensions for digits of the
 * length, and any two characters for the end of a line. The server sees only the decoded bytes, so it cannot
 * tell whether they were framed correctly.
 */
function chunksRefused(head: RequestHead): SkeinError | null {
  if (!head.isChunked) return null;
  return new SkeinError(
    "SK-SYS-411",
    "a body in chunks is not accepted here; send it with Content-Length, or run the server with --http node",
  );
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
