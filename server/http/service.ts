// Turns a request into a reply: runs the phases and the route's handler, writes the audit log, and handles
// every failure in one place. Knows nothing about HTTP libraries or particular routes.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type AskedOperation, entryOf } from "../access/audit/operations.js";
import { CommonHeaders } from "../access/edge/common-headers.js";
import { SECURITY_HEADERS, SECURITY_HEADERS_OVER_TLS } from "../access/edge/headers.js";
import { lateSearch } from "../fleet/threads/shard-errors.js";
import { SkeinError } from "../ground/errors.js";
import { TimeLimit } from "../ground/jobs/request-life.js";
import { Answering, Running } from "./answering.js";
import { type Door, pass, unlessDeleted } from "./phases.js";
import { errorReply, unexpected } from "./respond.js";
import { isSearch, type Route } from "./route.js";
import { Router } from "./router.js";
import type { SearchServices } from "./services.js";
import { closeStream } from "./transport/exchange.js";
import {
  ClientGone,
  type HttpHandler,
  type HttpListener,
  type HttpReply,
  type HttpRequest,
  type SentRefusal,
  type SentReply,
} from "./transport/port.js";
import type { Visit } from "./visit.js";

const REQUEST_ID = /^[\w.:-]{1,100}$/;
/** How often (ms) a stop looks whether it may go on. */
const DRAIN_LOOK_MS = 10;
/**
 * While connections are open, a stop goes on only when no request has arrived for this long (ms). A client
 * that sends one request after another thus gets a reply with `Connection: close`, and not a reset.
 */
const QUIET_MS = 250;

export class HttpService<S extends SearchServices> {
  readonly #services: S;
  readonly #door: Omit<Door<S>, "stage"> & { stage: Door<S>["stage"] };
  readonly #elsewhere: HttpHandler | null;
  readonly #common: CommonHeaders;
  readonly #idPrefix = randomBytes(4).toString("hex");
  #requests = 0;
  readonly #running = new Running();
  #lastArrivalMs = 0;

  /** `elsewhere` answers requests that match none of `routes`. If it is null, they get 404. */
  constructor(services: S, routes: readonly Route<S>[], elsewhere: HttpHandler | null = null) {
    this.#services = services;
    this.#elsewhere = elsewhere;
    const searchTime = new TimeLimit(services.limits.searchMsMax, lateSearch);
    this.#door = { router: new Router(routes), searchTime, stage: "opening" };
    this.#common = new CommonHeaders(
      services.config.tls === null ? SECURITY_HEADERS : SECURITY_HEADERS_OVER_TLS,
    );
  }

  /**
   * Starts serving. Before this call, only routes that need no key respond, and /health/ready answers 503.
   */
  serve(): void {
    this.#door.stage = "serving";
  }

  /** Refuses new requests from now on. */
  refuse(): void {
    this.#door.stage = "stopping";
  }

  get isServing(): boolean {
    return this.#door.stage === "serving";
  }

  get isStopping(): boolean {
    return this.#door.stage === "stopping";
  }

  /** True if no request is running, and none has arrived for `ms` milliseconds. */
  isQuiet(ms: number): boolean {
    return this.#running.unanswered === 0 && performance.now() - this.#lastArrivalMs >= ms;
  }

  /**
   * Resolves when all running requests have been answered and the listener's connections are quiet, or after
   * `ms` milliseconds. Does not wait for requests whose client has left.
   */
  async drain(ms: number, listener: Pick<HttpListener, "connections">): Promise<void> {
    const endMs = performance.now() + ms;
    while (!this.#isDrained(listener.connections)) {
      if (performance.now() >= endMs) {
        const requests = this.#running.unanswered;
        if (requests > 0) this.#services.log.warn({ requests, ms }, "requests are cut off by the stop");
        return;
      }
      await sleep(DRAIN_LOOK_MS);
    }
  }

  #isDrained(connections: number): boolean {
    return connections === 0 ? this.#running.unanswered === 0 : this.isQuiet(QUIET_MS);
  }

  /** Answers a request. Neither throws nor rejects. */
  readonly handle = (request: HttpRequest): SentReply | Promise<SentReply> => {
    const arrivedMs = performance.now();
    this.#lastArrivalMs = arrivedMs;
    return this.#elsewhere === null || this.#door.router.has(request.method, request.path)
      ? this.#answer(request, arrivedMs)
      : this.#elsewhere(request);
  };

  #answer(request: HttpRequest, arrivedMs: number): SentReply | Promise<SentReply> {
    const id = this.#idOr(request.header("x-request-id"));
    const visit = new Answering(this.#services, request, id, this.#running, arrivedMs);
    if (this.#services.log.isLevelEnabled("debug")) visit.lookUpAddress();
    let reply: HttpReply | Promise<HttpReply>;
    try {
      reply = this.#handle(visit);
    } catch (error) {
      reply = this.#failed(visit, error);
    }
    if (!(reply instanceof Promise)) return this.#complete(visit, reply);
    return reply
      .catch((error: unknown) => this.#failed(visit, error))
      .then((settled) => this.#complete(visit, settled));
  }

  /** Adds to the visit what its reply is sent with. Writes the audit log, if the request belongs there. */
  #complete(visit: Answering<S>, reply: HttpReply): SentReply | Promise<SentReply> {
    const { request, services, asked } = visit;
    visit.reply = reply;
    visit.common = this.#common.of(request.header("origin"), request.method, services.settings.now.cors);
    return asked === null ? visit : this.#audit(asked, visit).then(() => visit);
  }

  /**
   * Builds the reply to input that is not a valid HTTP request. `given` is its X-Request-Id, if that could be
   * read.
   */
  readonly malformed = (why: SkeinError, given = ""): SentRefusal => {
    const id = this.#idOr(given);
    this.#services.log.debug({ id, status: why.status, reason: why.message }, "malformed request");
    return { reply: errorReply(why), id, common: this.#common.plain, finished: () => undefined };
  };

  #handle(visit: Visit<S>): HttpReply | Promise<HttpReply> {
    const waits = pass(visit, this.#door);
    const reply = waits === undefined ? handled(visit) : waits.then(() => handled(visit));
    return visit.request.method === "HEAD" ? withoutBody(reply) : reply;
  }

  /** Appends an operation to the audit log, and resolves once it is written. The reply is sent after that. */
  async #audit(asked: AskedOperation, { id: requestId, address, reply }: Answering<S>): Promise<void> {
    const { status, data } = reply;
    const entry = entryOf(asked, { requestId, address, status, data });
    if (entry !== null) await this.#services.audit.append(entry);
  }

  #failed(visit: Visit<S>, thrown: unknown): HttpReply {
    const { id, request } = visit;
    const error = unlessDeleted(visit, thrown);
    if (error instanceof SkeinError) {
      if (error.status >= 500)
        this.#services.log.warn({ id, code: error.code, ...reasonOf(error) }, "request refused");
      return errorReply(error);
    }
    const failure = unexpected();
    if (error instanceof ClientGone || request.aborted) return errorReply(failure);
    this.#services.log.error(
      { err: error, id, method: request.method, path: request.path },
      "request failed",
    );
    return errorReply(failure);
  }

  /** Returns the client's id if it is a valid one, otherwise a new one. */
  #idOr(given: string): string {
    return given !== "" && REQUEST_ID.test(given) ? given : this.#newId();
  }

  #newId(): string {
    return `${this.#idPrefix}-${(this.#requests++).toString(36)}`;
  }
}

/** Runs the route's handler. A single search is abandoned when its request's life ends. */
function handled<S extends SearchServices>(visit: Visit<S>): HttpReply | Promise<HttpReply> {
  const { route, request } = visit;
  const handle = route.handle as (request: Visit<S>) => HttpReply | Promise<HttpReply>;
  const reply = handle(visit);
  return reply instanceof Promise && isOneSearch(route) ? request.life.whileWanted(reply) : reply;
}

/**
 * True if the route's work may be given up as a whole. A multi-search gives up its searches one by one, and
 * other requests change something.
 */
function isOneSearch<S extends SearchServices>(route: Route<S>): boolean {
  return isSearch(route) && route.access === "index";
}

/**
 * Returns the properties with which a refusal is logged: the error with its stack if it has a cause,
 * otherwise only its message.
 */
function reasonOf(error: SkeinError): { err: SkeinError } | { reason: string } {
  return error.cause === undefined ? { reason: error.message } : { err: error };
}

/**
 * Prepares the reply to a HEAD request. The transport sends the length of a text or of bytes, but not the
 * body itself. A stream is closed unread.
 */
async function withoutBody(made: HttpReply | Promise<HttpReply>): Promise<HttpReply> {
  const reply = await made;
  const { body } = reply;
  if (typeof body === "string" || body instanceof Uint8Array) return reply;
  await closeStream(body);
  return { ...reply, body: "" };
}
