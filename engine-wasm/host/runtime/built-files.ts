// Locates built files. Everything loaded by path (the engine, the entry points of threads and processes) is
// found from here, whether this code runs as a source file, in a built program, or in a chunk shared by
// several programs.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The nearest folder above this file that has a package.json. */
export const PACKAGE_FOLDER = packageFolder(dirname(fileURLToPath(import.meta.url)));

/** Path of a file in the build, for example "shards/worker.js". The file may not exist. */
export function builtFile(file: string): string {
  return join(PACKAGE_FOLDER, "dist", file);
}

function packageFolder(folder: string): string {
  if (existsSync(join(folder, "package.json"))) return folder;
  if (folder === dirname(folder)) throw new Error("Skein does not stand in a folder with a package.json");
  return packageFolder(dirname(folder));
}
