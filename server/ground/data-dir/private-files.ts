// Sets file permissions. The data directory and all its files belong to the user who runs the server, and no
// other user can read them.
import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const OTHERS = 0o077;
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;

/**
 * Files that this process, its threads and its children create from now on are readable only by their user.
 */
export function makePrivateFiles(): void {
  process.umask(OTHERS);
}

/**
 * Revokes other users' access to a directory and its contents, which earlier versions may have left readable.
 * The directory itself comes last, so that an interrupted start repeats the work. Does not follow links.
 * Throws chmod's errors, such as EPERM for a directory owned by another user.
 */
export function takeFromOthers(directory: string): void {
  if ((statSync(directory).mode & OTHERS) === 0) return;
  takeContents(directory);
  chmodSync(directory, DIRECTORY_MODE);
}

function takeContents(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      takeContents(path);
      chmodSync(path, DIRECTORY_MODE);
    } else if (entry.isFile()) chmodSync(path, FILE_MODE);
  }
}
