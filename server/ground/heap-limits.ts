// How much memory there is for the process and for JavaScript heaps. Each thread has a heap of its own, with
// a limit of its own.
import { totalmem } from "node:os";
import { getHeapStatistics, setFlagsFromString } from "node:v8";

const MIB = 1024 * 1024;

/**
 * Limit in bytes of this thread's heap. In the main thread, that is what --max-old-space-size says, or V8's
 * choice for this machine.
 */
export function heapBytesMax(): number {
  return getHeapStatistics().heap_size_limit;
}

/** `heapBytesMax` in MiB, for the resource limits of another thread. */
export function heapMibMax(): number {
  return Math.ceil(heapBytesMax() / MIB);
}

/** Memory in bytes that this process can have: the machine's, or less if its control group has a limit. */
export function processBytesMax(): number {
  const constrained = process.constrainedMemory(); // 0 or a huge number if there is no limit
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** `processBytesMax` in MiB, for the resource limits of another thread. */
export function processMibMax(): number {
  return Math.ceil(processBytesMax() / MIB);
}

/**
 * From now on, a new thread's own resource limits count. Otherwise, V8's flags for the heap's size would
 * override them. They keep their effect on the main thread.
 */
export function limitHeapsByThread(): void {
  setFlagsFromString("--max-old-space-size=0");
  setFlagsFromString("--max-heap-size=0");
}
