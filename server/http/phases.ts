// Runs a request's phases. Each phase checks or looks up one thing; the first phase that throws decides the
// reply.
import { isAudited } from "../access/audit/operations.js";
import { checkRights } from "../access/tenants/principal.js";
import { SkeinError } from "../ground/errors.js";
import type { TimeLimit } from "../ground/jobs/request-life.js";
import { key, rate } from "./key-phases.js";
import { type IndexRequest, type IndexRoute, isSearch, type TenantRequest } from "./route.js";
import { type Router, UNMATCHED } from "./router.js";
import type { SearchServices } from "./services.js";
import { Visit } from "./visit.js";

/** The state of HttpService that the phases read. */
export interface Door<S extends SearchServices> {
  readonly router: Router<S>;
  /** Limits the time of searches. */
  readonly searchTime: TimeLimit;
  readonly stage: "opening" | "serving" | "stopping";
}

type Phase = <S extends SearchServices>(visit: Visit<S>, door: Door<S>) => Promise<void> | undefined;

/**
 * Every request passes through all phases in this order. A phase returns at once if the route does not need
 * it.
 */
const PHASES: readonly Phase[] = [
  load,
  route,
  time,
  stage,
  backlog,
  key,
  rate,
  share,
  scope,
  index,
  audit,
  open,
  body,
];

/** The phases that each search in a multi-search passes through separately. */
const INDEX_PHASES = [scope, index, open];

/**
 * Runs all phases from the one at `from` on. Returns undefined if the route's handler may run now, otherwise
 * a promise that resolves when it may. Throws or rejects with SkeinError and ClientGone.
 */
export function pass<S extends SearchServices>(
  visit: Visit<S>,
  door: Door<S>,
  from = 0,
): Promise<void> | undefined {
  for (let i = from; i < PHASES.length; i++) {
    const waits = PHASES[i]!(visit, door);
    if (waits !== undefined) return waits.then(() => pass(visit, door, i + 1));
  }
  return undefined;
}

/**
 * Runs `work` on the index called `name`, with the same checks as if the client had sent a separate request
 * to the route `target`.
 */
export async function onIndex<S extends SearchServices, T>(
  { services, request, id, principal }: TenantRequest<unknown, S>,
  target: IndexRoute<S>,
  name: string,
  work: (part: IndexRequest<never, S>) => T | Promise<T>,
): Promise<T> {
  const { state } = services.catalog;
  const visit = Object.assign(new Visit(services, request, id), {
    route: target,
    params: { name },
    principal,
    state,
  });
  try {
    for (const phase of INDEX_PHASES) {
      const waits = phase(visit);
      if (waits !== undefined) await waits;
    }
    return await work(visit);
  } catch (error) {
    throw unlessDeleted(visit, error);
  } finally {
    visit.end?.();
  }
}

/**
 * Returns the error to reply with. If the index was deleted while the request ran, a 503 or an unexpected
 * error is replaced by the route's missing-index error.
 */
export function unlessDeleted<S extends SearchServices>(
  { route: target, record, services }: Visit<S>,
  error: unknown,
): unknown {
  const foreseen = error instanceof SkeinError && error.status !== 503;
  if (foreseen || target.access !== "index" || record === undefined) return error;
  if (services.catalog.state.indexes.has(record.uid)) return error;
  return new SkeinError(target.missing, "the index does not exist", { cause: error });
}

function load<S extends SearchServices>({ services: { requests, limits } }: Visit<S>): undefined {
  if (requests.total > limits.requestsInFlightMax) throw unavailable("too many requests are running");
}

function route<S extends SearchServices>(visit: Visit<S>, { router }: Door<S>): undefined {
  const { method, path } = visit.request;
  const isClosed = visit.services.settings.now.closedRoutes.includes(path);
  const match = isClosed ? UNMATCHED : router.match(method, path);
  visit.route = match.route;
  visit.params = match.params;
}

/** A search must be answered in time. Its time includes the arrival of its body and every wait. */
function time<S extends SearchServices>(
  { route: target, request }: Visit<S>,
  { searchTime }: Door<S>,
): undefined {
  if (isSearch(target)) request.life.limit(searchTime);
}

function stage<S extends SearchServices>({ route: target }: Visit<S>, { stage: now }: Door<S>): undefined {
  const anyStage = target.access === "open" && target.whileServing !== true;
  if (!anyStage && now !== "serving")
    throw unavailable(`the server is ${now === "opening" ? "starting" : "stopping"}`);
}

function backlog<S extends SearchServices>({ route: { access }, services: { unsent } }: Visit<S>): undefined {
  if (access !== "open" && unsent.full)
    throw unavailable("too many replies are waiting for clients to read them");
}

/** Counts the request and its body as the tenant's. */
function share<S extends SearchServices>({
  route: target,
  request,
  principal,
  services,
}: Visit<S>): undefined {
  if (target.access === "open") return;
  services.admission[isSearch(target) ? "searches" : "others"].begin(principal.tenant, request.life);
  request.chargeTo(principal.tenant);
}

function scope<S extends SearchServices>({ route: target, principal, params }: Visit<S>): undefined {
  if (target.access === "open") return;
  if (target.scope !== "bootstrap")
    checkRights(principal, target.scope, target.access === "index" ? params.name : undefined);
  else if (principal.keyId !== null)
    throw new SkeinError("SK-SYS-403", "only the bootstrap admin key may do this");
}

/** Finds the index named in the path. An index that belongs to another tenant counts as missing. */
function index<S extends SearchServices>(visit: Visit<S>): undefined {
  const { route: target, services, principal } = visit;
  if (target.access !== "index") return;
  const name = visit.params.name!;
  const record = services.lifecycle.find(principal.tenant, name);
  if (record !== undefined) {
    visit.record = record;
    return;
  }
  // Do not say that the index does not exist: the damaged record, whose name cannot be read, may be its
  // record.
  if (services.catalog.damage.indexes > 0) {
    throw new SkeinError(
      "SK-SE-503",
      "the index is unknown, but a record of the catalog is damaged; see the server's log",
      { retryAfter: 60 },
    );
  }
  throw new SkeinError(target.missing, "the index does not exist", {
    details: { index: name.slice(0, 200) },
  });
}

function audit<S extends SearchServices>(visit: Visit<S>): undefined {
  const { route: target, params, principal, state } = visit;
  const { operation } = target;
  if (target.access === "open" || !isAudited(operation)) return;
  const { tenant: tenantId, keyId } = principal;
  const tenant = state.tenants.get(tenantId)?.name ?? null;
  visit.asked = { operation, params, tenant, tenantId, keyId };
  visit.lookUpAddress();
}

function open<S extends SearchServices>(visit: Visit<S>): Promise<void> | undefined {
  const { route: target, record, services } = visit;
  if (target.access !== "index" || target.opens !== true) return;
  services.lifecycle.checkOpen(record);
  const { life } = visit.request;
  const begun = services.lifecycle.uses.begin(record.uid);
  if (!(begun instanceof Promise)) visit.end = begun;
  else
    return life.whileWanted(
      begun.then((end) => {
        if (life.over) end();
        else visit.end = end;
      }),
    );
}

function body<S extends SearchServices>(visit: Visit<S>): Promise<void> | undefined {
  const { route: target, request } = visit;
  if (target.access === "open" || target.body === undefined) return;
  request.life.check();
  const read: unknown = target.body(visit);
  if (read instanceof Promise) return request.life.whileWanted(read).then((value) => keepBody(visit, value));
  keepBody(visit, read);
}

function keepBody<S extends SearchServices>(visit: Visit<S>, value: unknown): void {
  visit.body = value as never; // each route pairs its body reader with a handler for the same type
}

function unavailable(problem: string): SkeinError {
  return new SkeinError("SK-SYS-503", `${problem}; retry in a moment`, { retryAfter: 1 });
}
