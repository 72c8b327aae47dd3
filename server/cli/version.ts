// The version in package.json, wherever the compiled files are.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const VERSION = readVersion(dirname(fileURLToPath(import.meta.url)));

/** Looks upwards from `folder` for the nearest package.json. */
function readVersion(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    try {
      const manifest: unknown = JSON.parse(readFileSync(join(at, "package.json"), "utf8"));
      return (manifest as { version: string }).version;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || at === dirname(at)) throw error;
    }
  }
}
