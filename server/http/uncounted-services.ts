// The services of a thread for queries that no client has sent. Their counters, rates and limits are not the
// clients'.
//
// Invariant: these queries leave no trace in usage, rates, query logs, query metrics or cached replies. What
// the thread remembers of documents and words is kept, because clients use it, too. The meters of local reads
// and of the word memory count the queries, and each is a "request" in the log at level debug.
import type { MonthlyCounter, RateLimiter } from "../access/tenants/limiter.js";
import { Doorkeeper } from "../access/tenants/principal.js";
import { Recorder } from "../ground/metrics/recorder.js";
import { PreparedShapes } from "../question/request/prepared-shapes.js";
import { HitSizes } from "../search/query-cost.js";
import { SlowQueryLog } from "../search/slow-query-log.js";
import { admissions } from "./admission.js";
import type { SearchServices } from "./services.js";
import { SharedAmount } from "./shared-amount.js";
import { UnsentBytes } from "./transport/unsent.js";

const NO_USE = { tenant: 0, month: 0 };
const NO_USAGE: MonthlyCounter = {
  begin: () => NO_USE,
  end: () => undefined,
  used: (tenant) => ({ tenant, month: "", searches: 0, coach: 0 }),
};
const NO_RATES: RateLimiter = { take: () => 0, charge: () => undefined, wait: () => 0 };

/** `key` becomes the bootstrap key, which may search the indexes of all tenants. No client must know it. */
export function uncountedServices(services: SearchServices, key: string): SearchServices {
  const { limits, log } = services;
  const recorder = new Recorder();
  const amount = (): SharedAmount => new SharedAmount(SharedAmount.memory(1), 0);
  return {
    ...services,
    remembersAnswers: false,
    doorkeeper: new Doorkeeper(key, limits),
    usage: NO_USAGE,
    throttle: NO_RATES,
    keyUse: { used: () => undefined },
    hitSizes: new HitSizes(), // only replies to clients may lower the clients' estimate
    preparedShapes: new PreparedShapes(limits),
    slowQueries: new SlowQueryLog(0, 0, recorder, log),
    requests: amount(),
    admission: admissions(limits),
    unsent: new UnsentBytes(limits.unsentBytesMax, amount()),
    recorder,
  };
}
