// One GET request and its answer on one connection, which ends with them. The reader's pace is the connection's: what is
// not read stays with the server. Node's own HTTP client does it because it can be handed a connection that was checked, and
// because a server that resets the connection while the reader is slow gives it an error; undici 7 throws an assertion
// then that nobody can catch.
// Knows nothing of redirects, tries or what the body holds.
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { within } from "../jobs/deadline.js";
import { connectTo, type OutboundRoute } from "./connector.js";
import { connectionFailure, PassingError, silenceFailure } from "./failures.js";

/** Sends the request and waits for the head of the answer, which the caller closes. Throws FeedError, or the signal's reason. */
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
    // Stays for the errors that come when nobody waits for one any more.
    request.on("error", reject);
    // An answer that switches to another protocol closes the request and is no error.
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

/** The answer to a request: its head, and its body piece by piece. */
export class Answer {
  /** What was asked for, after redirects. */
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

  /** Bytes of the body by its head; null when the head does not say. */
  get length(): number | null {
    const header = this.header("content-length");
    return header === null ? null : Number(header);
  }

  /** The next piece of the body, null at its end. Throws FeedError where the connection ends first. */
  async next(): Promise<Uint8Array | null> {
    const { silenceMsMax, signal } = this.#route;
    const late = (): never => {
      throw silenceFailure(this.url.host, "go on sending", silenceMsMax);
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
