// Preloaded (node --import) into a server, to count what its main thread makes for a query. SIGUSR2
// alternately starts and stops counting; each signal prints a reading. No product code depends on this
// module.
import { promiseHooks } from "node:v8";
import { isMainThread } from "node:worker_threads";

/** One reading, printed as `{"meter": ...}`. */
export interface MeterReading {
  /** Promises made since counting began. */
  readonly promises: number;
  /** Bytes in use on V8's heap. Grows by what is allocated, until the next collection. */
  readonly heapBytes: number;
  /** Bytes of array buffers. */
  readonly bufferBytes: number;
}

if (isMainThread) {
  let promises = 0;
  let stop: (() => void) | null = null;
  process.on("SIGUSR2", () => {
    if (stop === null) {
      promises = 0;
      stop = promiseHooks.onInit(() => {
        promises++;
      }) as () => void;
    } else {
      stop();
      stop = null;
    }
    const { heapUsed: heapBytes, arrayBuffers: bufferBytes } = process.memoryUsage();
    const meter: MeterReading = { promises, heapBytes, bufferBytes };
    process.stdout.write(`${JSON.stringify({ meter })}\n`);
  });
}
