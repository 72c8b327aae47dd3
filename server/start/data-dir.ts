// Prepares the data directory before anything in it is opened: creates it, locks it, and denies other users
// access to it.
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DataDirLockedError, lockDataDir } from "../ground/data-dir/data-lock.js";
import { takeFromOthers } from "../ground/data-dir/private-files.js";
import type { Logger } from "../ground/log.js";
import { ConfigError } from "../operate/config/values.js";

/**
 * Resolves with a function that releases the directory. Throws ConfigError if it cannot be created or another
 * process has locked it.
 */
export async function takeDataDir(dataDir: string, log: Logger): Promise<() => Promise<void>> {
  const unlock = await lock(dataDir);
  closeToOthers(dataDir, log);
  return unlock;
}

async function lock(dataDir: string): Promise<() => Promise<void>> {
  try {
    makeDirectory(dataDir);
  } catch (error) {
    throw new ConfigError(
      `the data directory ${dataDir} cannot be created (${(error as NodeJS.ErrnoException).code})`,
    );
  }
  try {
    return await lockDataDir(dataDir, "server");
  } catch (error) {
    if (error instanceof DataDirLockedError) throw new ConfigError(error.message);
    throw error;
  }
}

/**
 * Revokes other users' access to the directory. If that is not permitted because another user owns the
 * directory (as in a container's volume), logs a warning and leaves it unchanged.
 */
function closeToOthers(dataDir: string, log: Logger): void {
  try {
    takeFromOthers(dataDir);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    log.warn({ dataDir, code }, "the data directory cannot be closed to other users");
  }
}

/**
 * Creates the directory and its parents. Avoids Node's recursive mkdir, which never returns if the system
 * claims that an existing parent does not exist (as /proc does).
 */
function makeDirectory(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && !existsSync(dirname(path))) {
      makeDirectory(dirname(path));
      mkdirSync(path);
    } else if (code !== "EEXIST" || !statSync(path).isDirectory()) throw error;
  }
}
