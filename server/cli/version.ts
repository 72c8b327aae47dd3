// Reads Skein's version from package.json.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_FOLDER } from "../../engine-wasm/host/runtime/built-files.js";

export const VERSION = readVersion();

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(PACKAGE_FOLDER, "package.json"), "utf8"));
  return (manifest as { version: string }).version;
}
