// Turns a backup into a data directory while the server is stopped. Everything is checked, then built beside
// the existing data, then swapped in. If the process dies at any point, no data is lost: the old data is
// still in place, or the restored data is complete and the next start or restore finishes the swap.
//
//   <data>/restore.new     being built; disposable
//   <data>/restore.swap    complete; its parts replace those of the data directory
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { restoreBackupFile } from "../../../shards/storage/backup-file.js";
import { LevelStore } from "../../../shards/storage/level-store.js";
import { DataDirLockedError, lockDataDir } from "../../ground/data-dir/data-lock.js";
import { renameDurably, syncDirectory } from "../../ground/data-dir/durable-files.js";
import { fault } from "../../ground/fault.js";
import {
  ANALYTICS_FILE,
  BackupError,
  type BackupManifest,
  CATALOG_FILE,
  checkFiles,
  readManifest,
  shardFile,
} from "./manifest.js";

const NEW = "restore.new";
const SWAP = "restore.swap";
/** The catalog comes last: the directory counts as a data directory only once it has a catalog. */
const PARTS = ["shards", "analytics", "catalog"];
/**
 * Directories left by an interrupted change of the number of shards. They may belong to the replaced data,
 * and are deleted with it.
 */
const LEFTOVERS = ["shards.new", "shards.old"];

/**
 * Restores the backup in `directory` into `dataDir`. With `force`, replaces existing data. Calls `report`
 * with one line per step. If it throws BackupError, it has replaced no data, though it may have finished an
 * earlier, interrupted restore.
 */
export async function restoreBackup(
  directory: string,
  dataDir: string,
  force: boolean,
  report: (line: string) => void,
): Promise<BackupManifest> {
  const manifest = await readManifest(directory);
  report(`checking ${manifest.files.length} files`);
  await checkFiles(directory, manifest);
  await mkdir(dataDir, { recursive: true });
  const release = await claim(dataDir);
  try {
    await finishRestore(dataDir);
    const holdsData = PARTS.some((name) => existsSync(join(dataDir, name)));
    if (holdsData && !force)
      throw new BackupError(`${dataDir} already contains data; --force replaces it with the backup`);
    const building = join(dataDir, NEW);
    await rm(building, { recursive: true, force: true });
    await mkdir(join(building, "shards"), { recursive: true });
    for (let shard = 0; shard < manifest.shards; shard++) {
      report(`restoring shard ${shard + 1} of ${manifest.shards}`);
      await build(join(directory, shardFile(shard)), join(building, "shards", String(shard)));
      fault("restore.after-shard");
    }
    // Even if the backup has no query logs, replace the existing logs with an empty directory: they belong to
    // other indexes.
    await mkdir(join(building, "analytics"));
    if (manifest.files.some(({ name }) => name === ANALYTICS_FILE)) {
      report("restoring the query logs");
      await build(join(directory, ANALYTICS_FILE), join(building, "analytics"));
    }
    report("restoring the catalog");
    await build(join(directory, CATALOG_FILE), join(building, "catalog"));
    await syncDirectory(join(building, "shards"));
    await syncDirectory(building);
    fault("restore.after-build");
    await renameDurably(building, join(dataDir, SWAP));
    fault("restore.after-rename");
    await finishRestore(dataDir);
  } finally {
    await release();
  }
  return manifest;
}

/**
 * Finishes a restore whose data is complete, by moving it into place. Must be called before anything in the
 * data directory is opened.
 */
export async function finishRestore(dataDir: string): Promise<void> {
  const swap = join(dataDir, SWAP);
  if (!existsSync(swap)) return;
  for (const name of PARTS) {
    const fresh = join(swap, name);
    if (!existsSync(fresh)) continue;
    await rm(join(dataDir, name), { recursive: true, force: true });
    await renameDurably(fresh, join(dataDir, name));
    fault("restore.after-part");
  }
  for (const name of LEFTOVERS) await rm(join(dataDir, name), { recursive: true, force: true });
  fault("restore.before-end");
  await rm(swap, { recursive: true, force: true });
}

/**
 * Describes what is left of an unfinished restore, one sentence each. Throws an Error if the data directory
 * may be a mix of old and restored data: only a start or another restore can finish that.
 */
export function unfinishedRestore(dataDir: string): string[] {
  if (existsSync(join(dataDir, SWAP))) {
    throw new Error(
      `a restore into ${dataDir} is not finished; start the server once, or repeat the restore, to finish it`,
    );
  }
  const building = join(dataDir, NEW);
  if (!existsSync(building)) return [];
  return [`${building} is left over from an interrupted restore; repeat the restore or delete it`];
}

/** Locks the data directory. Throws BackupError if another process uses it. */
async function claim(dataDir: string): Promise<() => Promise<void>> {
  try {
    return await lockDataDir(dataDir, "skein restore");
  } catch (error) {
    if (error instanceof DataDirLockedError) throw new BackupError(error.message, { cause: error });
    throw error;
  }
}

async function build(file: string, location: string): Promise<void> {
  const store = await LevelStore.open(location);
  try {
    await restoreBackupFile(file, store, file);
  } finally {
    await store.close();
  }
}
