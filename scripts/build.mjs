// Builds dist/: the engine and the checked engine (asc), their Unicode table, the server (tsc), all at the same time.
// Plain JavaScript, since it runs before anything is built. `--if-stale` leaves out what is newer than its sources;
// `--unchecked` leaves the types to whoever checks them at the same time.
import { spawn } from "node:child_process";
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
const ENGINE_SOURCES = ["engine-wasm", "asconfig.json", "package-lock.json"];
const SERVER_SOURCES = [
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
  "package-lock.json",
];
/** Outputs are below dist/, the first one is said to be built. */
const TARGETS = [
  { name: "engine", sources: ENGINE_SOURCES, outputs: ["engine/engine.wasm"], build: () => asc("release") },
  {
    name: "checked engine",
    sources: ENGINE_SOURCES,
    outputs: ["engine/checked.wasm"],
    build: () => asc("checked"),
  },
  {
    name: "server",
    sources: SERVER_SOURCES,
    outputs: ["server/cli/main.js", "engine/fold.bin"],
    build: () => {
      copyFileSync(join(ROOT, "engine-wasm/unicode/fold.bin"), join(ROOT, "dist/engine/fold.bin"));
      const unchecked = process.argv.includes("--unchecked") ? ["--noCheck"] : [];
      return run("typescript", "tsc", ["-p", "tsconfig.build.json", ...unchecked]);
    },
  },
];
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

/** Written last, so that a broken build stays stale. */
function stampOf(target) {
  return join(ROOT, "dist", `.built-${target.name.replaceAll(" ", "-")}`);
}

function isStale(target) {
  const stamp = stampOf(target);
  if (!existsSync(stamp) || target.outputs.some((output) => !existsSync(join(ROOT, "dist", output))))
    return true;
  const built = statSync(stamp).mtimeMs;
  return target.sources.some((source) => newestChange(join(ROOT, source)) > built);
}

/** Runs a package's command with this Node; its messages go to the terminal. Rejects when it fails. */
function run(packageName, binary, args) {
  const require = createRequire(import.meta.url);
  const manifest = require.resolve(`${packageName}/package.json`);
  const file = join(dirname(manifest), require(manifest).bin[binary]);
  const child = spawn(process.execPath, [file, ...args], {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit"],
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${binary} ended with ${signal ?? `status ${code}`}`));
    });
  });
}

function asc(target) {
  const entry = "engine-wasm/assembly/index.ts";
  return run("assemblyscript", "asc", [entry, "--config", "asconfig.json", "--target", target]);
}

async function build(target) {
  const started = Date.now();
  await target.build();
  // The stamp carries the start: a source saved while the build ran makes it stale.
  writeFileSync(stampOf(target), "");
  utimesSync(stampOf(target), started / 1000, started / 1000);
  console.log(`build: ${target.name} in ${((Date.now() - started) / 1000).toFixed(1)} s`);
}

mkdirSync(join(ROOT, "dist", "engine"), { recursive: true });
const wanted = process.argv.includes("--if-stale") ? TARGETS.filter(isStale) : TARGETS;
if (wanted.length === 0) console.log("build: dist is up to date");
for (const result of await Promise.allSettled(wanted.map(build))) {
  if (result.status === "fulfilled") continue;
  console.error(`build failed: ${result.reason.message}`);
  process.exitCode = 1;
}
