// The services of a thread, with counters, rates and limits of their own that nobody looks at, for queries
// that no client has sent.
//
// Invariant: these queries leave no trace in usage, rates, the query log, the slow query log, the metrics of
// requests and queries, and the cached answers. The meters of local reads and of the word memory count them.
import type { MonthlyCounter, RateLimiter } from "../access/tenants/limiter.js";
import { Doorkeeper } from "../access/tenants/principal.js";
import { Recorder } from "../ground/metrics/recorder.js";
import { PreparedShapes } from "../question/request/prepared-shapes.js";
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
    preparedShapes: new PreparedShapes(limits),
    slowQueries: new SlowQueryLog(0, 0, recorder, log),
    requests: amount(),
    admission: admissions(limits),
    unsent: new UnsentBytes(limits.unsentBytesMax, amount()),
    recorder,
  };
}
