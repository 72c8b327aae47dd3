// Creates the operator's tools (backups, metrics) and the monthly counters (usage, key use).
import { KeyUse } from "../access/tenants/key-use.js";
import { Usage } from "../access/tenants/usage.js";
import { Backups } from "../operate/backups/backups.js";
import { Scrape } from "../operate/scrape.js";
import type { CoachFloor } from "./coach.js";
import { DISK_MS_MAX } from "./ground.js";

/** Creates the tools and counters. Also deletes the remains of interrupted backups. */
export async function makeOperations(coach: CoachFloor) {
  const { config, dataDir, catalog, indexes, writes, moments, health, analytics, lifecycle, sources } = coach;
  const { frontEnds, counts, jobs, limits, log, recorder, teardown } = coach;
  const usage = new Usage(catalog, jobs, counts.usage);
  teardown.add("store the counts of the month", () => usage.store(), DISK_MS_MAX);
  const keyUse = new KeyUse(catalog, jobs);
  teardown.add("store the use of keys", () => keyUse.store(), DISK_MS_MAX);
  const scrape = new Scrape({
    catalog,
    indexes,
    health,
    lifecycle,
    sources,
    dataDir,
    unsent: counts.unsent,
    limits,
    recorder,
    others: () => frontEnds.counted(limits.metricsMsMax),
  });
  const backups = new Backups({
    directory: config.snapshotDir,
    catalog,
    indexes,
    writes,
    moments,
    analytics,
    jobs,
    log,
  });
  await backups.clean();
  return { ...coach, keyUse, scrape, backups };
}

export type OperationsFloor = Awaited<ReturnType<typeof makeOperations>>;
