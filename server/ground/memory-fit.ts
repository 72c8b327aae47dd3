// Fits the limits on memory to the machine: a share of the memory that the process may use, and of the heap.
import { heapBytesMax, processBytesMax } from "./heap-limits.js";
import type { Limits } from "./limits.js";

/** Shares of the process's memory. */
const BODIES_SHARE = 1 / 8;
const UNSENT_SHARE = 1 / 8;
const WORK_SHARE = 1 / 4;
/** Share of the heap that the work for requests may use. The rest is for what stays and for garbage. */
const WORK_OF_HEAP = 1 / 2;
/** Heap (bytes) per request in flight that only waits. */
const HEAP_PER_REQUEST_BYTES = 32 * 1024;

export interface Memory {
  /** Memory that the process may use. */
  readonly bytes: number;
  /** Largest heap of a thread. */
  readonly heapBytes: number;
}

/** The memory limit of the process, of its control group or of the machine, whichever is lowest. */
export function memoryOf({ memoryBytesMax }: Pick<Limits, "memoryBytesMax">): Memory {
  return { bytes: Math.min(memoryBytesMax, processBytesMax()), heapBytes: heapBytesMax() };
}

/** Returns the limits with those on memory lowered to what fits. */
export function fitted(limits: Limits, { bytes, heapBytes }: Memory): Limits {
  const atMost = (limit: number, fit: number): number => Math.min(limit, Math.floor(fit));
  // The largest body must always fit.
  const bodies = Math.max(bytes * BODIES_SHARE, limits.batchBodyBytesMax);
  return {
    ...limits,
    bodiesInMemoryBytesMax: atMost(limits.bodiesInMemoryBytesMax, bodies),
    unsentBytesMax: atMost(limits.unsentBytesMax, bytes * UNSENT_SHARE),
    workBytesMax: atMost(limits.workBytesMax, Math.min(bytes * WORK_SHARE, heapBytes * WORK_OF_HEAP)),
    requestsInFlightMax: atMost(limits.requestsInFlightMax, heapBytes / HEAP_PER_REQUEST_BYTES),
  };
}
