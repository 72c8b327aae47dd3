// Runs the shards' threads. Limits the requests waiting for each, and replaces threads that die or hang.
// Treats messages as bytes, and controls threads only through ShardLife.

import { setTimeout as sleep } from "node:timers/promises";
import type { EngineReader } from "../../../engine-wasm/host/instance/engine-reader.js";
import type { ShardPorts } from "../../../shards/protocol/memory-loans.js";
import { SkeinError } from "../../ground/errors.js";
import { within } from "../../ground/jobs/deadline.js";
import type { RequestLife } from "../../ground/jobs/request-life.js";
import type { Limits } from "../../ground/limits.js";
import type { Logger } from "../../ground/log.js";
import type { ReaderOf } from "./borrowed-memories.js";
import { ShardEndedError } from "./shard-errors.js";
import { type Message, ShardLife } from "./shard-life.js";
import { Watchdog } from "./watchdog.js";

export type { Message } from "./shard-life.js";

/** One thread's load, for metrics; see ShardReading. */
export interface ThreadReading {
  readonly inside: number;
  readonly sent: number;
  readonly activeSeconds: number | null;
  readonly waiting: number;
  readonly refused: number;
  readonly restarts: number;
}
export type Ask = (request: Message) => Promise<Uint8Array>;

/**
 * The other threads that read the shards. They are told when a shard's thread has ended, and with it their
 * channels, and when they can connect again (ShardPool.connect).
 */
export interface ShardFollowers {
  /**
   * Resolves when no thread reads the memory of the shard's ended thread any longer. Until then, the shard
   * accepts no writes.
   */
  ended(shard: number): Promise<void>;
  began(shard: number): void;
}

/**
 * What another thread needs to read from a shard: the thread life that it connects to, and its ends of the
 * channels.
 */
export interface ConnectedShard {
  readonly life: number;
  readonly ports: ShardPorts;
}

export interface ShardPoolOptions {
  readonly shards: number;
  /**
   * Returns the data that a shard's worker starts with. `beats` is shared with the shard's thread, which
   * keeps incrementing it as a sign of life.
   */
  readonly workerData: (shard: number, beats: Int32Array) => unknown;
  /** Creates readers of borrowed memories. If undefined, this thread has no readers. */
  readonly readerOf?: ReaderOf;
  /** Creates the first request to a new thread. Nothing else is sent until the thread has answered it. */
  readonly ping: () => Message;
  /** Throws if the reply to a ping or to the last request is a refusal. */
  readonly checkReply: (reply: Uint8Array) => void;
  readonly limits: Pick<Limits, "shardQueueRequestsMax" | "searchMsMax" | "shardHangMsMax">;
  readonly log: Logger;
  /** Brings a restarted thread into the state of the one that died. Called again until it succeeds. */
  readonly recover: (shard: number, ask: Ask) => Promise<void>;
  /** Other threads, which read the shards on their own channels. */
  readonly followers?: ShardFollowers;
  /** The worker's module; shards/worker.js of this build by default. */
  readonly workerFile?: string;
}

const RETRY_AFTER_SECONDS = 1;
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

  /** True if every thread is up; false while any is being restarted. */
  get open(): boolean {
    return this.#threads.every((thread) => thread.open);
  }

  /** One entry per shard. */
  readings(): ThreadReading[] {
    return this.#threads.map((thread) => thread.reading);
  }

  /**
   * Resolves when every thread has answered its first request. If a thread cannot start, throws its error;
   * the caller then closes the pool. Waits for all threads before throwing, because ending a thread while it
   * opens its database may crash the process.
   */
  async start(): Promise<void> {
    const started = await Promise.allSettled(this.#threads.map((thread) => thread.start()));
    const failed = started.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  /**
   * Sends a request and resolves with its reply. Throws SK-SE-503 with retryAfter if the queue is full, if
   * the thread dies while the request is in flight, or if a restart takes longer than `searchMsMax`.
   */
  ask(shard: number, request: Message): Promise<Uint8Array> {
    return (this.#threads[shard] as ShardThread).send(false, (to) => to.run(request));
  }

  /**
   * Like `ask`, but for a read: it may overtake other requests, it ends with `life`, and its bytes are not
   * transferred. Reads of different flows share the shard fairly.
   */
  read(shard: number, request: Uint8Array, flow: number, life: RequestLife): Promise<Uint8Array> {
    return (this.#threads[shard] as ShardThread).send(true, (to) => to.reads.ask(request, flow, life));
  }

  /**
   * Opens channels for another thread's reads of a shard. Returns null while the shard is being restarted;
   * ShardFollowers is notified when it is available again.
   */
  connect(shard: number): ConnectedShard | null {
    return (this.#threads[shard] as ShardThread).connect();
  }

  /**
   * Returns this thread's reader of an index's memory in a shard, or null if there is none yet. See
   * BorrowedMemories.
   */
  reader(shard: number, uid: number): EngineReader | null {
    return (this.#threads[shard] as ShardThread).reader(uid);
  }

  /** One of the index's readers has failed. For a while, the index's reads go to the shards instead. */
  readerFailed(uid: number): void {
    for (const thread of this.#threads) thread.readerFailed(uid);
  }

  /** Returns the memories borrowed for an index that this thread no longer reads itself. */
  readerUnused(uid: number): void {
    for (const thread of this.#threads) thread.readerUnused(uid);
  }

  /**
   * Refuses new requests, waits for those in flight except reads, sends each thread a last request and ends
   * it. A thread that needs more than `msMax` milliseconds for this is terminated. Rejects, once all threads
   * have ended, if one of them did not close in good order.
   */
  async close(last: () => Message, msMax = Number.POSITIVE_INFINITY): Promise<void> {
    const closed = await Promise.allSettled(this.#threads.map((thread) => thread.close(last(), msMax)));
    const failed = closed.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }
}

/**
 * One shard's thread across restarts. Counts the requests in flight and passes each request to the current
 * life immediately, in call order.
 */
class ShardThread {
  readonly #shard: number;
  readonly #options: ShardPoolOptions;
  /** The thread keeps incrementing this as a sign of life. */
  readonly #beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #watchdog: Watchdog;
  #life: ShardLife;
  #lives = 0;
  #state: "starting" | "open" | "restarting" | "closed" = "starting";
  #inside = 0;
  /** The requests in flight that are not reads. */
  #ordered = 0;
  #sent = 0;
  #waiting = 0;
  #refused = 0;
  #restarts = 0;
  #reopened: Promise<void> = Promise.resolve();
  #isClosing = false;
  #idle: (() => void) | null = null;

  constructor(shard: number, options: ShardPoolOptions) {
    this.#shard = shard;
    this.#options = options;
    this.#life = this.#begin();
    this.#watchdog = new Watchdog(options.limits.shardHangMsMax, {
      beats: () => Atomics.load(this.#beats, 0),
      mustBeat: () => this.#life.busy,
      onHang: () => this.#endHanging(),
    });
  }

  get open(): boolean {
    return this.#state === "open";
  }

  get reading(): ThreadReading {
    return {
      inside: this.#inside,
      sent: this.#sent,
      activeSeconds: this.#life.activeSeconds,
      waiting: this.#waiting,
      refused: this.#refused,
      restarts: this.#restarts,
    };
  }

  async start(): Promise<void> {
    this.#options.checkReply(await this.#life.run(this.#options.ping()));
    this.#state = "open";
  }

  /** `ask` sends the request to the thread's present life. */
  async send(isRead: boolean, ask: (life: ShardLife) => Promise<Uint8Array>): Promise<Uint8Array> {
    if (this.#inside >= this.#options.limits.shardQueueRequestsMax) {
      this.#refused++;
      throw unavailable(`shard ${this.#shard} has too many requests waiting`);
    }
    this.#inside++;
    if (!isRead) this.#ordered++;
    let life: ShardLife | null = null;
    try {
      if (this.#state === "restarting") await this.#waitForRestart();
      if (this.#state !== "open") throw unavailable("the server is stopping");
      life = this.#life;
      this.#sent++;
      return await ask(life);
    } catch (error) {
      if (life === null || !life.ended) throw error;
      throw new ShardEndedError(`shard ${this.#shard} was restarted during the request; retry in a moment`, {
        life: life.number,
        cause: error,
      });
    } finally {
      this.#inside--;
      if (!isRead && --this.#ordered === 0) this.#idle?.();
    }
  }

  connect(): ConnectedShard | null {
    return this.#state === "open" ? { life: this.#life.number, ports: this.#life.connect() } : null;
  }

  reader(uid: number): EngineReader | null {
    return this.#state === "open" ? this.#life.reader(uid) : null;
  }

  readerFailed(uid: number): void {
    this.#life.readerFailed(uid);
  }

  readerUnused(uid: number): void {
    this.#life.readerUnused(uid);
  }

  /** See ShardPool.close. */
  async close(last: Message, msMax: number): Promise<void> {
    try {
      await within(this.#closeInOrder(last), msMax, () => {
        throw new Error(`it takes longer than ${msMax} ms`);
      });
    } catch (cause) {
      throw new Error(`shard ${this.#shard} did not close in good order`, { cause });
    } finally {
      this.#state = "closed";
      this.#watchdog.stop();
      await this.#life.end();
    }
  }

  /**
   * First waits for a running attempt to restart the thread, because ending a thread while it opens its
   * database may crash the process.
   */
  async #closeInOrder(last: Message): Promise<void> {
    this.#isClosing = true;
    await this.#reopened;
    if (this.#state !== "open") return;
    this.#state = "closed";
    if (this.#ordered > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
    this.#options.checkReply(await this.#life.run(last));
  }

  #begin(): ShardLife {
    const { workerData, workerFile, readerOf = noReader, log } = this.#options;
    return new ShardLife({
      number: ++this.#lives,
      workerData: workerData(this.#shard, this.#beats),
      workerFile,
      readerOf,
      onEnd: () => this.#onEnd(),
      onError: (error) => log.error({ err: error, shard: this.#shard }, "shard thread failed"),
    });
  }

  #endHanging(): void {
    const { log, limits } = this.#options;
    log.error({ shard: this.#shard, shardHangMsMax: limits.shardHangMsMax }, "shard thread hangs; ending it");
    void this.#life.end();
  }

  #onEnd(): void {
    if (this.#state === "open" || this.#state === "restarting") this.#restarts++;
    if (this.#state !== "open") return;
    this.#options.log.warn({ shard: this.#shard }, "shard thread ended unexpectedly; restarting it");
    this.#state = "restarting";
    this.#reopened = this.#reopen();
  }

  /**
   * Restarts the thread. Keeps trying until it succeeds or the pool is being closed, because an index cannot
   * answer without all of its shards.
   */
  async #reopen(): Promise<void> {
    let pause = RECOVER_PAUSE_MS_FIRST;
    while (this.#state === "restarting" && !this.#isClosing) {
      try {
        await this.#recoverOnce();
        if (this.#state === "restarting") {
          this.#state = "open";
          this.#options.followers?.began(this.#shard);
        }
        this.#options.log.info({ shard: this.#shard }, "shard thread is back");
        return;
      } catch (error) {
        this.#options.log.error(
          { err: error, shard: this.#shard },
          "shard could not be reopened; trying again",
        );
        if (this.#isClosing) return;
        await sleep(pause, undefined, { ref: false });
        pause = Math.min(pause * 2, RECOVER_PAUSE_MS_MAX);
      }
    }
  }

  /** Starts a new life. Waits for the old thread to exit first, because it has the database open. */
  async #recoverOnce(): Promise<void> {
    await this.#life.end();
    await this.#options.followers?.ended(this.#shard);
    if (this.#state === "closed") throw unavailable("the server is stopping");
    const life = this.#begin();
    this.#life = life;
    this.#watchdog.begin();
    this.#options.checkReply(await life.run(this.#options.ping()));
    await this.#options.recover(this.#shard, (request) => life.run(request));
    if (life.ended) throw new Error(`shard ${this.#shard} ended again while it was reopened`);
  }

  async #waitForRestart(): Promise<void> {
    this.#waiting++;
    try {
      await within(this.#reopened, this.#options.limits.searchMsMax, () => {
        throw unavailable(`shard ${this.#shard} is being restarted`);
      });
    } finally {
      this.#waiting--;
    }
  }
}

function noReader(): null {
  return null;
}

function unavailable(problem: string, cause?: unknown): SkeinError {
  return new SkeinError("SK-SE-503", `${problem}; retry in a moment`, {
    retryAfter: RETRY_AFTER_SECONDS,
    cause,
  });
}
