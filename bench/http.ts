// `npm run bench:http` imports a data file into a server, sends a mix of queries, and measures both from the
// client's side. Prints the results and writes them to files. `--help` shows the options.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { Command } from "commander";
import { ApiClient } from "../server/cli/api.js";
import { createIndex } from "../server/cli/commands/index-setup.js";
import { measureBaseline } from "./load/baseline.js";
import { importFile } from "./load/bulk-import.js";
import { type DocumentsFile, writeDocuments } from "./load/documents-file.js";
import { foundCounts, measureKinds, measureLoad, prepare, type Target } from "./load/measure.js";
import { measureManyIndexes, measureRounds } from "./load/memory-rounds.js";
import { PacedReader } from "./load/paced-reads.js";
import { type DrawnQuery, drawQueries } from "./load/queries.js";
import { sectionsOf } from "./load/segment-sections.js";
import { diskBytes, ServerProcess } from "./load/server-process.js";
import { settle, statsOf } from "./load/settle.js";
import { readWorkload, type Workload } from "./load/workload.js";
import { machineCard } from "./machine.js";
import { median } from "./median.js";
import { type HttpResult, writeResult } from "./report.js";

interface Options {
  readonly workload?: string;
  readonly data?: string;
  readonly generated?: string;
  readonly id?: string;
  readonly name?: string;
  readonly seconds?: string;
  readonly concurrency?: string;
  readonly shards?: string;
  readonly durability?: string;
  readonly batchSize?: string;
  readonly parallel: string;
  readonly readsPerSecond: string;
  readonly rounds: string;
  readonly indexes: string;
  readonly profile?: string;
  readonly url?: string;
  readonly key?: string;
  readonly server: string;
  readonly out: string;
}

const INDEX = "bench";
/** Uid of the first index created in a data directory. */
const INDEX_UID = 1;
const QUERIES_DRAWN = 20_000;
const ANSWERS_CHECKED = 300;
const ADMIN_KEY = "bench-admin-key-0123456789";

const program = new Command("bench:http")
  .description("load a server with documents and queries and measure both")
  .option("--workload <name>", "a file in bench/workloads, or a path (shop; catalogue with --generated)")
  .option(
    "--data <file>",
    "documents to use instead of the workload's (JSON lines, JSON, CSV, plain or gzip)",
  )
  .option("--generated <n>", "number of generated products to use instead")
  .option("--id <field>", "the documents' id field")
  .option("--name <name>", "name of the result (workload and data file)")
  .option("--seconds <n>", "seconds per load")
  .option("--concurrency <list>", "numbers of clients, for instance 1,32")
  .option("--shards <n>", "shards of the started server")
  .option("--durability <mode>", "fsync or os")
  .option("--batch-size <n>", "documents per import request (a hundredth, 2000 to 10000)")
  .option("--parallel <n>", "import requests at a time", "3")
  .option("--reads-per-second <n>", "queries during the import, 0 for none", "20")
  .option("--rounds <n>", "rounds of creating, filling and dropping an index", "0")
  .option("--indexes <n>", "number of small indexes side by side", "0")
  .option("--profile <folder>", "where the server's threads leave CPU profiles of the import and the queries")
  .option("--url <address>", "measure this server instead of starting one")
  .option("--key <key>", "admin key of the server at --url")
  .option("--server <file>", "the compiled command line to start", "dist/server/cli/main.js")
  .option("--out <folder>", "folder for the results", "bench/results")
  .action(run);
await program.parseAsync();

async function run(options: Options): Promise<void> {
  const workload = configured(options);
  const folder = mkdtempSync(join(tmpdir(), "skein-bench-"));
  const dataDir = join(folder, "data");
  const start = (profileDir: string | null) =>
    ServerProcess.start({
      main: options.server,
      dataDir,
      adminKey: ADMIN_KEY,
      shards: options.shards === undefined ? null : Number(options.shards),
      durability: options.durability ?? null,
      profileDir,
    });
  let server: ServerProcess | null = null;
  try {
    const path = join(folder, "documents.jsonl");
    const file = await writeDocuments(workload.data, workload.seed, options.id ?? null, path);
    const queries = drawQueries(workload, file.schema, file.sample, QUERIES_DRAWN);
    if (options.url === undefined) server = await start(options.profile ?? null);
    const target = targetOf(server, options);
    const { client } = target;
    const imported = await load(target, file, queries, options);
    const settledSeconds = await settle(client, INDEX);
    const afterImport = server?.memory() ?? null;
    const answers = await checkAnswers(target, queries);
    const alone = await measureKinds(target, queries, workload);
    const prepared = prepare(target, queries);
    const mixed: HttpResult["mixed"][number][] = [];
    for (const concurrency of workload.concurrency) {
      mixed.push(await measureLoad(target, prepared, concurrency, workload));
    }
    const afterQueries = server?.memory() ?? null;
    const baseline = server === null ? null : await measureBaseline(target, workload.seconds);
    const { shards } = await statsOf(client, INDEX);
    client.close();
    let stopped: Partial<Pick<HttpResult, "diskBytes" | "index" | "restartMs">> = {};
    let lasting: Partial<Pick<HttpResult, "rounds" | "manyIndexes">> = {};
    if (server !== null) {
      await server.stop();
      stopped = { diskBytes: diskBytes(dataDir), index: await sectionsOf(dataDir, INDEX_UID) };
      const restarted = performance.now();
      server = await start(null);
      await firstAnswer(server.url, queries[0]!);
      stopped = { ...stopped, restartMs: performance.now() - restarted };
      await server.stop();
      rmSync(dataDir, { recursive: true });
      server = await start(null);
      const again = async () => {
        server = await start(null);
        return { client: targetOf(server, options).client, server };
      };
      lasting = await measureMemory(targetOf(server, options).client, server, file, options, again);
    }
    const result: HttpResult = {
      name: options.name ?? resultName(workload, options),
      why: workload.why,
      machine: machineCard(`npm run bench:http -- ${process.argv.slice(2).join(" ")}`.trim()),
      shards,
      data: { name: basename(file.name), documents: file.documents, jsonBytes: file.jsonBytes },
      import: imported,
      settledSeconds,
      answers,
      alone,
      mixed,
      baseline,
      memory: afterImport === null || afterQueries === null ? null : { afterImport, afterQueries },
      diskBytes: stopped.diskBytes ?? null,
      index: stopped.index ?? null,
      restartMs: stopped.restartMs ?? null,
      rounds: lasting.rounds ?? null,
      manyIndexes: lasting.manyIndexes ?? null,
    };
    process.stdout.write(`${writeResult(options.out, result.name, result)}\n`);
  } finally {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function targetOf(server: ServerProcess | null, options: Options): Target {
  const key = server === null ? (options.key ?? "") : ADMIN_KEY;
  const client = new ApiClient(
    server === null ? options.url! : server.url.href,
    key,
    Number(options.parallel),
  );
  return { client, url: client.url, key, index: INDEX, server };
}

function configured(options: Options): Workload {
  const fallback = options.generated === undefined ? "shop" : "catalogue";
  const workload = readWorkload(options.workload ?? fallback);
  const data = options.data === undefined ? {} : { data: { file: options.data } };
  const generated =
    options.generated === undefined ? {} : { data: { generate: Number(options.generated), seed: 1 } };
  return {
    ...workload,
    ...data,
    ...generated,
    ...(options.seconds === undefined ? {} : { seconds: Number(options.seconds) }),
    ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency.split(",").map(Number) }),
  };
}

function resultName(workload: Workload, options: Options): string {
  if (options.generated !== undefined) return `${workload.name}-${options.generated}`;
  if (options.data === undefined) return workload.name;
  const parts = options.data
    .split("/")
    .slice(-2)
    .map((part) => part.replace(/\..*$/, ""));
  return `${workload.name}-${parts.join("-")}`.replace(/[^\w.-]/g, "-").toLowerCase();
}

/** Imports at full speed while a few queries run. */
async function load(
  target: Target,
  file: DocumentsFile,
  queries: readonly DrawnQuery[],
  options: Options,
): Promise<HttpResult["import"]> {
  const { client, server } = target;
  await createIndex(client, INDEX, file.schema);
  const perSecond = Number(options.readsPerSecond);
  const reader =
    perSecond === 0 ? null : await PacedReader.start(target.url, prepare(target, queries), perSecond);
  const clientBefore = process.cpuUsage();
  const serverBefore = server?.cpuSeconds() ?? null;
  const outcome = await importFile(client, file.path, {
    index: INDEX,
    linesPerRequest: Number(options.batchSize ?? Math.min(10_000, Math.max(2_000, file.documents / 100))),
    requestsAtATime: Number(options.parallel),
  });
  const serverAfter = server?.cpuSeconds() ?? null;
  const clientCpu = process.cpuUsage(clientBefore);
  return {
    ...outcome,
    reads: (await reader?.stop()) ?? null,
    serverCpuSeconds: serverBefore === null || serverAfter === null ? null : serverAfter - serverBefore,
    clientCpuSeconds: (clientCpu.user + clientCpu.system) / 1e6,
  };
}

async function measureMemory(
  client: ApiClient,
  server: ServerProcess,
  file: DocumentsFile,
  options: Options,
  restart: () => Promise<{ client: ApiClient; server: ServerProcess }>,
): Promise<Pick<HttpResult, "rounds" | "manyIndexes">> {
  const [rounds, indexes] = [Number(options.rounds), Number(options.indexes)];
  try {
    return {
      rounds: rounds === 0 ? null : await measureRounds(client, server, file, rounds),
      manyIndexes: indexes === 0 ? null : await measureManyIndexes(client, server, file, indexes, restart),
    };
  } finally {
    client.close();
  }
}

/** Samples the answers, because a benchmark of empty answers would be worthless. */
async function checkAnswers(target: Target, queries: readonly DrawnQuery[]): Promise<HttpResult["answers"]> {
  const found = await foundCounts(target, queries.slice(-ANSWERS_CHECKED));
  const empty = found.filter((n) => n === 0).length;
  return { checked: found.length, empty, medianFound: median(found) };
}

/** Repeats one query until it is answered. */
async function firstAnswer(url: URL, query: DrawnQuery): Promise<void> {
  const client = new ApiClient(url.href, ADMIN_KEY, 1);
  try {
    for (;;) {
      const body = { parts: [Buffer.from(JSON.stringify(query.body))], contentType: "application/json" };
      const reply = await client.exchange("POST", `/v1/indexes/${INDEX}/query`, body);
      if (reply.status === 200) return;
      if (reply.status !== 503)
        throw new Error(`after the restart a query got ${reply.status}: ${reply.body.toString()}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  } finally {
    client.close();
  }
}
