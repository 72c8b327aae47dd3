// Creates the query log's thread, and the objects that write and read the log.
import { join } from "node:path";
import { Analytics } from "../query-log/analytics/analytics.js";
import { AnalyticsPool } from "../query-log/analytics/analytics-pool.js";
import { LogWriter } from "../query-log/analytics/log-writer.js";
import { People } from "../query-log/analytics/people.js";
import { PopularLogs } from "../query-log/popularity/popular-logs.js";
import type { FleetFloor } from "./fleet.js";

export function openQueryLog(fleet: FleetFloor) {
  const { dataDir, catalog, secrets, frontEnds, jobs, limits, log, recorder, teardown } = fleet;
  const analyticsPool = new AnalyticsPool(join(dataDir, "analytics"), log);
  teardown.add(() => analyticsPool.stop());
  const people = new People(secrets.pseudonymKey);
  const logWriter = new LogWriter({
    send: (chunk) => analyticsPool.run({ kind: "append", chunk, nowMs: Date.now() }),
    others: () => frontEnds.flushLogs(),
    people,
    waitingBytesMax: limits.queryLogWaitingBytesMax,
    meter: recorder.queryLog,
    log,
  });
  teardown.add(() => logWriter.stop());
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
