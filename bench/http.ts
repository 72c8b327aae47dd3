// End-to-end load: a server, a data file, a query mix; prints and writes what it measured.
// `npm run bench:http -- --help` shows the options.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { Command } from "commander";
import { ApiClient } from "../server/cli/api.js";
import { createIndex } from "../server/cli/index-setup.js";
import { upload } from "../server/cli/upload/sender.js";
import { requestBytes } from "./load/connection.js";
import { Dataset } from "./load/dataset.js";
import { drive, type PreparedQuery } from "./load/drive.js";
import { type DrawnQuery, drawQueries } from "./load/queries.js";
import { diskBytes, ServerProcess } from "./load/server-process.js";
import { readWorkload, type Workload } from "./load/workload.js";
import { machineCard } from "./machine.js";
import { type HttpResult, writeResult } from "./report.js";

interface Options {
  readonly workload: string;
  readonly data?: string;
  readonly id?: string;
  readonly name?: string;
  readonly seconds?: string;
  readonly concurrency?: string;
  readonly shards?: string;
  readonly durability?: string;
  readonly batchSize: string;
  readonly parallel: string;
  readonly url?: string;
  readonly key?: string;
  readonly server: string;
  readonly out: string;
}

const INDEX = "bench";
const QUERIES_DRAWN = 20_000;
const ANSWERS_CHECKED = 300;
const SETTLE_SECONDS_MAX = 120;
const ADMIN_KEY = "bench-admin-key-0123456789";

const program = new Command("bench:http")
  .description("load a server with documents and queries and measure both")
  .option("--workload <name>", "a file in bench/workloads, or a path", "shop")
  .option(
    "--data <file>",
    "documents to use instead of the workload's (JSON lines, JSON, CSV, plain or gzip)",
  )
  .option("--id <field>", "the documents' id field")
  .option("--name <name>", "name of the result (workload and data file)")
  .option("--seconds <n>", "seconds of each load")
  .option("--concurrency <list>", "numbers of clients, for instance 1,32")
  .option("--shards <n>", "shards of the started server")
  .option("--durability <mode>", "fsync or os")
  .option("--batch-size <n>", "documents per import request", "1000")
  .option("--parallel <n>", "import requests at a time", "4")
  .option("--url <address>", "measure this server instead of starting one")
  .option("--key <key>", "admin key of the server at --url")
  .option("--server <file>", "the compiled command line to start", "dist/server/cli/main.js")
  .option("--out <folder>", "where results go", "bench/results")
  .action(run);
await program.parseAsync();

async function run(options: Options): Promise<void> {
  const workload = configured(readWorkload(options.workload), options);
  const dataDir = mkdtempSync(join(tmpdir(), "skein-bench-"));
  const start = () =>
    ServerProcess.start({
      main: options.server,
      dataDir,
      adminKey: ADMIN_KEY,
      shards: options.shards === undefined ? null : Number(options.shards),
      durability: options.durability ?? null,
    });
  let server = options.url === undefined ? await start() : null;
  try {
    const key = server === null ? (options.key ?? "") : ADMIN_KEY;
    const client = new ApiClient(
      server === null ? options.url! : server.url.href,
      key,
      Number(options.parallel),
    );
    const dataset = await Dataset.open(workload.data, workload.seed, options.id ?? null);
    const imported = await load(client, dataset, server, options);
    const settledSeconds = await settle(client);
    const memoryAfterImport = server?.memory() ?? null;
    const queries = drawQueries(workload, dataset.schema, dataset.sample(), QUERIES_DRAWN);
    const answers = await checkAnswers(client, queries);
    const loads = await measure(client.url, key, queries, workload, server);
    const memory = server?.memory() ?? null;
    client.close();
    let disk: HttpResult["disk"] = null;
    let restartMs: number | null = null;
    if (server !== null) {
      await server.stop();
      const bytes = diskBytes(dataDir);
      disk = { bytes, bytesPerDocument: bytes / Math.max(1, dataset.documents) };
      const restarted = performance.now();
      server = await start();
      await firstAnswer(server.url, queries[0]!);
      restartMs = performance.now() - restarted;
    }
    const name = options.name ?? resultName(workload, options);
    const result: HttpResult = {
      name,
      why: workload.why,
      machine: machineCard(`npm run bench:http -- ${process.argv.slice(2).join(" ")}`.trim()),
      data: { name: basename(dataset.name), documents: dataset.documents, jsonBytes: dataset.bytes },
      import: imported,
      settledSeconds,
      answers,
      loads,
      residentBytes:
        memory === null || memoryAfterImport === null
          ? null
          : { afterImport: memoryAfterImport.now, afterQueries: memory.now, peak: memory.peak },
      disk,
      restartMs,
    };
    process.stdout.write(`${writeResult(options.out, name, result)}\n`);
  } finally {
    await server?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function configured(workload: Workload, options: Options): Workload {
  return {
    ...workload,
    ...(options.data === undefined ? {} : { data: { file: options.data } }),
    ...(options.seconds === undefined ? {} : { seconds: Number(options.seconds) }),
    ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency.split(",").map(Number) }),
  };
}

function resultName(workload: Workload, options: Options): string {
  if (options.data === undefined) return workload.name;
  const parts = options.data
    .split("/")
    .slice(-2)
    .map((part) => part.replace(/\..*$/, ""));
  return `${workload.name}-${parts.join("-")}`.replace(/[^\w.-]/g, "-").toLowerCase();
}

async function load(
  client: ApiClient,
  dataset: Dataset,
  server: ServerProcess | null,
  options: Options,
): Promise<HttpResult["import"]> {
  await createIndex(client, INDEX, dataset.schema);
  const clock = startClock(server);
  let shown = 0;
  const counts = await upload(client, dataset.groups(), {
    index: INDEX,
    action: "upsert",
    batchSize: Number(options.batchSize),
    parallel: Number(options.parallel),
    onProgress: () => {},
    onRejected: (rejection) => {
      if (shown++ < 10) process.stderr.write(`rejected: record ${rejection.at}: ${rejection.error}\n`);
    },
  });
  const used = clock();
  return {
    seconds: used.seconds,
    documentsPerSecond: counts.succeeded / used.seconds,
    rejected: counts.rejected,
    serverCpuSeconds: used.serverCpuSeconds,
    clientCpuSeconds: used.clientCpuSeconds,
  };
}

/** Waits until no shard merges any more. Null when the statistics do not tell or it takes too long. */
async function settle(client: ApiClient): Promise<number | null> {
  const started = performance.now();
  for (;;) {
    const stats = (await client.json("GET", `/v1/indexes/${INDEX}/stats`)) as { data: { merging?: boolean } };
    const seconds = (performance.now() - started) / 1000;
    if (stats.data.merging === false) return seconds;
    if (stats.data.merging === undefined || seconds > SETTLE_SECONDS_MAX) return null;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** A benchmark of empty answers would be worth nothing: look at some. */
async function checkAnswers(
  client: ApiClient,
  queries: readonly DrawnQuery[],
): Promise<HttpResult["answers"]> {
  const found: number[] = [];
  for (const query of queries.slice(-ANSWERS_CHECKED)) {
    const answer = (await client.json("POST", `/v1/indexes/${INDEX}/query`, query.body)) as { found: number };
    found.push(answer.found);
  }
  found.sort((a, b) => a - b);
  const empty = found.filter((n) => n === 0).length;
  return { checked: found.length, empty, medianFound: found[found.length >> 1] ?? 0 };
}

async function measure(
  url: URL,
  key: string,
  queries: readonly DrawnQuery[],
  workload: Workload,
  server: ServerProcess | null,
): Promise<HttpResult["loads"]> {
  const prepared: PreparedQuery[] = queries.map(({ kind, body }) => ({
    kind,
    request: requestBytes(url, `/v1/indexes/${INDEX}/query`, key, body),
  }));
  const loads: HttpResult["loads"][number][] = [];
  let from = 0;
  for (const concurrency of workload.concurrency) {
    const warm = await drive(url, prepared, concurrency, workload.warmupSeconds, from);
    from += warm.queries;
    const clock = startClock(server);
    const result = await drive(url, prepared, concurrency, workload.seconds, from);
    from += result.queries;
    const { serverCpuSeconds, clientCpuSeconds } = clock();
    loads.push({ ...result, serverCpuSeconds, clientCpuSeconds });
  }
  return loads;
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

/** Starts measuring; the returned function says what was used since. */
function startClock(server: ServerProcess | null) {
  const started = performance.now();
  const clientBefore = process.cpuUsage();
  const serverBefore = server?.cpuSeconds() ?? null;
  return () => {
    const client = process.cpuUsage(clientBefore);
    const serverNow = server?.cpuSeconds() ?? null;
    return {
      seconds: (performance.now() - started) / 1000,
      clientCpuSeconds: (client.user + client.system) / 1e6,
      serverCpuSeconds: serverBefore === null || serverNow === null ? null : serverNow - serverBefore,
    };
  };
}
