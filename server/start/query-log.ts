// Creates the query log's thread, and the objects that write and read the log.
import { join } from "node:path";
import { Analytics } from "../query-log/analytics/analytics.js";
import { AnalyticsPool } from "../query-log/analytics/analytics-pool.js";
import { LogWriter } from "../query-log/analytics/log-writer.js";
import { People } from "../query-log/analytics/people.js";
import { PopularLogs } from "../query-log/popularity/popular-logs.js";
import type { FleetFloor } from "./fleet.js";

/** Time (ms) for the query log's last rows, and for closing its database. */
const LOG_MS_MAX = 5_000;

export function openQueryLog(fleet: FleetFloor) {
  const { dataDir, catalog, secrets, frontEnds, jobs, limits, log, recorder, teardown } = fleet;
  const analyticsPool = new AnalyticsPool(join(dataDir, "analytics"), log);
  teardown.add("close the query log", () => analyticsPool.stop(), LOG_MS_MAX);
  const people = new People(secrets.pseudonymKey);
  const logWriter = new LogWriter({
    send: (chunk) => analyticsPool.run({ kind: "append", chunk, nowMs: Date.now() }),
    others: () => frontEnds.flushLogs(),
    people,
    waitingBytesMax: limits.queryLogWaitingBytesMax,
    meter: recorder.queryLog,
    log,
  });
  teardown.add("log the last searches", () => logWriter.stop(), LOG_MS_MAX);
  return {
    ...fleet,
    analyticsPool,
    logWriter,
    analytics: new Analytics({
      catalog,
      pool: analyticsPool,
      writer: logWriter,
      people,
      jobs,
      limits,
      log,
    }),
    popularLogs: new PopularLogs({ pool: analyticsPool, jobs }),
  };
}

export type QueryLogFloor = ReturnType<typeof openQueryLog>;
