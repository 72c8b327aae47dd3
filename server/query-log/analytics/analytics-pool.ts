// Runs tasks on the query log's thread, which is started when something is first logged or a report is first
// requested. Only this file deals with the thread. If the thread dies, its tasks fail. The next task starts a
// new thread, which recovers stored rows from the journal.
import { existsSync } from "node:fs";
import { Piscina } from "piscina";
import { builtFile } from "../../../engine-wasm/host/runtime/built-files.js";
import { Lane } from "../../../engine-wasm/host/runtime/lane.js";
import { SkeinError } from "../../ground/errors.js";
import type { Logger } from "../../ground/log.js";
import type { AnalyticsRefusal, AnalyticsReplies, AnalyticsReply, AnalyticsTask } from "./analytics-task.js";

const TASKS_AT_ONCE = 64;
/** A thread that needs longer than this (ms) for one task is assumed to hang and is terminated. */
const TASK_MS_MAX = 120_000;
/** The same limit (ms) for tasks that go through all stored data. */
const LONG_TASK_MS_MAX = 3_600_000;
const LONG_TASKS: readonly string[] = ["sweep", "forget", "backup"] satisfies AnalyticsTask["kind"][];
const HEAP_MIB = 1024;
const YOUNG_HEAP_MIB = 12;
/** Maximum number of queued reports. They run one at a time, so that searches can be logged in between. */
const REPORTS_WAITING_MAX = 64;

type Reply<K extends AnalyticsTask["kind"]> = AnalyticsReplies[K];

/** The disk is full or failing. No part of the task was stored. */
export class LogStorageError extends Error {
  override readonly name = "LogStorageError";
}

export class AnalyticsPool {
  readonly #location: string;
  readonly #log: Logger;
  /**
   * True if the directory existed at startup. Only this pool's thread creates it, so there is no need to
   * check again.
   */
  readonly #found: boolean;
  #pool: Piscina | null = null;
  readonly #reports = new Lane();

  /** `location` is the log's database directory. */
  constructor(location: string, log: Logger) {
    this.#location = location;
    this.#log = log;
    this.#found = existsSync(location);
  }

  /** False if nothing has ever been logged, so there is nothing to maintain. */
  get used(): boolean {
    return this.#pool !== null || this.#found;
  }

  /**
   * Runs a task on the thread. Throws SK-AN-503 if the thread dies or cannot read the log, and
   * LogStorageError if the disk is full or failing.
   */
  async run<T extends AnalyticsTask>(task: T): Promise<Reply<T["kind"]>> {
    this.#pool ??= this.#start();
    let reply: AnalyticsReply<Reply<T["kind"]>> | AnalyticsRefusal;
    try {
      const msMax = LONG_TASKS.includes(task.kind) ? LONG_TASK_MS_MAX : TASK_MS_MAX;
      reply = await this.#pool.run(task, { signal: AbortSignal.timeout(msMax) });
    } catch (error) {
      throw unavailable("the thread of the query log has failed", error);
    }
    if ("refused" in reply) {
      if (reply.refused === "storage") throw new LogStorageError(reply.message);
      throw unavailable(`the query log cannot be read: ${reply.message}`);
    }
    for (const found of reply.damage) this.#log.error({ found }, "searches of the query log are lost");
    return reply.reply;
  }

  /**
   * Like `run`, but for reports: waits until all reports queued before it have run. Throws SK-AN-503 if too
   * many reports are queued.
   */
  async runInLine<T extends AnalyticsTask>(task: T): Promise<Reply<T["kind"]>> {
    if (this.#reports.size >= REPORTS_WAITING_MAX) throw unavailable("too many reports are waiting");
    return this.#reports.run(() => this.run(task));
  }

  /**
   * Closes the log and stops the thread. All tasks must have ended. Throws, once the thread has ended, if the
   * log did not close in good order.
   */
  async stop(): Promise<void> {
    if (this.#pool === null) return;
    try {
      await this.run({ kind: "close" });
    } finally {
      await this.#pool.destroy();
    }
  }

  #start(): Piscina {
    const pool = new Piscina({
      filename: builtFile("server/query-log/analytics/analytics-worker.js"),
      atomics: "disabled", // a thread that waits in Atomics.wait would not get its writes' callbacks
      minThreads: 1,
      maxThreads: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      concurrentTasksPerWorker: TASKS_AT_ONCE,
      recordTiming: false,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB, maxYoungGenerationSizeMb: YOUNG_HEAP_MIB },
      workerData: this.#location,
    });
    pool.on("error", (error) => this.#log.error({ err: error }, "the thread of the query log failed"));
    return pool;
  }
}

function unavailable(problem: string, cause?: unknown): SkeinError {
  return new SkeinError("SK-AN-503", `${problem}; retry in a moment`, { retryAfter: 1, cause });
}
