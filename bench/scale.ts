// `npm run bench:scale` runs the same queries on the same documents with more and more shards and clients.
// Prints throughput, latency, messages per query and the load of the HTTP thread and the shards, and writes
// them to bench/results.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { ApiClient } from "../server/cli/api.js";
import { createIndex } from "../server/cli/commands/index-setup.js";
import { importFile } from "./load/bulk-import.js";
import { type DocumentsFile, writeDocuments } from "./load/documents-file.js";
import { type MeasuredLoad, measureLoad, prepare, type Target } from "./load/measure.js";
import { drawQueries } from "./load/queries.js";
import { ServerProcess } from "./load/server-process.js";
import { settle } from "./load/settle.js";
import { readWorkload, type Workload } from "./load/workload.js";
import { machineCard, machineText } from "./machine.js";

interface Options {
  readonly workload: string;
  readonly generated: string;
  readonly shards: string;
  readonly clients: string;
  readonly seconds: string;
  readonly out: string;
}

interface Row {
  readonly shards: number;
  readonly load: MeasuredLoad;
}

const INDEX = "bench";
const ADMIN_KEY = "bench-admin-key-0123456789";
const QUERIES_DRAWN = 10_000;
const WARMUP_SECONDS = 1;

const program = new Command("bench:scale")
  .description("the same queries with different numbers of shards and clients")
  .option("--workload <name>", "a file in bench/workloads, or a path", "catalogue")
  .option("--generated <n>", "products in the index", "100000")
  .option("--shards <list>", "numbers of shards", "1,2,4,8,16")
  .option("--clients <list>", "numbers of clients", "1,8,32,128")
  .option("--seconds <n>", "seconds per load", "5")
  .option("--out <folder>", "folder for the results", "bench/results")
  .action(run);
await program.parseAsync();

async function run(options: Options): Promise<void> {
  const workload: Workload = {
    ...readWorkload(options.workload),
    data: { generate: Number(options.generated), seed: 1 },
    warmupSeconds: WARMUP_SECONDS,
    seconds: Number(options.seconds),
  };
  const folder = mkdtempSync(join(tmpdir(), "skein-scale-"));
  try {
    const path = join(folder, "documents.jsonl");
    const file = await writeDocuments(workload.data, workload.seed, null, path);
    const rows: Row[] = [];
    for (const shards of numbers(options.shards)) {
      rows.push(...(await measureShards(shards, join(folder, `data-${shards}`), file, workload, options)));
    }
    report(rows, file, options);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureShards(
  shards: number,
  dataDir: string,
  file: DocumentsFile,
  workload: Workload,
  options: Options,
): Promise<Row[]> {
  const main = "dist/server/cli/main.js";
  const server = await ServerProcess.start({ main, dataDir, adminKey: ADMIN_KEY, shards, durability: "os" });
  const client = new ApiClient(server.url.href, ADMIN_KEY, 2);
  try {
    await createIndex(client, INDEX, file.schema);
    await importFile(client, file.path, { index: INDEX, linesPerRequest: 10_000, requestsAtATime: 2 });
    await settle(client, INDEX);
    const target: Target = { client, url: client.url, key: ADMIN_KEY, index: INDEX, server };
    const queries = prepare(target, drawQueries(workload, file.schema, file.sample, QUERIES_DRAWN));
    const rows: Row[] = [];
    for (const clients of numbers(options.clients)) {
      rows.push({ shards, load: await measureLoad(target, queries, clients, workload) });
    }
    return rows;
  } finally {
    client.close();
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function report(rows: readonly Row[], file: DocumentsFile, options: Options): void {
  const card = machineCard(`npm run bench:scale -- ${process.argv.slice(2).join(" ")}`.trim());
  const percent = (part: number): string => `${(part * 100).toFixed(0)} %`;
  const lines = [
    "# Shards and clients",
    "",
    machineText(card),
    `\`${card.command}\``,
    "",
    `${file.name}, the mix of \`${options.workload}\`, ${options.seconds} seconds each. Busy: share of the time in which a thread's event loop was not waiting; more threads than cores wait for each other, which counts as busy. Shards: the mean of all.`,
    "",
    "| shards | clients | queries/s | per CPU s | remembered | p50 ms | p99 ms | messages a query | HTTP thread busy | its garbage collection | shards busy | CPU s client |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ...rows.map(({ shards, load }) => {
      const { usage, latency } = load;
      const perCpu =
        usage.cpuSeconds === null ? "?" : (load.queries / Math.max(0.01, usage.cpuSeconds)).toFixed(0);
      const busy = usage.shardsBusy.reduce((sum, one) => sum + one, 0) / Math.max(1, usage.shardsBusy.length);
      return `| ${shards} | ${load.concurrency} | ${load.perSecond.toFixed(0)} | ${perCpu} | ${percent(usage.remembered)} | ${latency.p50.toFixed(2)} | ${latency.p99.toFixed(2)} | ${usage.messagesPerQuery.toFixed(1)} | ${percent(usage.httpBusy)} | ${percent(usage.httpGarbage)} | ${percent(busy)} | ${load.clientCpuSeconds.toFixed(1)} |`;
    }),
  ];
  const markdown = `${lines.join("\n")}\n`;
  mkdirSync(options.out, { recursive: true });
  writeFileSync(join(options.out, "scale.md"), markdown);
  writeFileSync(join(options.out, "scale.json"), `${JSON.stringify({ machine: card, rows }, null, 2)}\n`);
  process.stdout.write(markdown);
}

function numbers(list: string): number[] {
  return list.split(",").map(Number);
}
