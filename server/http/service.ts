// From request to reply: route, key, throttle, scope, index, handler, audit, in this order; every failure leaves
// through one place. Knows no HTTP library and no single route.
import { randomBytes } from "node:crypto";
import { type AskedOperation, entryOf, isAudited } from "../access/audit/operations.js";
import { clientNetwork } from "../access/edge/client-address.js";
import { corsHeaders } from "../access/edge/cors.js";
import { type HeaderLines, SECURITY_HEADERS, SECURITY_HEADERS_OVER_TLS } from "../access/edge/headers.js";
import { planOfTenant } from "../access/tenants/plans.js";
import { checkRights, type Principal } from "../access/tenants/principal.js";
import type { Scope } from "../catalog/records/key.js";
import type { CatalogState } from "../catalog/state.js";
import { type ErrorCode, SkeinError } from "../ground/errors.js";
import { describe } from "../ground/input/json-value.js";
import { within } from "../ground/jobs/deadline.js";
import type { Limits } from "../ground/limits.js";
import { errorReply, unexpected } from "./respond.js";
import { type Route, Router } from "./router.js";
import type { SearchServices } from "./services.js";
import { closeStream } from "./transport/exchange.js";
import {
  ClientGone,
  type HttpHandler,
  type HttpReply,
  type HttpRequest,
  type TextReply,
} from "./transport/port.js";

/** Label of requests without a route. */
const UNMATCHED = "unmatched";
/** Scopes of the routes that use an index's data. A swap that drops an index waits until their requests are answered. */
const USES_DOCUMENTS: readonly Scope[] = ["search", "documents"];
const REQUEST_ID = /^[\w.:-]{1,100}$/;

/** What the service learns about a request while it handles it. */
interface Visit {
  /** Of the request. */
  readonly id: string;
  route: string;
  /** What the key may do and asked for, when that is audited. */
  asked: AskedOperation | null;
  /** Of the client, for the audit log and debugging. */
  address: string;
  /** Ends the use of the index. */
  end: (() => void) | null;
}

export class HttpService<S extends SearchServices> {
  readonly #services: S;
  readonly #limits: Limits;
  readonly #router: Router<S>;
  readonly #elsewhere: HttpHandler | null;
  readonly #securityHeaders: HeaderLines;
  readonly #idPrefix = randomBytes(4).toString("hex");
  #requests = 0;
  #idle: (() => void) | null = null;
  #phase: "opening" | "serving" | "stopping" = "opening";

  /** `elsewhere` answers what has no route here; null: then there is no such path. */
  constructor(services: S, routes: readonly Route<S>[], elsewhere: HttpHandler | null = null) {
    this.#services = services;
    this.#elsewhere = elsewhere;
    this.#limits = services.config.limits;
    this.#router = new Router(routes);
    this.#securityHeaders = services.config.tls === null ? SECURITY_HEADERS : SECURITY_HEADERS_OVER_TLS;
  }

  /** Begins to answer requests. Until then only the health routes are answered. */
  serve(): void {
    this.#phase = "serving";
  }

  /** Refuses new requests and resolves when the running ones are answered, at the latest after `ms`. */
  async drain(ms: number): Promise<void> {
    this.#phase = "stopping";
    if (this.#services.requests.own === 0) return;
    const idle = new Promise<void>((resolve) => (this.#idle = resolve));
    await within(idle, ms, () => undefined);
  }

  /** Never rejects. */
  readonly handle = (request: HttpRequest): Promise<HttpReply> =>
    this.#elsewhere === null || this.#router.has(request.method, request.path)
      ? this.#answer(request)
      : this.#elsewhere(request);

  async #answer(request: HttpRequest): Promise<HttpReply> {
    const started = performance.now();
    const id = this.#requestId(request);
    const address = this.#services.log.isLevelEnabled("debug") ? this.#address(request) : "";
    const visit: Visit = { id, route: UNMATCHED, asked: null, address, end: null };
    this.#services.requests.add(1);
    this.#services.recorder.requestStarted();
    let reply: HttpReply;
    try {
      reply = await this.#dispatch(request, visit);
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
        visit.end?.();
        const ms = performance.now() - started;
        this.#services.recorder.requestFinished(request.method, visit.route, status, ms);
        this.#finished(request, visit, status, started, failure);
      },
    };
  }

  /** The reply to bytes that are no request. */
  readonly malformed = (why: SkeinError): TextReply => {
    const id = this.#newId();
    this.#services.log.debug({ id, status: why.status, reason: why.message }, "malformed request");
    const reply = errorReply(why);
    return { ...reply, headers: [...reply.headers, ["x-request-id", id], ...this.#securityHeaders] };
  };

  async #dispatch(request: HttpRequest, visit: Visit): Promise<HttpReply> {
    if (this.#services.requests.total > this.#limits.requestsInFlightMax) {
      throw new SkeinError("SK-SYS-503", "too many requests are running; retry in a moment", {
        retryAfter: 1,
      });
    }
    const services = this.#services;
    if (services.settings.now.closedRoutes.includes(request.path)) return noRoute(request, []);
    const match = this.#router.match(request.method, request.path);
    if (match.route === null) return noRoute(request, match.allow);
    const { route, params } = match;
    const { id } = visit;
    visit.route = route.path;
    const query = () => parametersOf(request.query);
    if (route.operation === "ready") this.#checkPhase(); // a ready server gets requests, which would be refused now
    if (route.access === "open") return route.handle({ services, request, id, params, query });
    this.#checkPhase();
    if (services.unsent.full) {
      throw new SkeinError(
        "SK-SYS-503",
        "too many replies wait for clients to take them; retry in a moment",
        {
          retryAfter: 1,
        },
      );
    }
    const { catalog, lifecycle } = services;
    const { state } = catalog;
    const inUrl = route.access === "index" && route.keyInUrl === true ? keyInUrl(request, query) : null;
    const principal = this.#identify(inUrl, request, state);
    if (inUrl !== null) checkPublic(principal);
    this.#checkThrottle(principal, request, state);
    if (route.access === "tenant") {
      checkScope(principal, route.scope);
      this.#noteAsked(visit, askedBy(principal, route, params, state), request);
      return route.handle({ services, request, id, params, query, principal, state });
    }
    const name = params.name!;
    checkRights(principal, route.scope, name);
    const record = lifecycle.find(principal.tenant, name);
    if (record === undefined) throw missingIndex(route.missing, name, catalog.damage.indexes);
    this.#noteAsked(visit, askedBy(principal, route, params, state), request);
    if (USES_DOCUMENTS.includes(route.scope)) {
      const begun = lifecycle.uses.begin(record.uid);
      visit.end = begun instanceof Promise ? await begun : begun;
    }
    try {
      return await route.handle({ services, request, id, params, query, principal, state, record });
    } catch (error) {
      // The index was deleted while the request was running, so what the shards say about it is of no interest.
      const foreseen = error instanceof SkeinError && error.status !== 503;
      if (foreseen || catalog.state.indexes.has(record.uid)) throw error;
      throw new SkeinError(route.missing, "the index does not exist", { cause: error });
    }
  }

  #noteAsked(visit: Visit, asked: AskedOperation | null, request: HttpRequest): void {
    if (asked === null) return;
    visit.asked = asked;
    visit.address = this.#address(request);
  }

  /** The line of a change is written before the change is answered. */
  async #audit(
    asked: AskedOperation,
    { id: requestId, address }: Visit,
    { status, data }: HttpReply,
  ): Promise<void> {
    const entry = entryOf(asked, { requestId, address, status, data });
    if (entry !== null) await this.#services.audit.append(entry);
  }

  #checkPhase(): void {
    if (this.#phase === "serving") return;
    const what = this.#phase === "opening" ? "starting" : "stopping";
    throw new SkeinError("SK-SYS-503", `the server is ${what}; retry in a moment`, { retryAfter: 1 });
  }

  /**
   * Who asks. An address with many wrong keys is told to wait instead of that they are wrong. A right key is let in all the same,
   * because many clients may share an address; but not the bootstrap key, the only one that people choose and others could guess.
   * In a URL it is no key at all. So a page that makes browsers ask with wrong ones there does not keep it out elsewhere.
   */
  #identify(inUrl: string | null, request: HttpRequest, state: CatalogState): Principal {
    const { doorkeeper, keyUse, throttle } = this.#services;
    const perSecond = this.#limits.failedKeysPerSecondMax;
    const authorization = inUrl === null ? request.header("authorization") : `Bearer ${inUrl}`;
    const where = inUrl === null ? "" : " in URLs";
    const failed = (): string => `failed${where} ${clientNetwork(this.#address(request))}`;
    try {
      const principal = doorkeeper.identify(
        authorization,
        inUrl === null ? request.header("x-skein-tenant") : null,
        state,
        Date.now(),
      );
      if (principal.keyId !== null) keyUse.used(principal.keyId, Date.now());
      else if (throttle.wait(failed(), perSecond, sharedClockMs()) > 0)
        throw new SkeinError("SK-SYS-401", "the API key is not valid");
      return principal;
    } catch (error) {
      if (error instanceof SkeinError && error.code === "SK-SYS-401" && authorization !== "")
        this.#take(failed(), perSecond, "wrong keys from one address", sharedClockMs());
      throw error;
    }
  }

  #checkThrottle(principal: Principal, request: HttpRequest, state: CatalogState): void {
    const now = sharedClockMs();
    const plan = planOfTenant(this.#services.settings.now.plans, state, principal.tenant);
    if (principal.rateLimit !== null)
      this.#take(`key ${principal.keyId}`, principal.rateLimit, "the API key", now);
    const { token } = principal;
    if (token !== null && token.rateLimit !== null)
      this.#take(`token ${token.signature}`, token.rateLimit, "the search token", now);
    if (plan.requests_per_second_per_ip !== null) {
      const name = `${principal.tenant} ${clientNetwork(this.#address(request))}`;
      this.#take(name, plan.requests_per_second_per_ip, "one address", now);
    }
  }

  #take(name: string, rate: number, what: string, now: number): void {
    const wait = this.#services.throttle.take(name, rate, now);
    if (wait === 0) return;
    throw new SkeinError("SK-SYS-429", `more than ${rate} requests per second with ${what}`, {
      retryAfter: wait,
    });
  }

  /** The client's address, in its one spelling. */
  #address(request: HttpRequest): string {
    return this.#services.settings.now.trustProxy.clientAddress(
      request.ip,
      request.header("x-forwarded-for"),
    );
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
    { id, address: ip }: Visit,
    status: number,
    started: number,
    failure: unknown,
  ): void {
    const { log, requests } = this.#services;
    if (failure !== undefined && !request.aborted) log.error({ err: failure, id }, "reply cut short");
    if (log.isLevelEnabled("debug")) {
      const ms = Math.round((performance.now() - started) * 1000) / 1000;
      const { method, path, aborted } = request;
      log.debug({ id, method, path, ip, status, ms, ...(aborted ? { aborted } : {}) }, "request");
    }
    requests.add(-1);
    if (requests.own === 0) this.#idle?.();
  }

  #requestId(request: HttpRequest): string {
    const given = request.header("x-request-id");
    return REQUEST_ID.test(given) ? given : this.#newId();
  }

  #newId(): string {
    return `${this.#idPrefix}-${(this.#requests++).toString(36)}`;
  }
}

/** Of the throttle. All threads read this clock alike, while `performance.now()` begins with each thread, and it never goes back. */
function sharedClockMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

/** Null for what is not audited. */
function askedBy(
  { tenant: tenantId, keyId }: Principal,
  { operation }: Pick<Route, "operation">,
  params: Readonly<Record<string, string>>,
  state: CatalogState,
): AskedOperation | null {
  if (!isAudited(operation)) return null;
  return { operation, params, tenant: state.tenants.get(tenantId)?.name ?? null, tenantId, keyId };
}

/** What the log says about a refusal: a sentence if the server refused by itself, the error and its stack if there was a cause. */
function reasonOf(error: SkeinError): { err: SkeinError } | { reason: string } {
  return error.cause === undefined ? { reason: error.message } : { err: error };
}

/** While an index record is damaged, the server does not know the name of that index, so it cannot say that an index does not exist. */
function missingIndex(code: ErrorCode, name: string, damaged: number): SkeinError {
  if (damaged > 0) {
    return new SkeinError(
      "SK-SE-503",
      "the index is unknown, but a record of the catalog is damaged; the server's log has it",
      { retryAfter: 60 },
    );
  }
  return new SkeinError(code, "the index does not exist", { details: { index: name.slice(0, 200) } });
}

/** The parameters of a URL. Throws SK-SYS-400 for one that is there twice: only one of the two could count. */
function parametersOf(query: string): URLSearchParams {
  const parameters = new URLSearchParams(query);
  const seen = new Set<string>();
  for (const name of parameters.keys()) {
    if (seen.has(name)) {
      throw new SkeinError("SK-SYS-400", `the parameter ${describe(name)} is given more than once`);
    }
    seen.add(name);
  }
  return parameters;
}

/** What a key that stands in a URL, and so in logs of proxies, may be for at most. */
const PUBLIC_SCOPES: readonly Scope[] = ["search", "events"];

/** Null when the request has a header for its key, or no key in its URL. */
function keyInUrl(request: HttpRequest, query: () => URLSearchParams): string | null {
  return request.header("authorization") === "" ? query().get("api_key") : null;
}

function checkPublic({ scopes }: Principal): void {
  const other = scopes.find((scope) => !PUBLIC_SCOPES.includes(scope));
  if (other === undefined) return;
  throw new SkeinError(
    "SK-SYS-403",
    `a key in a URL may only have the scopes search and events, not ${other}; send it in the header Authorization`,
  );
}

function checkScope(principal: Principal, scope: Scope | "bootstrap"): void {
  if (scope !== "bootstrap") checkRights(principal, scope, undefined);
  else if (principal.keyId !== null)
    throw new SkeinError("SK-SYS-403", "only the bootstrap admin key may do this");
}

function noRoute(request: HttpRequest, allow: readonly string[]): HttpReply {
  if (allow.length === 0) throw new SkeinError("SK-SYS-404", "there is no such path");
  const header = ["allow", allow.join(", ")] as const;
  if (request.method === "OPTIONS") return { status: 204, headers: [header], body: "" };
  const method = request.method.slice(0, 20);
  return errorReply(
    new SkeinError("SK-SYS-405", `the path does not take ${method}, only ${allow.join(", ")}`),
    [header],
  );
}

/** HEAD answers like GET, with the length of the body but without the body. A stream is closed before anything of it is sent. */
async function withoutBody(reply: HttpReply): Promise<HttpReply> {
  const { body } = reply;
  if (typeof body === "string" || body instanceof Uint8Array) return reply;
  await closeStream(body);
  return { ...reply, body: "" };
}
