// Builds dist/: the engine and its checked variant (asc), their Unicode table, and the programs
// (docs/adr/0011-bundled-programs.md), all in parallel. Does not check types; `npm run typecheck` does. Plain
// JavaScript, because it runs before anything is built. `--if-stale` skips targets that are newer than their
// sources.
import { spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = join(ROOT, "dist");
const ENGINE_SOURCES = ["engine-wasm/assembly", "asconfig.json", "package-lock.json"];
const PROGRAM_SOURCES = [
  "server",
  "shards",
  "engine-wasm",
  "bench",
  "scripts",
  "test/e2e/world",
  "test/effort.ts",
  "test/failure-notes.ts",
  "test/fuzz",
  "test/torture",
  "test/oracle",
  "test/golden",
  "package-lock.json",
];
/** Entry points that are started by path: commands, threads and processes. */
const PROGRAMS = [
  "server/cli/main",
  "server/cli/demo/main",
  "server/documents/ingest/intake-worker",
  "server/documents/sources/feed-worker",
  "server/query-log/analytics/analytics-worker",
  "server/coach/coach-worker",
  "server/indexes/embedders/trainer-worker",
  "server/http/frontends/thread/front-end-worker",
  "shards/worker",
  "shards/offline/process",
  "bench/all",
  "bench/analytics/main",
  "bench/feeds",
  "bench/generate",
  "bench/http",
  "bench/load/baseline-server",
  "bench/model/main",
  "bench/neighbour/main",
  "bench/neighbour/noisy-client",
  "bench/relevance/main",
  "bench/road/main",
  "bench/road/query-meter",
  "bench/run",
  "bench/scale",
  "bench/semantic/main",
  "bench/soak/main",
  "scripts/generate-unicode",
  "test/fuzz/main",
  "test/golden/write",
  "test/torture/hostile/attacker",
  "test/torture/main",
];
/**
 * Modules that plain JavaScript (tests, the comparison with peers) imports from dist/. Code shared with a
 * program is in dist/chunks, so both use one instance of the module if they run in the same thread.
 */
const MODULES = [
  "bench/load/documents-file",
  "bench/load/drive",
  "bench/load/queries",
  "bench/load/server-process",
  "bench/load/settle",
  "bench/machine",
  "engine-wasm/host/runtime/discards",
  "server/ground/errors",
  "server/ground/fault",
  "server/access/tenants/month-counts",
  "server/access/tenants/throttle",
  "server/fleet/threads/query-load",
  "server/http/shared-amount",
  "shards/read-scheduler",
  "shards/fault",
  "shards/storage/store",
];
/**
 * Packages that are not bundled, because they load their own files by path: native code, a thread's entry
 * point, or a language on demand.
 */
const UNBUNDLED = [/^uWebSockets\.js/, /^classic-level/, /^msgpackr-extract/, /^piscina/, /^@orama\//];
/** Output paths are relative to dist/. A missing output makes its target stale. */
const TARGETS = [
  { name: "engine", sources: ENGINE_SOURCES, outputs: ["engine/engine.wasm"], build: () => asc("release") },
  {
    name: "checked engine",
    sources: ENGINE_SOURCES,
    outputs: ["engine/checked.wasm"],
    build: () => asc("checked"),
  },
  {
    name: "programs",
    sources: PROGRAM_SOURCES,
    outputs: ["server/cli/main.js", "engine/fold.bin"],
    build: () => {
      copyFileSync(join(ROOT, "engine-wasm/unicode/fold.bin"), join(DIST, "engine/fold.bin"));
      return bundle();
    },
  },
];
const NO_SOURCES = new Set(["node_modules", "results", "data", "regressions", "bytes"]);

/**
 * Time of the latest change (ms) to a file, or to anything in a folder; 0 if the path does not exist. A
 * deletion counts too, because it changes the folder's own time.
 */
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

/**
 * Returns the path of an empty file whose time says when the target was last built. The build deletes the
 * file first and writes it last, so a target whose build failed counts as stale.
 */
function stampOf(target) {
  return join(DIST, `.built-${target.name.replaceAll(" ", "-")}`);
}

function isStale(target) {
  const stamp = stampOf(target);
  if (!existsSync(stamp) || target.outputs.some((output) => !existsSync(join(DIST, output)))) return true;
  const built = statSync(stamp).mtimeMs;
  return target.sources.some((source) => newestChange(join(ROOT, source)) > built);
}

/** Runs a package's command with this Node. Its output goes to the terminal. Rejects if the command fails. */
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

/**
 * Bundles the programs. Shared code goes into dist/chunks. The old files are replaced only after all new ones
 * have been written.
 */
async function bundle() {
  const entries = [...PROGRAMS, ...MODULES].map((name) => [name, join(ROOT, `${name}.ts`)]);
  const programs = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(entries),
    platform: "node",
    external: UNBUNDLED,
    resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
  });
  const fresh = join(DIST, ".programs");
  rmSync(fresh, { recursive: true, force: true });
  await programs.write({
    dir: fresh,
    chunkFileNames: "chunks/[name].js",
    keepNames: true,
    sourcemap: true,
    sourcemapPathTransform: (source) => source.replace("../", ""), // the files are later moved up one folder
  });
  await programs.close();
  // Makes the command executable. npm does this when it links the command, but not when a later build
  // replaces the file.
  chmodSync(join(fresh, "server/cli/main.js"), 0o755);
  for (const name of readdirSync(DIST)) {
    if (name !== "engine" && !name.startsWith(".")) rmSync(join(DIST, name), { recursive: true });
  }
  for (const name of readdirSync(fresh)) renameSync(join(fresh, name), join(DIST, name));
  rmSync(fresh, { recursive: true });
}

async function build(target) {
  const started = Date.now();
  rmSync(stampOf(target), { force: true });
  await target.build();
  // The stamp has the build's start time, so a source saved during the build makes it stale.
  writeFileSync(stampOf(target), "");
  utimesSync(stampOf(target), started / 1000, started / 1000);
  console.log(`build: ${target.name} in ${((Date.now() - started) / 1000).toFixed(1)} s`);
}

mkdirSync(join(DIST, "engine"), { recursive: true });
const wanted = process.argv.includes("--if-stale") ? TARGETS.filter(isStale) : TARGETS;
if (wanted.length === 0) console.log("build: dist is up to date");
for (const result of await Promise.allSettled(wanted.map(build))) {
  if (result.status === "fulfilled") continue;
  console.error(`build failed: ${result.reason.message}`);
  process.exitCode = 1;
}
