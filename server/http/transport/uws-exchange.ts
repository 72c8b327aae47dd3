// One request of uWebSockets.js and its reply. Follows the library's rules: a request can be read only inside
// its callback, so everything is copied first; a body chunk is valid only inside its own callback; a response
// must not be touched after it was aborted or ended; writes belong inside `cork`.

import type { HttpResponse, HttpRequest as UwsRequest } from "uWebSockets.js";
import { SkeinError } from "../../ground/errors.js";
import { within } from "../../ground/jobs/deadline.js";
import { BodyQueue, declaredLength, type Flow } from "./body-queue.js";
import { closeStream, Exchange } from "./exchange.js";
import type { HeadReader } from "./head-reader.js";
import {
  type Closing,
  HEADER_PLACES,
  type ListenOptions,
  REASONS,
  type ReadHeader,
  type SentReply,
} from "./port.js";
import type { RequestHead } from "./request-head.js";
import { HELD_REPLY_BYTES } from "./unsent.js";

/**
 * Maximum size in bytes of the pieces into which a streamed reply is split. When the library reports free
 * space, the system accepts a whole piece of this size.
 */
const PIECE_BYTES_MAX = 64 * 1024;
const NO_BYTES = new ArrayBuffer(0);

export class UwsExchange extends Exchange implements Flow {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #response: HttpResponse;
  readonly #options: ListenOptions;
  readonly #closing: Closing;
  /** The values of READ_HEADERS, in the same order. */
  readonly #headers: readonly string[];
  protected readonly queue: BodyQueue;
  /** True once the request's handler has been called. */
  #begun = false;
  /** True inside a callback in which the library holds back writes anyway. */
  #isCorked = false;
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
    reader: HeadReader,
    options: ListenOptions,
    closing: Closing,
  ) {
    super();
    this.#response = response;
    this.#options = options;
    this.#closing = closing;
    this.method = request.getCaseSensitiveMethod();
    this.path = request.getUrl();
    this.query = request.getQuery() ?? "";
    this.#headers = reader.read(request);
    const { head } = reader;
    const target = this.query === "" ? this.path : this.path + this.query;
    this.#fault = head.fault(this.method, target, "1.1") ?? chunksRefused(head);
    this.#isLast = this.#fault !== null || head.isLast;
    const { limits, memory } = options;
    const declared = declaredLength(this.header("content-length"));
    this.queue = new BodyQueue(this, declared, limits, memory);
    response.onAborted(() => this.abort());
    response.onData((chunk, last) => this.#arrived(chunk, last));
    if (this.#fault !== null) this.#refuse(this.#fault);
    else if (declared === 0) this.#arrived(NO_BYTES, true);
  }

  /**
   * Called by the library for every piece of the body. The first call comes in the turn in which the head has
   * arrived, even if no byte of the body has; only for a body whose declared length is 0, the library may not
   * call at all, so that body ends with the head. A request whose body came with its head, as most do, is
   * thus answered when it is complete, and need not wait for anything. All others begin before their body, so
   * that it is not read in vain if they are refused.
   */
  #arrived(chunk: ArrayBuffer, last: boolean): void {
    if (this.#received) return;
    if (!last && !this.#begun) this.#begin();
    if (!this.queue.discarding && chunk.byteLength > 0) this.queue.push(new Uint8Array(chunk));
    if (!last) return;
    this.#received = true;
    this.#onReceived?.();
    // In a front-end, end the body outside the library's callback. Ending it runs the request's handler, and
    // if that hangs or fills the heap, its thread is ended in the middle of it. The library would not survive
    // that inside its own callback.
    if (this.#options.isShared) {
      setImmediate(endBody, this);
      return;
    }
    this.#isCorked = true;
    this.endBody();
    this.#isCorked = false;
  }

  /** Called once the whole body has arrived. */
  endBody(): void {
    this.queue.end();
    if (!this.#begun) this.#begin();
  }

  #begin(): void {
    this.#begun = true;
    const answer = this.#options.handler(this);
    if (answer instanceof Promise) void answer.then((sent) => this.#answer(sent));
    else this.#answer(answer);
  }

  /** Looked up only when needed, because the lookup is a system call and few requests need the address. */
  get ip(): string {
    if (this.aborted || this.#ended) return "";
    return Buffer.from(this.#response.getRemoteAddressAsText()).toString("latin1");
  }

  /**
   * A connection is not closed in the turn in which its last request arrived. The end of the body may follow
   * in the same turn. If another request follows before the reply, the library closes the connection itself;
   * after the reply it would take that request, and forget to close the connection.
   */
  #answer(sent: SentReply): void {
    if (this.#isLast || this.#closing.now) setImmediate(() => this.#sendNow(sent));
    else this.#sendNow(sent);
  }

  #sendNow(sent: SentReply): void {
    let sending: Promise<void> | undefined;
    try {
      sending = this.#send(sent);
    } catch (error) {
      this.#over(sent, error);
      return;
    }
    if (sending === undefined) this.#over(sent, undefined);
    else
      void sending.then(
        () => this.#over(sent, undefined),
        (error: unknown) => this.#over(sent, error),
      );
  }

  #over(sent: SentReply, failure: unknown): void {
    this.#readNext();
    this.queue.close();
    sent.finished(failure);
  }

  /**
   * Answers a request that breaks a rule. A body in chunks is read to its end first: a client that is still
   * sending when its connection is closed may never see the reply.
   */
  #refuse(fault: SkeinError): void {
    this.#begun = true;
    this.queue.discard();
    const sent = this.#options.malformed(fault, this.header("x-request-id"));
    if (fault.code !== "SK-SYS-411") {
      this.#answer(sent);
      return;
    }
    const received = new Promise<void>((resolve) => {
      this.#onReceived = resolve;
    });
    void within(received, this.#options.limits.bodyIdleMsMax, () => undefined).then(() => this.#answer(sent));
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
  #send(sent: SentReply): Promise<void> | undefined {
    const { body } = sent.reply;
    if (typeof body !== "string" && !(body instanceof Uint8Array)) {
      return this.aborted ? closeStream(body) : this.#stream(sent, body);
    }
    if (this.aborted) return undefined;
    this.#readNext();
    if (body.length > HELD_REPLY_BYTES && this.method !== "HEAD") return this.#sendWhole(sent, body);
    this.#ended = true;
    if (this.#isCorked) this.#writeSmall(sent, body);
    else this.#response.cork(() => this.#writeSmall(sent, body));
    return undefined;
  }

  #writeSmall(sent: SentReply, body: string | Uint8Array): void {
    const isBare = this.method === "HEAD" || sent.reply.status === 204;
    // A connection that is closed while the client is still sending is reset, and the reply may be lost.
    const cuts = this.#isLast || (this.#closing.now && this.#received && !isBare);
    this.#writeHead(sent, this.#closing.now && !cuts); // if it cuts, the library writes the header
    if (!isBare) this.#response.end(body, cuts);
    else if (this.#fault !== null) this.#response.endWithoutBody(0, true);
    else {
      if (body.length > 0) this.#response.writeHeader("content-length", String(Buffer.byteLength(body)));
      this.#response.endWithoutBody();
    }
  }

  /**
   * Resolves when the client has received the reply or disconnected. uWebSockets.js disconnects a client that
   * reads nothing for about ten seconds.
   */
  #sendWhole(sent: SentReply, body: string | Uint8Array): Promise<void> {
    const response = this.#response;
    const { unsent } = this.#options;
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    unsent.add(bytes.byteLength);
    return new Promise((resolve) => {
      const finished = (): void => {
        this.#ended = true;
        this.wake = null;
        unsent.remove(bytes.byteLength);
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
        this.#writeHead(sent);
        sendFrom(0);
      });
    });
  }

  #stream(sent: SentReply, body: AsyncIterable<Uint8Array>): Promise<void> {
    this.#response.onWritable(() => {
      this.wake?.();
      return true;
    });
    this.#response.cork(() => this.#writeHead(sent));
    return this.sendStream(inPieces(body), this.#options.limits.bodyIdleMsMax);
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

  /** Writes as few lines as possible one by one, because each is a call into the library. */
  #writeHead({ reply, id, common }: SentReply, announcesClose = this.#closing.now): void {
    const response = this.#response;
    const { status, headers } = reply;
    response.writeStatus(`${status} ${REASONS[status] ?? "Status"}`);
    for (let i = 0; i < headers.length; i++) response.writeHeader(headers[i]![0], headers[i]![1]);
    if (id !== "") response.writeHeader("x-request-id", id);
    if (common.name !== "") response.writeHeader(common.name, common.rest);
    if (announcesClose) response.writeHeader("connection", "close");
  }
}

/** Ends the body of an exchange in a later turn of the event loop. */
function endBody(exchange: UwsExchange): void {
  exchange.endBody();
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
