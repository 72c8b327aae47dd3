// `npm run soak -- --minutes 30 [--seed S] [--shards N]` puts a mixed load on a real server for a long time.
// Samples memory, open handles and latency, charts them, and exits with code 1 if memory or handles grow in
// the second half or a request fails.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { builtFile } from "../../engine-wasm/host/runtime/built-files.js";
import { ServerProcess } from "../load/server-process.js";
import { machineCard } from "../machine.js";
import { ADMIN_KEY, SoakLoad } from "./load.js";
import { heldBy } from "./process-probe.js";
import { chartLine, judge, type Sample } from "./verdict.js";

const SAMPLES_MIN = 8;
const SAMPLE_SECONDS_MAX = 10;
const MAIN = builtFile("server/cli/main.js");

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    seed: { type: "string", default: "1" },
    shards: { type: "string", default: "2" },
  },
});
const [minutes, seed, shards] = [Number(values.minutes), Number(values.seed), Number(values.shards)];
if (!(minutes > 0) || !Number.isInteger(seed) || !Number.isInteger(shards)) {
  console.error("usage: npm run soak -- [--minutes M] [--seed S] [--shards N]");
  process.exit(2);
}

/** Schema of the documents from generate.ts. */
const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "brand", type: "string", facet: true },
    { name: "categories", type: "string[]", facet: true },
    { name: "price", type: "float" },
    { name: "in_stock", type: "bool", facet: true },
    { name: "description", type: "string" },
  ],
};

const dataDir = mkdtempSync(join(tmpdir(), "skein-soak-"));
const options = { main: MAIN, dataDir, adminKey: ADMIN_KEY, shards, durability: null };
const server = await ServerProcess.start(options);
const load = new SoakLoad(server.url.origin, seed);
await load.prepare(SCHEMA);
console.log(`soak: ${minutes} minutes, seed ${seed}, ${shards} shards, pid ${server.pid}`);
const samples: Sample[] = [];
const started = performance.now();
const sampleMs = 1000 * Math.min(SAMPLE_SECONDS_MAX, (minutes * 60) / SAMPLES_MIN / 2);
const running = load.run(seed);
while (performance.now() - started < minutes * 60_000) {
  await new Promise((resolve) => setTimeout(resolve, sampleMs));
  samples.push(takeSample());
}
load.stop();
await running;
await server.stop();
rmSync(dataDir, { recursive: true, force: true });

const verdict = judge(samples, load.failed);
const column = (name: keyof Sample): number[] => samples.map((sample) => sample[name]);
console.log(chartLine("resident MiB", column("residentMiB")));
console.log(chartLine("open handles", column("handles")));
console.log(chartLine("p50 ms", column("p50")));
console.log(chartLine("p99 ms", column("p99")));
const result = {
  machine: machineCard(`npm run soak -- --minutes ${minutes} --seed ${seed} --shards ${shards}`),
  queries: load.queries,
  writes: load.writes,
  verdict,
  samples,
};
mkdirSync("bench/results", { recursive: true });
writeFileSync("bench/results/soak.json", `${JSON.stringify(result, null, 1)}\n`);
console.log(`${load.queries} queries, ${load.writes} batches; written to bench/results/soak.json`);
console.log(verdict.problems.length === 0 ? "steady" : `NOT STEADY: ${verdict.problems.join("; ")}`);
process.exit(verdict.problems.length === 0 ? 0 : 1);

function takeSample(): Sample {
  const latencies = load.takeLatencies();
  const rank = (share: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(share * latencies.length))] ?? 0;
  return {
    seconds: Math.round((performance.now() - started) / 1000),
    ...heldBy(server.pid),
    p50: rank(0.5),
    p99: rank(0.99),
    queries: latencies.length,
  };
}
