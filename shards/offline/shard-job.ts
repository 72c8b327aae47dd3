// Checks or repairs one shard's database while the server is stopped: first the files, then each index in it.
import { join } from "node:path";
import type { EngineModule } from "../../engine-wasm/host/instance/engine-module.js";
import type { IndexReport, OfflineJob, ShardReport } from "../protocol/offline.js";
import { EVERY_KEY, indexesFrom, uidOfKey } from "../storage/keyspace.js";
import { hasDatabase, levelDamage } from "../storage/level-reader/level-files.js";
import { LevelStore } from "../storage/level-store.js";
import type { Store } from "../storage/store.js";
import { checkContents } from "./check-index.js";
import { readContents } from "./index-contents.js";
import { repairIndex } from "./repair-index.js";

export async function runJob(job: OfflineJob, module: EngineModule): Promise<ShardReport> {
  const { dataDir, shard, dryRun } = job;
  const location = join(dataDir, "shards", String(shard));
  const repairing = job.task === "repair" && !dryRun;
  const report: ShardReport = {
    shard,
    location,
    problems: levelDamage(location, true),
    filesRepaired: false,
    indexes: [],
  };
  // Opening a missing database would create a new one.
  if (!hasDatabase(location)) {
    report.problems.push("the database is missing; restore it from a backup");
    return report;
  }
  if (report.problems.length > 0) {
    // A check must not open the database, because LevelDB might then rewrite damaged blocks with valid
    // checksums.
    if (!repairing) return report;
    await LevelStore.repair(location);
    report.filesRepaired = true;
  }
  let store: LevelStore;
  try {
    store = await LevelStore.open(location);
  } catch (error) {
    report.problems.push((error as Error).message);
    if (!repairing || report.filesRepaired) return report;
    await LevelStore.repair(location);
    report.filesRepaired = true;
    store = await LevelStore.open(location);
  }
  try {
    // The repair keeps tables whose damaged blocks LevelDB can still read. Rewriting those blocks is safe,
    // because Skein's own checksums cover the values in them.
    if (report.filesRepaired) await store.compact(EVERY_KEY); // rewrites the blocks with correct checksums
    for (const uid of await uidsOf(store, job))
      report.indexes.push(await onIndex(store, uid, job, module, report.filesRepaired));
  } catch (error) {
    report.problems.push((error as Error).message);
  } finally {
    await store.close();
  }
  return report;
}

/** Returns the uids of indexes in the catalog, and of indexes that only the database contains. */
async function uidsOf(store: Store, { indexes, only, dropping }: OfflineJob): Promise<number[]> {
  const uids = new Set(indexes.map(({ uid }) => uid));
  for (let uid = 0; ; uid++) {
    let first: Uint8Array | undefined;
    for await (const key of store.keys(indexesFrom(uid))) {
      first = key;
      break;
    }
    if (first === undefined) break;
    uid = uidOfKey(first);
    uids.add(uid);
    if (uid === 0xffffffff) break;
  }
  return [...uids]
    .filter((uid) => !dropping.includes(uid) && (only === null || only.includes(uid)))
    .sort((a, b) => a - b);
}

async function onIndex(
  store: Store,
  uid: number,
  job: OfflineJob,
  module: EngineModule,
  lostFiles: boolean,
): Promise<IndexReport> {
  const contents = await readContents(store, uid, module);
  const known = job.indexes.find((index) => index.uid === uid);
  const { problems, live } = checkContents(contents, known, module.workbench());
  if (known === undefined && !contents.dropping) {
    problems.push(`index ${uid}: the catalog does not have it; restore the catalog from a backup`);
  }
  let repair: IndexReport["repair"] = null;
  if (job.task === "repair" && problems.length > 0 && known !== undefined) {
    if (contents.foreign)
      problems.push(`index ${uid}: not repaired: another version of Skein wrote parts of it`);
    else repair = await repairIndex(store, contents, known.schema, module, job.dryRun);
  }
  if (repair !== null && lostFiles) {
    repair.warnings.push(
      `index ${uid}: deleted or replaced documents may be back, and the last writes may be gone`,
    );
  }
  return {
    uid,
    problems,
    documents: repair?.documents ?? live.size,
    segments: repair?.segments ?? contents.segments.length,
    unchecked: contents.unchecked,
    seqs: Float64Array.from(live.keys()),
    repair,
  };
}
