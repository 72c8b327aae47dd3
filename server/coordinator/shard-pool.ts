// The threads of the shards: one single-thread Piscina pool each, so that a busy or dead shard never delays
// another. Owns queues, back-pressure and the restart of dead threads. Knows messages only as bytes.
// The only file of the coordinator that knows Piscina.

import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Piscina } from "piscina";
import { SkeinError } from "../errors.js";
import type { Limits } from "../limits.js";
import type { Logger } from "../log.js";

/** A message with an ArrayBuffer of its own, which moves to the other thread: do not use it afterwards. */
export type Message = Uint8Array<ArrayBuffer>;
/** The load of one thread, for metrics; see ShardReading. */
export interface ThreadReading {
  readonly sent: number;
  readonly activeSeconds: number | null;
  readonly inside: number;
  readonly waiting: number;
  readonly refused: number;
  readonly restarts: number;
}
export type Ask = (request: Message) => Promise<Uint8Array>;

export interface ShardPoolOptions {
  readonly shards: number;
  /** Handed to each worker as Piscina's workerData. */
  readonly workerData: (shard: number) => unknown;
  /** A request that a new thread must answer before anything else is sent to it. */
  readonly ping: () => Message;
  /** Throws when the answer to a ping is a refusal. */
  readonly checkPing: (reply: Uint8Array) => void;
  readonly limits: Pick<Limits, "shardQueueRequestsMax" | "searchMsMax">;
  readonly log: Logger;
  /** Brings a restarted thread to where the dead one was; called again until it succeeds. */
  readonly recover: (shard: number, ask: Ask) => Promise<void>;
  /** The worker's module; by default shards/worker.js of this build. */
  readonly workerFile?: string;
}

/** A third of it is used at a time. Requests live shortly: more would only keep their garbage longer. */
const YOUNG_HEAP_MIB = 12;
const RETRY_AFTER_SECONDS = 1;
const RECOVER_MS_MAX = 60_000;
const RECOVER_PAUSE_MS_FIRST = 50;
const RECOVER_PAUSE_MS_MAX = 2_000;

export class ShardPool {
  readonly #threads: readonly ShardThread[];

  constructor(options: ShardPoolOptions) {
    this.#threads = Array.from({ length: options.shards }, (_, shard) => new ShardThread(shard, options));
  }

  get count(): number {
    return this.#threads.length;
  }

  /** Every thread is up; false while one is restarted. */
  get open(): boolean {
    return this.#threads.every((thread) => thread.open);
  }

  /** By shard. */
  readings(): ThreadReading[] {
    return this.#threads.map((thread) => thread.reading);
  }

  /**
   * Resolves when every thread answers. Throws what stopped one from starting; the caller then closes the pool. Waits
   * for all of them: a thread that is ended while it opens its database may take the process along.
   */
  async start(): Promise<void> {
    const started = await Promise.allSettled(this.#threads.map((thread) => thread.start()));
    const failed = started.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  /**
   * One request, one reply. Throws SkeinError SK-SE-503 with retryAfter when the queue is full, when the
   * thread dies while the request is inside, or when a restart takes longer than a search may.
   */
  ask(shard: number, request: Message): Promise<Uint8Array> {
    return (this.#threads[shard] as ShardThread).ask(request);
  }

  /** Refuses new requests, waits for those inside, sends a last one to each thread and ends them. */
  async close(last: () => Message): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close(last())));
  }
}

/** Requests inside are counted here; Piscina itself never queues, which keeps their order. */
class ShardThread {
  readonly #shard: number;
  readonly #options: ShardPoolOptions;
  readonly #pool: Piscina;
  #state: "starting" | "open" | "restarting" | "closed" = "starting";
  #sent = 0;
  #inside = 0;
  #waiting = 0;
  #refused = 0;
  #restarts = 0;
  #deaths = 0;
  #reopened: Promise<void> = Promise.resolve();
  #idle: (() => void) | null = null;

  constructor(shard: number, options: ShardPoolOptions) {
    this.#shard = shard;
    this.#options = options;
    this.#pool = new Piscina({
      filename: options.workerFile ?? workerFile(),
      minThreads: 1,
      maxThreads: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      concurrentTasksPerWorker: Number.MAX_SAFE_INTEGER,
      atomics: "async",
      recordTiming: false,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_HEAP_MIB },
      workerData: options.workerData(shard),
      loadBalancer: (_task, workers) => workers[0] ?? null,
    });
    this.#pool.on("workerDestroy", () => this.#onDeath());
    this.#pool.on("error", (error) => options.log.error({ err: error, shard }, "shard thread failed"));
  }

  get open(): boolean {
    return this.#state === "open";
  }

  get reading(): ThreadReading {
    const loop = this.#pool.threads[0]?.performance.eventLoopUtilization();
    return {
      sent: this.#sent,
      activeSeconds: loop === undefined ? null : loop.active / 1000,
      inside: this.#inside,
      waiting: this.#waiting,
      refused: this.#refused,
      restarts: this.#restarts,
    };
  }

  async start(): Promise<void> {
    this.#options.checkPing(await this.#run(this.#options.ping()));
    this.#state = "open";
  }

  async ask(request: Message): Promise<Uint8Array> {
    if (this.#inside >= this.#options.limits.shardQueueRequestsMax) {
      this.#refused++;
      throw unavailable(`Shard ${this.#shard} has too many requests waiting.`);
    }
    this.#inside++;
    try {
      if (this.#state === "restarting") await this.#waitForRestart();
      if (this.#state !== "open") throw unavailable("The server is stopping.");
      return await this.#run(request);
    } finally {
      this.#inside--;
      if (this.#inside === 0) this.#idle?.();
    }
  }

  async close(last: Message): Promise<void> {
    if (this.#state === "restarting") await this.#waitForRestart().catch(() => undefined);
    const wasOpen = this.#state === "open";
    this.#state = "closed";
    if (this.#inside > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
    try {
      if (wasOpen) await this.#run(last);
    } catch (error) {
      this.#options.log.error({ err: error, shard: this.#shard }, "shard did not close in good order");
    } finally {
      await this.end();
    }
  }

  async end(): Promise<void> {
    this.#state = "closed";
    await this.#pool.destroy();
  }

  async #run(request: Message): Promise<Uint8Array> {
    const life = this.#deaths;
    this.#sent++;
    let reply: unknown;
    try {
      reply = await this.#pool.run(request, { transferList: [request.buffer] });
    } catch (error) {
      if (this.#deaths === life || this.#state === "starting") throw error;
      throw unavailable(`Shard ${this.#shard} was restarted while the request was inside.`, error);
    }
    if (!(reply instanceof Uint8Array)) throw new TypeError(`shard ${this.#shard} did not answer with bytes`);
    return reply;
  }

  #onDeath(): void {
    this.#deaths++;
    if (this.#state === "open" || this.#state === "restarting") this.#restarts++;
    if (this.#state !== "open") return;
    this.#options.log.warn({ shard: this.#shard }, "shard thread ended unexpectedly; restarting it");
    this.#state = "restarting";
    this.#reopened = this.#reopen();
  }

  /** Tries until it succeeds or the pool is closed: without its shard an index cannot answer at all. */
  async #reopen(): Promise<void> {
    let pause = RECOVER_PAUSE_MS_FIRST;
    while (this.#state === "restarting") {
      try {
        await this.#recoverOnce();
        if (this.#state === "restarting") this.#state = "open";
        this.#options.log.info({ shard: this.#shard }, "shard thread is back");
        return;
      } catch (error) {
        this.#options.log.error(
          { err: error, shard: this.#shard },
          "shard could not be reopened; trying again",
        );
        await sleep(pause, undefined, { ref: false });
        pause = Math.min(pause * 2, RECOVER_PAUSE_MS_MAX);
      }
    }
  }

  /** A thread that cannot even load leaves its requests unanswered in Piscina, hence the time limit. */
  async #recoverOnce(): Promise<void> {
    const timer = new AbortController();
    const timeout = sleep(RECOVER_MS_MAX, undefined, { ref: false, signal: timer.signal }).then(() => {
      throw new Error(`shard ${this.#shard} did not reopen within ${RECOVER_MS_MAX} ms`);
    });
    timeout.catch(() => undefined);
    try {
      const life = this.#deaths;
      this.#options.checkPing(await Promise.race([timeout, this.#run(this.#options.ping())]));
      await Promise.race([timeout, this.#options.recover(this.#shard, (request) => this.#run(request))]);
      if (this.#deaths !== life) throw new Error(`shard ${this.#shard} ended again while it was reopened`);
    } finally {
      timer.abort();
    }
  }

  async #waitForRestart(): Promise<void> {
    const timer = new AbortController();
    const timeout = sleep(this.#options.limits.searchMsMax, undefined, {
      ref: false,
      signal: timer.signal,
    }).then(() => {
      throw unavailable(`Shard ${this.#shard} is being restarted.`);
    });
    timeout.catch(() => undefined);
    this.#waiting++;
    try {
      await Promise.race([this.#reopened, timeout]);
    } finally {
      this.#waiting--;
      timer.abort();
    }
  }
}

function unavailable(sentence: string, cause?: unknown): SkeinError {
  return new SkeinError("SK-SE-503", `${sentence} Retry in a moment.`, {
    retryAfter: RETRY_AFTER_SECONDS,
    cause,
  });
}

/** The compiled worker: beside this file in dist, or in dist when this file runs from its source. */
function workerFile(): string {
  const fromSource = import.meta.url.endsWith(".ts");
  return fileURLToPath(
    new URL(fromSource ? "../../dist/shards/worker.js" : "../../shards/worker.js", import.meta.url),
  );
}
