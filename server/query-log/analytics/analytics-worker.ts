// The entry point of the query log's thread, the only thread that opens the log's database. Tasks run
// concurrently, but those that change the log run one at a time (see query-log.ts).
import { setTimeout as sleep, setImmediate as yieldToEventLoop } from "node:timers/promises";
import { workerData } from "node:worker_threads";
import { EnvelopeError } from "../../../shards/storage/envelope.js";
import { StoreDamagedError, StoreLockedError, StoreWriteError } from "../../../shards/storage/store.js";
import { popularOf } from "../reports/popular.js";
import { exportLines, reportOf, rowsOf, wordsOf } from "../reports/report.js";
import { forgetPerson } from "../store/forget-person.js";
import { QueryLog } from "../store/query-log.js";
import type { AnalyticsRefusal, AnalyticsReplies, AnalyticsReply, AnalyticsTask } from "./analytics-task.js";

/** Opening is retried, because the previous thread may still be closing the database. */
const OPEN_TRIES = 50;
const OPEN_PAUSE_MS = 100;

/** The thread's only state: its log. The first task opens it. */
let opened: Promise<QueryLog> | null = null;

export default async function analytics(
  task: AnalyticsTask,
): Promise<AnalyticsReply<AnalyticsReplies[AnalyticsTask["kind"]]> | AnalyticsRefusal> {
  try {
    opened ??= open(String(workerData));
    const log = await opened;
    const reply = await answer(log, task);
    return { reply, damage: log.damage.splice(0) };
  } catch (error) {
    if (error instanceof StoreWriteError) return { refused: "storage", message: error.message };
    if (error instanceof EnvelopeError || error instanceof StoreDamagedError)
      return { refused: "damage", message: error.message };
    throw error;
  }
}

async function answer(log: QueryLog, task: AnalyticsTask): Promise<AnalyticsReplies[AnalyticsTask["kind"]]> {
  switch (task.kind) {
    case "append":
      await log.append(task.chunk, task.nowMs);
      return null;
    case "report":
      return reportOf(log, task.request);
    case "popular":
      return popularOf(log, task.log, task.window);
    case "export":
      return Buffer.from(await exportLines(log, task.log, task.window));
    case "rows":
      return rowsOf(log, task.log, task.window);
    case "words":
      return wordsOf(log, task.log, task.dictionary, task.numbers);
    case "upkeep":
      await log.upkeep(task.nowMs);
      return null;
    case "sweep": {
      const logs = new Set(task.logs);
      await log.sweep(task.nowMs, task.bytesMax, (one) => logs.has(one));
      return null;
    }
    case "drop":
      await log.drop(task.log);
      return null;
    case "forget":
      return forgetPerson(log, task.log, task.person);
    case "backup":
      return log.backup(task.path, async () => {
        if (Atomics.load(task.stop, 0) !== 0) throw new Error("the backup was given up");
        await yieldToEventLoop();
      });
    case "close":
      await log.close();
      return null;
  }
}

async function open(location: string): Promise<QueryLog> {
  for (let left = OPEN_TRIES; ; left--) {
    try {
      return await QueryLog.open(location);
    } catch (error) {
      opened = left === 0 ? null : opened;
      if (left === 0 || !(error instanceof StoreLockedError)) throw error;
      await sleep(OPEN_PAUSE_MS);
    }
  }
}
