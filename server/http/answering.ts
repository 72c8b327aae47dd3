// A request from its arrival until its reply has been sent: the visit, its reply, and what is counted, logged
// and released at the end. One object, so that a request which waits for nothing needs no closures.
import type { HeaderBlock } from "../access/edge/headers.js";
import type { SearchServices } from "./services.js";
import type { HttpReply, HttpRequest, SentReply } from "./transport/port.js";
import { Visit } from "./visit.js";

/** Requests whose client left before the reply are counted under this status. It is never sent. */
const CLIENT_LEFT_STATUS = 499;

export class Answering<S extends SearchServices> extends Visit<S> implements SentReply {
  reply!: HttpReply;
  common!: HeaderBlock;
  /** This request's index in `running`. Only `running` uses it. */
  place = 0;
  readonly #running: Running;
  readonly #arrivedMs: number;

  /** Counts the request as running until `finished`. */
  constructor(services: S, request: HttpRequest, id: string, running: Running, arrivedMs: number) {
    super(services, request, id);
    this.#running = running;
    this.#arrivedMs = arrivedMs;
    running.add(this);
    services.requests.add(1);
    services.recorder.requestStarted();
  }

  finished(failure: unknown): void {
    const { services, request, route, reply } = this;
    reply.onFinished?.(failure);
    request.life.end(this.#running.answered);
    this.end?.();
    const ms = performance.now() - this.#arrivedMs;
    const status = request.aborted && reply.status === 500 ? CLIENT_LEFT_STATUS : reply.status;
    services.recorder.requestFinished(request.method, route.path, status, ms);
    this.#log(failure, ms);
    services.requests.add(-1);
    this.#running.delete(this);
  }

  #log(failure: unknown, exactMs: number): void {
    const { services, request, id, address: ip } = this;
    const { log } = services;
    const { method, path, aborted } = request;
    if (failure !== undefined && !aborted) log.error({ err: failure, id }, "reply cut short");
    if (!log.isLevelEnabled("debug")) return;
    const { status } = this.reply;
    const ms = Math.round(exactMs * 1000) / 1000;
    log.debug({ id, method, path, ip, status, ms, ...(aborted ? { aborted } : {}) }, "request");
  }
}

/** The requests that have not been completely answered yet. */
export class Running {
  /** The reason with which most lives end. Shared, because creating an error is expensive. */
  readonly answered = new Error("the request has been answered");
  readonly #requests: Answering<never>[] = [];

  add<S extends SearchServices>(one: Answering<S>): void {
    one.place = this.#requests.push(one as never) - 1;
  }

  /** The last request takes the place of the removed one. */
  delete<S extends SearchServices>(one: Answering<S>): void {
    const last = this.#requests.pop()!;
    if ((last as unknown) === one) return;
    this.#requests[one.place] = last;
    last.place = one.place;
  }

  /** Number of requests whose client still waits. */
  get unanswered(): number {
    let count = 0;
    for (const { request } of this.#requests) if (!request.aborted) count++;
    return count;
  }
}
