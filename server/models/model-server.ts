// A client for a model server, which accepts JSON in POST requests. Also classifies the server's failures. A
// tenant may have chosen the server, so its address is checked at every connect, like a feed's. Connections
// are kept alive and reused, which is safe because all of them go to the one host that was checked. Redirects
// are not followed. Knows nothing about what requests contain.
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { AddressRules } from "../ground/outbound/addresses.js";
import { connectTo, INTERNET, type Network } from "../ground/outbound/connector.js";
import { connectionFailure, PassingError } from "../ground/outbound/failures.js";
import { retryAfterMs } from "../ground/outbound/patience.js";

const CONNECT_MS_MAX = 10_000;
/**
 * Idle time (ms) after which a connection is closed. Shorter than most servers' own timeouts, so that they
 * seldom close first.
 */
const IDLE_MS_MAX = 4_000;
/** The server is unreachable or too slow, or did not return a valid answer. */
export class EndpointError extends Error {
  override readonly name = "EndpointError";
  /** The answer's HTTP status. Null if there was no answer or the status was 200. */
  readonly status: number | null;
  /** True if the same request may succeed later. */
  readonly isPassing: boolean;
  /** How long (ms) to wait before sending the server another request; null if unknown. */
  readonly afterMs: number | null;

  constructor(
    message: string,
    { cause, status = null, isPassing = false, afterMs = null }: EndpointErrorMembers = {},
  ) {
    super(message, { cause });
    this.status = status;
    this.isPassing = isPassing;
    this.afterMs = afterMs;
  }
}

interface EndpointErrorMembers {
  readonly cause?: unknown;
  readonly status?: number | null;
  readonly isPassing?: boolean;
  readonly afterMs?: number | null;
}

/** Connecting failed, or the connection was broken. The message names the host. */
export class UnreachableError extends EndpointError {}

/**
 * The location of an API on a server: `path` is appended to the path of the server's URL or, if the URL has
 * none, to `root`.
 */
export interface InterfacePath {
  /** E.g. "/v1". */
  readonly root: string;
  /** E.g. "/embeddings". */
  readonly path: string;
}

export interface ModelServerOptions extends InterfacePath {
  /** URL of the server's API, with or without `path` at its end. */
  readonly url: URL;
  /** Null if the server requires none. */
  readonly apiKey: string | null;
  readonly addresses: AddressRules;
  readonly network?: Network;
  readonly answerBytesMax: number;
}

/** Rules that allow any address, for servers chosen by the operator. */
export const ANY_ADDRESS: AddressRules = { allowPrivate: true, allowHosts: [] };

export class ModelServer {
  readonly #url: URL;
  readonly #apiKey: string | null;
  readonly #answerBytesMax: number;
  readonly #agent: Agent;
  readonly #closing = new AbortController();

  constructor({
    url,
    root,
    path,
    apiKey,
    addresses,
    network = INTERNET,
    answerBytesMax,
  }: ModelServerOptions) {
    this.#url = new URL(url);
    this.#url.pathname = pathOf(url, { root, path });
    this.#apiKey = apiKey;
    this.#answerBytesMax = answerBytesMax;
    const route = { rules: addresses, network, silenceMsMax: CONNECT_MS_MAX, signal: this.#closing.signal };
    this.#agent = new CheckedAgent(() => connectTo(this.#url, route));
  }

  /**
   * Posts the body as JSON and returns the server's JSON answer. Throws EndpointError, or the signal's
   * reason.
   */
  async post(body: unknown, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const text = JSON.stringify(body);
    try {
      return parsed(await this.#exchange(text, signal, true));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof EndpointError) throw error;
      const failure = connectionFailure(this.#url.host, error);
      throw new UnreachableError(failure.message, {
        cause: error,
        isPassing: failure instanceof PassingError,
      });
    }
  }

  /** Closes the connections and fails pending requests. */
  close(): void {
    this.#closing.abort(new EndpointError("the endpoint is no longer used"));
    this.#agent.destroy();
  }

  /**
   * Sends a request and returns the answer's text. If `again` is true and the server has closed a reused
   * connection, sends it once more on another connection.
   */
  async #exchange(body: string, signal: AbortSignal, again: boolean): Promise<string> {
    const request = this.#request(body, signal);
    try {
      const response = await answerTo(request);
      checkStatus(response);
      return await this.#bodyOf(response);
    } catch (error) {
      const isStale = again && request.reusedSocket && !(error instanceof EndpointError) && !signal.aborted;
      request.destroy();
      if (!isStale) throw error;
      return await this.#exchange(body, signal, false);
    }
  }

  #request(body: string, signal: AbortSignal): ClientRequest {
    const request = httpRequest({
      agent: this.#agent,
      method: "POST",
      signal,
      path: this.#url.pathname + this.#url.search,
      headers: {
        host: this.#url.host,
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        accept: "application/json",
        "user-agent": "Skein",
        ...(this.#apiKey === null ? {} : { authorization: `Bearer ${this.#apiKey}` }),
      },
    });
    request.end(body);
    return request;
  }

  /** Returns the answer's text. Reads to its end, so that the connection can be reused. */
  async #bodyOf(response: IncomingMessage): Promise<string> {
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of response) {
      bytes += (piece as Buffer).length;
      if (bytes > this.#answerBytesMax) throw new EndpointError("the model's answer is too large");
      pieces.push(piece as Buffer);
    }
    return Buffer.concat(pieces).toString("utf8");
  }
}

/**
 * An agent that opens every connection with `connect`, which checks the address, whatever the request's
 * options say.
 */
class CheckedAgent extends Agent {
  readonly #connect: () => Promise<Duplex>;

  constructor(connect: () => Promise<Duplex>) {
    super({ keepAlive: true, timeout: IDLE_MS_MAX, maxFreeSockets: 16 });
    this.#connect = connect;
  }

  override createConnection(
    _options: unknown,
    done: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    this.#connect().then(
      (socket) => done(null, socket),
      (error: Error) => done(error, undefined as unknown as Duplex),
    );
  }
}

function pathOf({ pathname }: URL, { root, path }: InterfacePath): string {
  const own = pathname.replace(/\/+$/, "");
  return own.endsWith(path) ? own : `${own === "" ? root : own}${path}`;
}

function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    // Stays attached after the promise has settled, because a later error without a listener would be thrown.
    request.on("error", reject);
    // If the server switches protocols, the request closes without an error.
    request.once("close", () => reject(new Error("the connection was closed")));
  });
}

const BUSY = new Set([408, 425, 429]);
/** Upper bound (ms) on the pause that a server may demand. */
const LEFT_ALONE_MS_MAX = 600_000;

/**
 * Throws EndpointError unless the status is 200. Does not show the answer's body, because some servers echo
 * the key in it.
 */
function checkStatus({ statusCode: status = 0, headers }: IncomingMessage): void {
  if (status === 200) return;
  const isPassing = BUSY.has(status) || status >= 500;
  const asked = isPassing ? retryAfterMs(headers["retry-after"] ?? null, Date.now()) : null;
  const afterMs = asked === null ? null : Math.min(asked, LEFT_ALONE_MS_MAX);
  const sentence = `the model's server answered with status ${status}`;
  throw new EndpointError(sentence, { status, isPassing, afterMs });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new EndpointError("the model's server did not answer with JSON", { cause });
  }
}
