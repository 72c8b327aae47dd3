// What the threads that answer requests count and limit together, in one place: the memory that they share, which the owner makes
// and which may be handed to a thread in its workerData, and the objects that a thread has over it. Each thread has a number,
// from 0 on, which no other running one has.
import { MonthCounts, type MonthTables } from "../access/tenants/month-counts.js";
import { Throttle } from "../access/tenants/throttle.js";
import { QueryLoad } from "../fleet/threads/query-load.js";
import { SharedAmount } from "../fleet/threads/shared-amount.js";
import type { Limits } from "../ground/limits.js";
import type { Services } from "./services.js";
import { BodyMemory } from "./transport/body-memory.js";
import { UnsentBytes } from "./transport/unsent.js";

/** Keys and addresses whose rate is counted at a time. */
const THROTTLE_BUCKETS = 100_000;

/** Bytes are shared in KiB: they may be more than 31 bits count. */
const BYTES_UNIT = 1024;

export interface SharedCounts {
  readonly months: MonthTables;
  readonly throttle: SharedArrayBuffer;
  readonly queries: Int32Array;
  readonly requests: SharedArrayBuffer;
  readonly bodies: SharedArrayBuffer;
  readonly unsent: SharedArrayBuffer;
}

export interface ThreadCounts extends Pick<Services, "throttle" | "requests" | "bodies" | "unsent"> {
  readonly usage: MonthCounts;
  readonly queries: QueryLoad;
  /** Takes back what a thread held that has ended. Only then may another one get its number. */
  forget(thread: number): void;
}

export function sharedCounts(threads: number): SharedCounts {
  return {
    months: MonthCounts.tables(threads),
    throttle: Throttle.table(THROTTLE_BUCKETS),
    queries: QueryLoad.memory(threads),
    requests: SharedAmount.memory(threads),
    bodies: SharedAmount.memory(threads),
    unsent: SharedAmount.memory(threads),
  };
}

export function threadCounts(shared: SharedCounts, thread: number, limits: Limits): ThreadCounts {
  const usage = new MonthCounts(shared.months, thread);
  const queries = new QueryLoad(shared.queries, thread);
  const requests = new SharedAmount(shared.requests, thread);
  const bodies = new SharedAmount(shared.bodies, thread, BYTES_UNIT);
  const unsent = new SharedAmount(shared.unsent, thread, BYTES_UNIT);
  return {
    usage,
    throttle: new Throttle(shared.throttle, thread),
    queries,
    requests,
    bodies: new BodyMemory(limits.bodiesInMemoryBytesMax, bodies),
    unsent: new UnsentBytes(limits.unsentBytesMax, unsent),
    forget(ended) {
      for (const counted of [usage, queries, requests, bodies, unsent]) counted.forget(ended);
    },
  };
}
