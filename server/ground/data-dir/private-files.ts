// Whose the data is: the data directory and all files in it are for the user who runs the server, nobody else.
import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const OTHERS = 0o077;
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;

/** From now on this process, its threads and its children make files that only their user can read. */
export function makePrivateFiles(): void {
  process.umask(OTHERS);
}

/**
 * Takes a directory and all in it from other users, when an earlier version has left it open. The directory itself comes
 * last, so that a start that was cut short is repeated. Links are not followed. Throws what chmod says, for instance
 * EPERM for a directory that belongs to somebody else.
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
