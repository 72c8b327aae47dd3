// `npm run bench:feeds` has a real server read a feed in each format and, for comparison, import the same
// documents. Prints items per second, processor time, memory and the latency of concurrent searches, and
// writes them to bench/results.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import { ApiClient } from "../server/cli/api.js";
import { createIndex } from "../server/cli/commands/index-setup.js";
import type { RunView } from "../server/documents/sources/run-view.js";
import { importFile } from "./load/bulk-import.js";
import { type DocumentsFile, writeDocuments } from "./load/documents-file.js";
import type { Latencies, PreparedQuery } from "./load/drive.js";
import { FEED_KINDS, serveFeeds, writeFeeds } from "./load/feed-files.js";
import { prepare } from "./load/measure.js";
import { PacedReader } from "./load/paced-reads.js";
import { drawQueries } from "./load/queries.js";
import { ServerProcess } from "./load/server-process.js";
import { settle } from "./load/settle.js";
import { readWorkload } from "./load/workload.js";
import { machineCard, machineText } from "./machine.js";

interface Options {
  readonly items: string;
  readonly formats: string;
  readonly shards: string;
  readonly out: string;
}

interface Row {
  readonly name: string;
  readonly itemsPerSecond: number;
  readonly cpuSeconds: number;
  /**
   * Resident bytes above the starting level: the peak during the run (`peakBytes`) and the level after it
   * (`keptBytes`).
   */
  readonly peakBytes: number;
  readonly keptBytes: number;
  /**
   * Latencies, each counted from when the search was due, of searches in an index that exists before the run
   * starts.
   */
  readonly searches: Latencies;
}

const ADMIN_KEY = "bench-admin-key-0123456789";
/** The index searched throughout the run. */
const SEARCHED = "searched";
const IMPORTED = "imported";
const SEARCHES_PER_SECOND = 20;
const IDLE_MS = 10_000;
const LOOK_MS = 100;

async function run(options: Options): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "skein-feeds-"));
  const kinds = options.formats.split(",");
  const workload = { ...readWorkload("catalogue"), data: { generate: Number(options.items), seed: 1 } };
  const config = join(folder, "config.json");
  writeFileSync(config, JSON.stringify({ feeds: { allow_hosts: ["127.0.0.1"] } }));
  process.env.SKEIN_CONFIG = config;
  const documents = join(folder, "documents.jsonl");
  const file = await writeDocuments(workload.data, workload.seed, null, documents);
  await writeFeeds(documents, kinds, folder);
  const feeds = await serveFeeds(folder);
  const dataDir = join(folder, "data");
  const main = "dist/server/cli/main.js";
  const shards = Number(options.shards);
  const server = await ServerProcess.start({ main, dataDir, adminKey: ADMIN_KEY, shards, durability: null });
  const client = new ApiClient(server.url.href, ADMIN_KEY, 4);
  try {
    await fill(client, SEARCHED, file);
    await settle(client, SEARCHED);
    const target = { client, url: client.url, key: ADMIN_KEY, index: SEARCHED, server };
    const searches = prepare(target, drawQueries(workload, file.schema, file.sample, 2_000));
    const bench = new FeedBench(client, server, file, searches);
    await bench.measured("searches alone, cold", null, () => sleep(IDLE_MS));
    const rows = [await bench.measured("searches alone", null, () => sleep(IDLE_MS)), await bench.import()];
    for (const kind of kinds) rows.push(...(await bench.feed(kind, `${feeds.origin}/${kind}`)));
    report(rows, file, options);
  } finally {
    client.close();
    await server.stop();
    feeds.server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(client: ApiClient, index: string, file: DocumentsFile): Promise<void> {
  await createIndex(client, index, file.schema);
  await importFile(client, file.path, { index, linesPerRequest: 1_000, requestsAtATime: 4 });
}

class FeedBench {
  readonly #client: ApiClient;
  readonly #server: ServerProcess;
  readonly #file: DocumentsFile;
  readonly #searches: readonly PreparedQuery[];

  constructor(
    client: ApiClient,
    server: ServerProcess,
    file: DocumentsFile,
    searches: readonly PreparedQuery[],
  ) {
    this.#client = client;
    this.#server = server;
    this.#file = file;
    this.#searches = searches;
  }

  async import(): Promise<Row> {
    const row = await this.measured("import", IMPORTED, () => fill(this.#client, IMPORTED, this.#file));
    await this.#client.json("DELETE", `/v1/indexes/${IMPORTED}`);
    return row;
  }

  /** Runs the feed twice: into an empty index, then again without changes. */
  async feed(kind: string, url: string): Promise<Row[]> {
    await createIndex(this.#client, kind, this.#file.schema);
    const all = `/v1/indexes/${kind}/data-sources`;
    const body = { url, format: FEED_KINDS[kind]!.format, sync_mode: "replace" };
    const made = (await this.#client.json("POST", all, body)) as { data: { id: number } };
    const rows: Row[] = [];
    for (const what of ["first", "unchanged"]) {
      rows.push(await this.measured(`${kind}, ${what}`, kind, () => this.#sync(`${all}/${made.data.id}`)));
    }
    await this.#client.json("DELETE", `/v1/indexes/${kind}`);
    return rows;
  }

  async #sync(source: string): Promise<void> {
    const queued = (await this.#client.json("POST", `${source}/sync-now`)) as { data: { run_id: number } };
    for (;;) {
      const path = `${source}/runs/${queued.data.run_id}`;
      const { data: run } = (await this.#client.json("GET", path)) as { data: RunView };
      if (run.status === "completed" && run.documents_failed === 0) return;
      if (run.status !== "queued" && run.status !== "running")
        throw new Error(`${run.status}: ${run.error}, ${JSON.stringify(run.errors[0])}`);
      await sleep(LOOK_MS);
    }
  }

  /** `index` is the index that `work` fills with all documents; null if it fills none. */
  async measured(name: string, index: string | null, work: () => Promise<unknown>): Promise<Row> {
    const before = this.#server.memory()?.now ?? 0;
    let peak = before;
    const looking = setInterval(() => {
      peak = Math.max(peak, this.#server.memory()?.now ?? 0);
    }, LOOK_MS);
    const cpu = this.#server.cpuSeconds() ?? 0;
    const started = performance.now();
    const reader = await PacedReader.start(this.#server.url, this.#searches, SEARCHES_PER_SECOND);
    await work();
    const seconds = (performance.now() - started) / 1000;
    clearInterval(looking);
    const { failed, sinceDue: searches } = await reader.stop();
    if (failed > 0) throw new Error(`${failed} searches failed`);
    const cpuSeconds = (this.#server.cpuSeconds() ?? 0) - cpu;
    if (index !== null) await settle(this.#client, index);
    return {
      name,
      itemsPerSecond: index === null ? 0 : this.#file.documents / seconds,
      cpuSeconds,
      peakBytes: peak - before,
      keptBytes: (this.#server.memory()?.now ?? 0) - before,
      searches,
    };
  }
}

function report(rows: readonly Row[], file: DocumentsFile, options: Options): void {
  const card = machineCard(`npm run bench:feeds -- ${process.argv.slice(2).join(" ")}`.trim());
  const perItem = (row: Row): string =>
    row.itemsPerSecond === 0 ? "" : ((row.cpuSeconds * 1e6) / file.documents).toFixed(0);
  const lines = [
    "# Feeds",
    "",
    machineText(card),
    `\`${card.command}\``,
    "",
    `${file.name}: ${file.documents} documents, ${(file.jsonBytes / 1e6).toFixed(0)} MB of JSON; ${options.shards} shard(s). Searches: ${SEARCHES_PER_SECOND} a second in another index with the same documents, since they were due. The feeds' server and the searches run on the same cores. Memory above that just before: the most while it ran, and what stays.`,
    "",
    "| | items/s | server's CPU µs an item | memory MiB | stays MiB | searches p50 ms | p99 ms |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...rows.map((row) => {
      const { p50, p99 } = row.searches;
      const [most, stays] = [row.peakBytes, row.keptBytes].map((bytes) => (bytes / 2 ** 20).toFixed(0));
      const latency = `${p50.toFixed(1)} | ${p99.toFixed(1)}`;
      return `| ${row.name} | ${row.itemsPerSecond.toFixed(0)} | ${perItem(row)} | ${most} | ${stays} | ${latency} |`;
    }),
  ];
  const markdown = `${lines.join("\n")}\n`;
  mkdirSync(options.out, { recursive: true });
  writeFileSync(join(options.out, "feeds.md"), markdown);
  writeFileSync(join(options.out, "feeds.json"), `${JSON.stringify({ machine: card, rows }, null, 2)}\n`);
  process.stdout.write(markdown);
}

const program = new Command("bench:feeds")
  .description("feeds of each format compared with importing the same documents")
  .option("--items <n>", "items per feed", "100000")
  .option("--formats <list>", Object.keys(FEED_KINDS).join(","), Object.keys(FEED_KINDS).join(","))
  .option("--shards <n>", "worker threads", "1")
  .option("--out <folder>", "folder for the results", "bench/results")
  .action(run);
await program.parseAsync();
