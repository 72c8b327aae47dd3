// Runs the threads that read feeds. The first feed starts them, and they stop when idle. If a thread dies,
// for example because its heap is full, only its run fails. No other file manages these threads.
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { Piscina } from "piscina";
import type { EngineModule } from "../../../engine-wasm/host/instance/engine-module.js";
import { builtFile } from "../../../engine-wasm/host/runtime/built-files.js";
import { FeedError } from "../../ground/errors.js";
import type { Logger } from "../../ground/log.js";
import type {
  FeedBatch,
  FeedPreview,
  FeedRead,
  FeedRefusal,
  FeedSignal,
  FeedTask,
  PreviewTask,
  SyncTask,
} from "./feed-task.js";

const IDLE_MS_MAX = 10_000;
/** Maximum number of batches that a feed thread has sent but that are not written yet. */
const BATCHES_AHEAD = 2;
/**
 * Time (ms) that a thread has to end after it was told to stop or its time was up. After that, it is
 * terminated.
 */
const GRACE_MS = 10_000;
const HEAP_MIB = 256;
const YOUNG_HEAP_MIB = 12;

export class FeedPool {
  readonly #engine: EngineModule;
  readonly #threads: number;
  readonly #log: Logger;
  #pool: Piscina | null = null;

  /** `threads` limits the number of concurrent tasks. */
  constructor(engine: EngineModule, threads: number, log: Logger) {
    this.#engine = engine;
    this.#threads = threads;
    this.#log = log;
  }

  /**
   * Reads a feed and calls `write` once per batch, in order, with a few calls in progress at a time. Resolves
   * once all batches are written. Throws FeedError, any error from `write`, or the signal's reason.
   */
  async sync(
    task: SyncTask,
    signal: AbortSignal,
    write: (batch: FeedBatch) => Promise<void>,
  ): Promise<FeedRead> {
    const stop = new AbortController();
    const either = AbortSignal.any([signal, stop.signal]);
    const writes = new Set<Promise<void>>();
    const read = this.#run<FeedRead>(task, either, (batch, more) => {
      const writing = write(batch)
        .then(more)
        .catch((error: unknown) => stop.abort(error))
        .finally(() => writes.delete(writing));
      writes.add(writing);
    });
    try {
      return await read;
    } finally {
      await Promise.all(writes);
      stop.signal.throwIfAborted();
    }
  }

  /** Returns a feed's first items. Throws FeedError or the signal's reason. */
  preview(task: PreviewTask, signal: AbortSignal): Promise<FeedPreview> {
    return this.#run<FeedPreview>(task, signal, () => undefined);
  }

  /** Stops the threads. All tasks must have ended. */
  async stop(): Promise<void> {
    await this.#pool?.close();
  }

  async #run<T extends object>(
    task: FeedTask,
    signal: AbortSignal,
    onBatch: (batch: FeedBatch, more: () => void) => void,
  ): Promise<T> {
    signal.throwIfAborted();
    const { port1: port, port2 } = new MessageChannel();
    const send = (message: FeedSignal): void => port.postMessage(message);
    const kill = new AbortController();
    const killIn = (ms: number): NodeJS.Timeout => setTimeout(() => kill.abort(), ms);
    const timers = [killIn(task.rules.msMax + GRACE_MS)];
    const onAbort = (): void => {
      send("stop");
      timers.push(killIn(GRACE_MS));
    };
    signal.addEventListener("abort", onAbort);
    port.on("message", (batch: FeedBatch) => {
      if (!signal.aborted) onBatch(batch, () => send("more"));
    });
    for (let batches = 0; batches < BATCHES_AHEAD; batches++) send("more");
    // Wait for the port to close too, because the result may arrive before the last batch. The thread closes
    // the port after its last batch, and the port also closes if the thread dies.
    const closed = new Promise((resolve) => port.once("close", resolve));
    try {
      const reply = await this.#ask<T>(task, port2, kill.signal);
      await closed;
      signal.throwIfAborted();
      if ("refused" in reply) throw new FeedError(reply.refused.code, reply.refused.message);
      return reply;
    } catch (error) {
      signal.throwIfAborted(); // if the run was stopped, throw the reason, not its effect
      throw error;
    } finally {
      for (const timer of timers) clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      port.close();
    }
  }

  /** Runs the task on a thread. `kill` terminates that thread. */
  async #ask<T>(task: FeedTask, port: MessagePort, kill: AbortSignal): Promise<T | FeedRefusal> {
    this.#pool ??= this.#start();
    try {
      return (await this.#pool.run({ task, port }, { transferList: [port], signal: kill })) as
        | T
        | FeedRefusal;
    } catch (error) {
      if (kill.aborted) throw new FeedError("SK-DS-504", "the feed took too long to read", error);
      this.#log.error({ err: error }, "a feed thread failed");
      throw new FeedError("SK-DS-503", "the thread reading the feed ended; see the server's log", error);
    }
  }

  #start(): Piscina {
    const pool = new Piscina({
      filename: builtFile("server/documents/sources/feed-worker.js"),
      atomics: "disabled", // a thread blocked in Atomics.wait would not close its ports
      minThreads: 0,
      maxThreads: this.#threads,
      idleTimeout: IDLE_MS_MAX,
      recordTiming: false,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB, maxYoungGenerationSizeMb: YOUNG_HEAP_MIB },
      workerData: this.#engine.parts,
    });
    pool.on("error", (error) => this.#log.error({ err: error }, "a feed thread failed"));
    return pool;
  }
}
