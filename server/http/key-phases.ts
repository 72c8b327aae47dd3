// Two phases of a request. `key` identifies the caller by an API key or search token, and `rate` applies the
// caller's rate limits.
import { clientNetwork } from "../access/edge/client-address.js";
import { planOfTenant } from "../access/tenants/plans.js";
import type { Principal } from "../access/tenants/principal.js";
import type { SearchToken } from "../access/tenants/search-token.js";
import type { Scope } from "../catalog/records/key.js";
import { SkeinError } from "../ground/errors.js";
import type { TenantRequest } from "./route.js";
import type { SearchServices } from "./services.js";
import type { Visit } from "./visit.js";

/** The only scopes that a key in a URL may have, because URLs end up in proxy logs. */
const PUBLIC_SCOPES: readonly Scope[] = ["search", "events"];

export function key<S extends SearchServices>(visit: Visit<S>): undefined {
  const { route, request, services } = visit;
  if (route.access === "open") return;
  visit.state = services.catalog.state;
  const mayBeInUrl = route.access === "index" && route.keyInUrl === true;
  const inUrl = mayBeInUrl && request.header("authorization") === "" ? visit.query.get("api_key") : null;
  visit.principal = identify(visit, inUrl);
  if (inUrl !== null) checkPublic(visit.principal);
}

/**
 * Identifies the caller. An address that has sent too many wrong keys gets a reply that tells it to wait, not
 * that the key is wrong. A valid key is still accepted from it: many clients may share an address, and wrong
 * keys of one must not shut out the others. A guesser gains nothing by this, because no number of guesses
 * finds a long key. Only the bootstrap key can be short, because people choose it. A short one is refused
 * like a wrong key during that time, so that guessing it stays slow. Wrong keys in URLs are counted
 * separately, so that a web page that makes browsers send them cannot shut it out.
 */
function identify<S extends SearchServices>(visit: Visit<S>, inUrl: string | null): Principal {
  const { request, state, services } = visit;
  const { doorkeeper, keyUse, throttle, limits } = services;
  const perSecond = limits.failedKeysPerSecondMax;
  const authorization = inUrl === null ? request.header("authorization") : `Bearer ${inUrl}`;
  const tenant = inUrl === null ? request.header("x-skein-tenant") : null;
  const where = inUrl === null ? "" : " in URLs";
  const now = Date.now();
  try {
    const principal = doorkeeper.identify(authorization, tenant, state, now);
    if (principal.keyId !== null) keyUse.used(principal.keyId, now);
    else if (
      doorkeeper.isAdminKeyGuessable &&
      throttle.wait(nameOfFailures(visit, where), perSecond, sharedClockMs()) > 0
    )
      throw new SkeinError("SK-SYS-401", "the API key is not valid");
    return principal;
  } catch (error) {
    if (error instanceof SkeinError && error.code === "SK-SYS-401" && authorization !== "")
      take(services, nameOfFailures(visit, where), perSecond, "wrong keys from one address", sharedClockMs());
    throw error;
  }
}

/** The name under which wrong keys from the client's network are throttled. */
function nameOfFailures<S extends SearchServices>(visit: Visit<S>, where: string): string {
  return `failed${where} ${clientNetwork(visit.lookUpAddress())}`;
}

function checkPublic({ scopes }: Principal): void {
  const other = scopes.find((one) => !PUBLIC_SCOPES.includes(one));
  if (other === undefined) return;
  throw new SkeinError(
    "SK-SYS-403",
    `a key in a URL may only have the scopes search and events, not ${other}; send it in the header Authorization`,
  );
}

/** Applies the rate limits of the key, the token and the client's network. */
export function rate<S extends SearchServices>(visit: Visit<S>): undefined {
  const { route, principal, state, services } = visit;
  if (route.access === "open") return;
  const { rateLimit, keyId, token, tenant } = principal;
  const plan = planOfTenant(services.settings.now.plans, state, tenant);
  const perAddress = plan.requests_per_second_per_ip;
  const tokenLimit = token?.rateLimit ?? null;
  if (rateLimit === null && tokenLimit === null && perAddress === null) return;
  const now = sharedClockMs();
  if (rateLimit !== null) take(services, nameOfKey(keyId), rateLimit, "the API key", now);
  if (token !== null && tokenLimit !== null)
    take(services, nameOfToken(token), tokenLimit, "the search token", now);
  if (perAddress !== null) {
    const name = `${tenant} ${clientNetwork(visit.lookUpAddress())}`;
    take(services, name, perAddress, "one address", now);
  }
}

/**
 * Charges the searches of a multi-search after the first, which `rate` has charged, to the key's and the
 * token's rate if they count searches.
 */
export function chargeSlots(
  { principal, services }: TenantRequest<unknown, SearchServices>,
  slots: number,
): void {
  const { rateLimit, rateLimitCounts, keyId, token } = principal;
  if (rateLimitCounts === "requests" || slots < 2) return;
  const now = sharedClockMs();
  if (rateLimit !== null) services.throttle.charge(nameOfKey(keyId), slots - 1, rateLimit, now);
  if (token !== null && token.rateLimit !== null)
    services.throttle.charge(nameOfToken(token), slots - 1, token.rateLimit, now);
}

function nameOfKey(keyId: number | null): string {
  return `key ${keyId}`;
}

function nameOfToken({ signature }: SearchToken): string {
  return `token ${signature}`;
}

function take(
  { throttle }: Pick<SearchServices, "throttle">,
  name: string,
  perSecond: number,
  what: string,
  now: number,
): void {
  const wait = throttle.take(name, perSecond, now);
  if (wait === 0) return;
  throw new SkeinError("SK-SYS-429", `more than ${perSecond} requests per second with ${what}`, {
    retryAfter: wait,
  });
}

/**
 * A monotonic clock shared by all threads. `performance.now()` would not do, because it starts at zero in
 * each thread.
 */
function sharedClockMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}
