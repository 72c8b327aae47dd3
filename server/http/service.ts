// Turns a request into a reply: runs the phases and the route's handler, writes the audit log, and handles
// every failure in one place. Knows nothing about HTTP libraries or particular routes.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type AskedOperation, entryOf } from "../access/audit/operations.js";
import { corsHeaders } from "../access/edge/cors.js";
import { type HeaderLines, SECURITY_HEADERS, SECURITY_HEADERS_OVER_TLS } from "../access/edge/headers.js";
import { SkeinError } from "../ground/errors.js";
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
  type TextReply,
} from "./transport/port.js";
import { Visit } from "./visit.js";

const REQUEST_ID = /^[\w.:-]{1,100}$/;
/** How often (ms) a stop looks whether it may go on. */
const DRAIN_LOOK_MS = 10;
/**
 * While connections are open, a stop goes on only when no request has arrived for this long (ms). A client
 * that sends one request after another thus gets a reply with `Connection: close`, and not a reset.
 */
const QUIET_MS = 250;
/** Under this status, requests are counted whose client left before the reply. It is never sent. */
const CLIENT_LEFT_STATUS = 499;

export class HttpService<S extends SearchServices> {
  readonly #services: S;
  readonly #door: { readonly router: Router<S>; stage: Door<S>["stage"] };
  readonly #elsewhere: HttpHandler | null;
  readonly #securityHeaders: HeaderLines;
  readonly #idPrefix = randomBytes(4).toString("hex");
  /** Ends most requests' lives. There is only one, because an error is expensive to create. */
  readonly #answered = new Error("the request has been answered");
  #requests = 0;
  /** The requests that have not been completely answered yet. */
  readonly #running = new Set<HttpRequest>();
  #lastArrivalMs = 0;

  /** `elsewhere` answers requests that match none of `routes`. If it is null, they get 404. */
  constructor(services: S, routes: readonly Route<S>[], elsewhere: HttpHandler | null = null) {
    this.#services = services;
    this.#elsewhere = elsewhere;
    this.#door = { router: new Router(routes), stage: "opening" };
    this.#securityHeaders = services.config.tls === null ? SECURITY_HEADERS : SECURITY_HEADERS_OVER_TLS;
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

  /**
   * Resolves when all running requests have been answered and the listener's connections are quiet, or after
   * `ms` milliseconds. Does not wait for requests whose client has left.
   */
  async drain(ms: number, listener: Pick<HttpListener, "connections">): Promise<void> {
    const endMs = performance.now() + ms;
    while (!this.#isQuiet(listener.connections)) {
      if (performance.now() >= endMs) {
        const requests = this.#unanswered();
        if (requests > 0) this.#services.log.warn({ requests, ms }, "requests are cut off by the stop");
        return;
      }
      await sleep(DRAIN_LOOK_MS);
    }
  }

  #isQuiet(connections: number): boolean {
    if (this.#unanswered() > 0) return false;
    return connections === 0 || performance.now() - this.#lastArrivalMs >= QUIET_MS;
  }

  #unanswered(): number {
    let count = 0;
    for (const { aborted } of this.#running) if (!aborted) count++;
    return count;
  }

  /** Answers a request. Never rejects. */
  readonly handle = (request: HttpRequest): Promise<HttpReply> => {
    const arrivedMs = performance.now();
    this.#lastArrivalMs = arrivedMs;
    return this.#elsewhere === null || this.#door.router.has(request.method, request.path)
      ? this.#answer(request, arrivedMs)
      : this.#elsewhere(request);
  };

  async #answer(request: HttpRequest, arrivedMs: number): Promise<HttpReply> {
    const id = this.#idOr(request.header("x-request-id"));
    const visit = new Visit(this.#services, request, id);
    if (this.#services.log.isLevelEnabled("debug")) visit.lookUpAddress();
    this.#services.requests.add(1);
    this.#running.add(request);
    this.#services.recorder.requestStarted();
    let reply: HttpReply;
    try {
      reply = await this.#handle(visit);
      if (request.method === "HEAD") reply = await withoutBody(reply);
    } catch (error) {
      reply = this.#failed(error, id, request);
    }
    const { status, body } = reply;
    if (visit.asked !== null) await this.#audit(visit.asked, visit, reply);
    return {
      status,
      headers: [
        ...reply.headers,
        ["x-request-id", id],
        ...this.#securityHeaders,
        ...corsHeaders(request.header("origin"), request.method, this.#services.settings.now.cors),
      ],
      body,
      onFinished: (failure) => {
        reply.onFinished?.(failure);
        request.life.end(this.#answered);
        visit.end?.();
        const ms = performance.now() - arrivedMs;
        const counted = request.aborted && status === 500 ? CLIENT_LEFT_STATUS : status;
        this.#services.recorder.requestFinished(request.method, visit.route.path, counted, ms);
        this.#finished(request, visit, status, arrivedMs, failure);
      },
    };
  }

  /**
   * Builds the reply to input that is not a valid HTTP request. `given` is its X-Request-Id, if that could be
   * read.
   */
  readonly malformed = (why: SkeinError, given = ""): TextReply => {
    const id = this.#idOr(given);
    this.#services.log.debug({ id, status: why.status, reason: why.message }, "malformed request");
    const reply = errorReply(why);
    return { ...reply, headers: [...reply.headers, ["x-request-id", id], ...this.#securityHeaders] };
  };

  async #handle(visit: Visit<S>): Promise<HttpReply> {
    try {
      await pass(visit, this.#door);
      const handle = visit.route.handle as (request: Visit<S>) => HttpReply | Promise<HttpReply>;
      const handled = handle(visit); // each route pairs its handler with a body reader of the same type
      if (!isOneSearch(visit.route) || !(handled instanceof Promise)) return await handled;
      return await visit.request.life.whileWanted(handled);
    } catch (error) {
      throw unlessDeleted(visit, error);
    }
  }

  /** Appends an operation to the audit log, and resolves once it is written. The reply is sent after that. */
  async #audit(
    asked: AskedOperation,
    { id: requestId, address }: Visit<S>,
    { status, data }: HttpReply,
  ): Promise<void> {
    const entry = entryOf(asked, { requestId, address, status, data });
    if (entry !== null) await this.#services.audit.append(entry);
  }

  #failed(error: unknown, id: string, request: HttpRequest): HttpReply {
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

  #finished(
    request: HttpRequest,
    { id, address: ip }: Visit<S>,
    status: number,
    arrivedMs: number,
    failure: unknown,
  ): void {
    const { log, requests } = this.#services;
    if (failure !== undefined && !request.aborted) log.error({ err: failure, id }, "reply cut short");
    if (log.isLevelEnabled("debug")) {
      const ms = Math.round((performance.now() - arrivedMs) * 1000) / 1000;
      const { method, path, aborted } = request;
      log.debug({ id, method, path, ip, status, ms, ...(aborted ? { aborted } : {}) }, "request");
    }
    requests.add(-1);
    this.#running.delete(request);
  }

  /** Returns the client's id if it is a valid one, otherwise a new one. */
  #idOr(given: string): string {
    return REQUEST_ID.test(given) ? given : this.#newId();
  }

  #newId(): string {
    return `${this.#idPrefix}-${(this.#requests++).toString(36)}`;
  }
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
async function withoutBody(reply: HttpReply): Promise<HttpReply> {
  const { body } = reply;
  if (typeof body === "string" || body instanceof Uint8Array) return reply;
  await closeStream(body);
  return { ...reply, body: "" };
}
