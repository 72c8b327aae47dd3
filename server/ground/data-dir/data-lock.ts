// The lock on a data directory. It is held by a server, or by a command that must not run at the same time as
// a server. Node has no file locks, but LevelDB has them on every platform, and they end with the process
// however it ends. So an empty database serves as the lock, and a file next to it names the holder.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LevelStore } from "../../../shards/storage/level-store.js";
import { StoreDamagedError, StoreLockedError } from "../../../shards/storage/store.js";

const LOCK_DIR = "lock";
const OWNER_FILE = "owner.json";

/** Another process is using the directory. The message is written for people. */
export class DataDirLockedError extends Error {
  constructor(dataDir: string, owner: string, options?: ErrorOptions) {
    super(`another ${owner} is running on the data directory ${dataDir}`, options);
    this.name = "DataDirLockedError";
  }
}

/**
 * Locks the directory, which must exist, and returns a function that unlocks it. The lock belongs to this
 * process; `what` names its holder in messages ("server", "skein check"). Throws DataDirLockedError.
 */
export async function lockDataDir(dataDir: string, what: string): Promise<() => Promise<void>> {
  const location = join(dataDir, LOCK_DIR);
  const ownerFile = join(location, OWNER_FILE);
  const store = await openLock(location).catch((error: unknown) => {
    if (!(error instanceof StoreLockedError)) throw error;
    throw new DataDirLockedError(dataDir, ownerOf(ownerFile), { cause: error });
  });
  writeFileSync(ownerFile, JSON.stringify({ what, pid: process.pid }));
  return async () => {
    rmSync(ownerFile, { force: true });
    await store.close();
  };
}

/**
 * Opens the lock's database. A damaged database is deleted and created again, because it contains nothing.
 */
async function openLock(location: string): Promise<LevelStore> {
  try {
    return await LevelStore.open(location);
  } catch (error) {
    if (!(error instanceof StoreDamagedError)) throw error;
    rmSync(location, { recursive: true, force: true });
    return LevelStore.open(location);
  }
}

function ownerOf(file: string): string {
  try {
    const { what, pid } = JSON.parse(readFileSync(file, "utf8")) as { what: string; pid: number };
    return `${what} (pid ${pid})`;
  } catch {
    return "server or command";
  }
}
