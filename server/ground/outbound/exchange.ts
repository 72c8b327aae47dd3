// Sends one GET request and reads its answer, on a connection of its own that is closed afterwards. If the
// reader is slow, the server has to wait. Uses Node's own HTTP client because it accepts an existing, checked
// connection, and because it reports an error if a server resets the connection while the reader is slow;
// undici 7 throws an uncatchable assertion error in that case. Redirects, retries and contents are handled
// elsewhere.
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { within } from "../jobs/deadline.js";
import { connectTo, type OutboundRoute } from "./connector.js";
import { connectionFailure, PassingError, silenceFailure } from "./failures.js";

/**
 * Sends the request and waits for the answer's head. The caller must close the answer. Throws FeedError, or
 * the signal's reason.
 */
export async function exchange(
  url: URL,
  headers: Readonly<Record<string, string>>,
  route: OutboundRoute,
): Promise<Answer> {
  const socket = await connectTo(url, route);
  const request = httpRequest({
    createConnection: () => socket,
    path: url.pathname + url.search,
    headers: { host: url.host, ...headers },
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", resolve);
    // This listener is not removed: it also handles errors that occur while nobody is waiting for the answer.
    request.on("error", reject);
    // If the server switches protocols, Node closes the request without an error.
    request.once("close", () => reject(new Error("the connection was closed")));
  });
  request.end();
  try {
    const late = (): never => {
      throw silenceFailure(url.host, "answer", route.silenceMsMax);
    };
    return new Answer(url, request, await within(answered, route.silenceMsMax, late, route.signal), route);
  } catch (error) {
    request.destroy();
    route.signal.throwIfAborted();
    throw connectionFailure(url.host, error);
  }
}

/** A request's answer: its head, and its body piece by piece. */
export class Answer {
  /** The URL that was requested last, after any redirects. */
  readonly url: URL;
  readonly status: number;
  readonly #request: ClientRequest;
  readonly #response: IncomingMessage;
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #route: OutboundRoute;

  constructor(url: URL, request: ClientRequest, response: IncomingMessage, route: OutboundRoute) {
    this.url = url;
    this.status = response.statusCode ?? 0;
    this.#request = request;
    this.#response = response;
    this.#pieces = response[Symbol.asyncIterator]();
    this.#route = route;
  }

  header(name: string): string | null {
    const value = this.#response.headers[name];
    return typeof value === "string" ? value : null;
  }

  /** Length of the body as stated in the head; null if it is not stated. */
  get length(): number | null {
    const header = this.header("content-length");
    return header === null ? null : Number(header);
  }

  /**
   * True if the answer says where its body ends, so that a body that was cut short ends in an error.
   * Otherwise the body ends where the connection does, complete or not.
   */
  get isDelimited(): boolean {
    return this.length !== null || /\bchunked\s*$/i.test(this.header("transfer-encoding") ?? "");
  }

  /**
   * Returns the next piece of the body, or null at its end. Throws FeedError if the connection ends early.
   */
  async next(): Promise<Uint8Array | null> {
    const { silenceMsMax, signal } = this.#route;
    const late = (): never => {
      throw silenceFailure(this.url.host, "continue sending", silenceMsMax);
    };
    try {
      const piece = await within(this.#pieces.next(), silenceMsMax, late, signal);
      return piece.done ? null : piece.value;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof PassingError) throw error;
      throw new PassingError("SK-DS-520", `${this.url.host} ended the answer before it was complete`, error);
    }
  }

  close(): void {
    this.#request.destroy();
    this.#response.destroy();
  }
}
