// Collects garbage outside the JavaScript heap. To V8, an unreferenced large buffer or linear memory is one
// small object, so each thread may accumulate 64 MiB of them before V8 collects. Code that stops using a
// buffer or memory reports it here. Once enough has accumulated, this thread's garbage is collected between
// two requests.
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Total size of reported buffers at which a young-generation collection runs. Such a collection takes 1 to 3
 * ms; a full collection takes 5 to 20 ms.
 */
const BUFFER_BYTES_MAX = 8 * 1024 * 1024;
const MEMORY_BYTES_MAX = 16 * 1024 * 1024;
const COLLECT_MEMORIES_AFTER_MS = 200;

/** A thread that worked for less than this share of an interval counts as idle. */
const IDLE_SHARE_MAX = 0.02;
const IDLE_INTERVAL_MS = 2_000;
/**
 * An idle thread collects if its memory, including reported garbage, has at least doubled since its last idle
 * collection and has grown by at least this much.
 */
const IDLE_BYTES_MIN = 16 * 1024 * 1024;

/** Without options, runs a full collection. */
type Collect = (options?: { type: "minor" }) => void;

let collector: Collect | null = null;
let bufferBytes = 0;
let memoryBytes = 0;
let scheduled = false;

/**
 * Reports that a short-lived buffer (such as a request body or a message) of this size is garbage now, or
 * will be at the end of this event-loop turn.
 */
export function discardBuffer(bytes: number): void {
  bufferBytes += bytes;
  if (bufferBytes < BUFFER_BYTES_MAX) return;
  bufferBytes = 0;
  setImmediate(() => gc()({ type: "minor" }));
}

/** Reports that a long-lived object of this size, such as a linear memory, is garbage. */
export function discardMemory(bytes: number): void {
  memoryBytes += bytes;
  if (memoryBytes < MEMORY_BYTES_MAX || scheduled) return;
  scheduled = true;
  const timer = setTimeout(() => {
    scheduled = false;
    collect();
  }, COLLECT_MEMORIES_AFTER_MS);
  timer.unref();
}

/** Runs a full garbage collection on this thread. Takes 5 to 20 ms. */
export function collect(): void {
  memoryBytes = 0;
  gc()();
}

/**
 * From now on, whenever this thread becomes idle after work, it calls `rest` and then, if there may be much
 * garbage, collects all of it. V8 alone would keep the garbage until the thread has work again. If there is
 * little garbage, it does not collect, because V8 would also drop optimised code, which is worth more than
 * the memory.
 */
export function collectWhenIdle(rest: () => void = () => undefined): void {
  let since = performance.eventLoopUtilization();
  let worked = true; // the start counts as work
  let kept = 0;
  const look = (): void => {
    const idle = performance.eventLoopUtilization(since).utilization < IDLE_SHARE_MAX;
    if (idle && worked) {
      rest();
      if (memoryBytes + heldBytes() - kept >= Math.max(IDLE_BYTES_MIN, kept)) {
        collect();
        kept = heldBytes();
      }
    }
    worked = !idle;
    since = performance.eventLoopUtilization();
  };
  setInterval(look, IDLE_INTERVAL_MS).unref();
}

/** Size of this thread's heap, plus the buffers that its objects own. */
function heldBytes(): number {
  const { used_heap_size: heap, external_memory: buffers } = getHeapStatistics();
  return heap + buffers;
}

/**
 * V8 exposes its collector only to contexts created while the flag is set. The flag is process-wide and is
 * never cleared; otherwise one thread could clear it while another is between these two lines.
 */
function gc(): Collect {
  if (collector === null) {
    setFlagsFromString("--expose-gc");
    collector = runInNewContext("gc") as Collect;
  }
  return collector;
}
