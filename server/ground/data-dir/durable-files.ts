// Changes directories in such a way that the change survives a power failure. A rename, for example, is
// durable only once its directory has been synced.
import { closeSync, fsyncSync, openSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a directory's entries durable. Does nothing on systems that cannot sync directories, because they do
 * not need it.
 */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Synchronous version of `syncDirectory`. */
export function syncDirectoryNow(path: string): void {
  if (process.platform === "win32") return;
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/**
 * Renames a file or directory within one file system. Once this resolves, the rename is durable; after an
 * earlier crash, either name may exist.
 */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncDirectory(dirname(to));
  if (dirname(from) !== dirname(to)) await syncDirectory(dirname(from));
}
