// The counters and rate limits shared by all threads that handle requests. `SharedCounts` is their shared
// memory, which the owner allocates and passes to other threads as workerData; `ThreadCounts` contains the
// objects through which a thread uses it. Every running thread has a unique number, starting at 0.
import { MonthCounts, type MonthTables } from "../access/tenants/month-counts.js";
import { Throttle } from "../access/tenants/throttle.js";
import { QueryLoad } from "../fleet/threads/query-load.js";
import type { Limits } from "../ground/limits.js";
import { admissions } from "./admission.js";
import type { Services } from "./services.js";
import { SharedAmount } from "./shared-amount.js";
import { BodyMemory } from "./transport/body-memory.js";
import { UnsentBytes } from "./transport/unsent.js";

/** Maximum number of keys, tokens and addresses whose rates are tracked at the same time. */
const THROTTLE_BUCKETS = 100_000;

/** Bytes are counted in KiB, because a byte count may need more than 31 bits. */
const BYTES_UNIT = 1024;

export interface SharedCounts {
  readonly months: MonthTables;
  readonly throttle: SharedArrayBuffer;
  readonly queries: Int32Array;
  readonly requests: SharedArrayBuffer;
  readonly bodies: SharedArrayBuffer;
  readonly unsent: SharedArrayBuffer;
}

export interface ThreadCounts
  extends Pick<Services, "throttle" | "requests" | "bodies" | "unsent" | "admission"> {
  readonly usage: MonthCounts;
  readonly queries: QueryLoad;
  /** Removes everything that an ended thread contributed. Its number must not be reused before this call. */
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
    bodies: new BodyMemory(limits.bodiesInMemoryBytesMax, limits.batchBodyBytesMax, bodies),
    unsent: new UnsentBytes(limits.unsentBytesMax, unsent),
    admission: admissions(limits),
    forget(ended) {
      for (const counted of [usage, queries, requests, bodies, unsent]) counted.forget(ended);
    },
  };
}
