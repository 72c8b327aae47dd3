// Builds dist/: the engine (asc), its Unicode table, the server (tsc). Plain JavaScript, since it runs before
// anything is built. `--if-stale` does nothing when the last build is newer than every source; `--unchecked` leaves
// the types to whoever checks them at the same time.
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const SOURCES = [
  "server",
  "shards",
  "engine-wasm",
  "bench",
  "scripts",
  "test/fuzz",
  "test/torture",
  "test/oracle",
  "test/golden",
  "tsconfig.json",
  "tsconfig.build.json",
  "asconfig.json",
  "package-lock.json",
];
const STAMP = join(ROOT, "dist", ".built"); // written last, so a broken build stays stale
const NO_SOURCES = new Set(["node_modules", "results", "data", "regressions", "bytes"]);

/** Newest change of a file, or of anything in a folder (removals change the folder itself); 0 when absent. */
function newestChange(path) {
  if (!existsSync(path)) return 0;
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  let newest = stats.mtimeMs;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (NO_SOURCES.has(entry.name)) continue;
    const child = join(path, entry.name);
    newest = Math.max(newest, entry.isDirectory() ? newestChange(child) : statSync(child).mtimeMs);
  }
  return newest;
}

function isStale() {
  const outputs = ["dist/engine/engine.wasm", "dist/engine/fold.bin", "dist/server/cli/main.js"];
  if (!existsSync(STAMP) || outputs.some((output) => !existsSync(join(ROOT, output)))) return true;
  const built = statSync(STAMP).mtimeMs;
  return SOURCES.some((source) => newestChange(join(ROOT, source)) > built);
}

/** Runs a package's command with this Node; its messages go to the terminal. Ends the build when it fails. */
function run(packageName, binary, args) {
  const require = createRequire(import.meta.url);
  const manifest = require.resolve(`${packageName}/package.json`);
  const file = join(dirname(manifest), require(manifest).bin[binary]);
  try {
    execFileSync(process.execPath, [file, ...args], { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"] });
  } catch (error) {
    console.error(`build failed: ${binary} ended with status ${error.status}`);
    process.exit(1);
  }
}

if (process.argv.includes("--if-stale") && !isStale()) {
  console.log("build: dist is up to date");
} else {
  const started = Date.now();
  mkdirSync(join(ROOT, "dist", "engine"), { recursive: true });
  run("assemblyscript", "asc", [
    "engine-wasm/assembly/index.ts",
    "--config",
    "asconfig.json",
    "--target",
    "release",
  ]);
  copyFileSync(join(ROOT, "engine-wasm", "unicode", "fold.bin"), join(ROOT, "dist", "engine", "fold.bin"));
  const unchecked = process.argv.includes("--unchecked") ? ["--noCheck"] : [];
  run("typescript", "tsc", ["-p", "tsconfig.build.json", ...unchecked]);
  // The stamp carries the start: a source saved while the build ran makes it stale.
  writeFileSync(STAMP, "");
  utimesSync(STAMP, started / 1000, started / 1000);
  const bytes = statSync(join(ROOT, "dist", "engine", "engine.wasm")).size;
  console.log(
    `build: engine ${Math.round(bytes / 1024)} KiB, server, in ${((Date.now() - started) / 1000).toFixed(1)} s`,
  );
}
