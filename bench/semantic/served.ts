// Measures the cost of vectors on a server: alternating imports with and without them, queries in each mode
// over HTTP, keyword queries on copies of an index with and without vectors, memory after a restart. Returns
// table lines.

import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiClient } from "../../server/cli/api.js";
import { createIndex } from "../../server/cli/commands/index-setup.js";
import { importFile } from "../load/bulk-import.js";
import { type DocumentsFile, writeDocuments } from "../load/documents-file.js";
import { drive } from "../load/drive.js";
import { measureLoad, prepare } from "../load/measure.js";
import { drawQueries } from "../load/queries.js";
import { ServerProcess } from "../load/server-process.js";
import { merged, settle } from "../load/settle.js";
import { readWorkload, type Workload } from "../load/workload.js";
import { median } from "../median.js";
import { cutFile, joinFiles } from "./cut-file.js";
import { keywordTrials } from "./keyword-trials.js";
import { writePushed } from "./pushed-file.js";
import { type Running, stop } from "./running.js";

const ADMIN_KEY = "bench-admin-key-0123456789";
const MODES = ["keyword", "auto", "hybrid", "semantic"] as const;
/**
 * Number of parts that the documents are cut into. A model is trained on half of them; the measured parts are
 * too small to trigger another training.
 */
const PARTS = 12;
const LEARNED_PARTS = 6;
const MEASURED_PARTS = 5;
const IMPORT_ROUNDS = 6;
/** The second index without vectors is the control. */
const KEYWORD_SOURCES = ["documents", "none", "none"] as const;
const QUERIES_DRAWN = 4_000;
const WARM_QUERIES = 300;
const POLL_MS = 200;
const MIB = 2 ** 20;
const DATA = "data";

/** Cost of one import. */
interface Spent {
  seconds: number;
  cpuSeconds: number;
  /** CPU seconds including all merges that the import causes. */
  settledCpuSeconds: number;
}

interface ImportFiles {
  readonly learned: string;
  readonly measured: string;
}

export interface ServedOptions {
  readonly folder: string;
  readonly data: Workload["data"];
  /** Begins with `none` and `documents`, which the queries need. */
  readonly sources: readonly string[];
  readonly shards: number;
  readonly seconds: number;
}

/** Returns the table lines for these documents. */
export async function served(options: ServedOptions): Promise<string[]> {
  const bench = await ServedBench.prepare(options);
  return [
    ...(await bench.imports()),
    ...(await bench.modes()),
    ...(await bench.keywords()),
    ...(await bench.memory()),
  ];
}

class ServedBench {
  readonly #options: ServedOptions;
  readonly #file: DocumentsFile;
  readonly #configFile: string;

  private constructor(options: ServedOptions, file: DocumentsFile, configFile: string) {
    this.#options = options;
    this.#file = file;
    this.#configFile = configFile;
  }

  static async prepare(options: ServedOptions): Promise<ServedBench> {
    const { folder, data } = options;
    const file = await writeDocuments(data, 7, null, join(folder, "documents.jsonl"));
    const configFile = join(folder, "config.json");
    writeFileSync(configFile, JSON.stringify({ limits: { rememberedAnswersBytesMax: 1 } }));
    return new ServedBench(options, file, configFile);
  }

  /**
   * Each round uses new indexes and reverses the order of the sources, because the timing of large merges
   * depends on which index came first. Each import is long, so that it matters little that V8 first
   * recompiles the code that it dropped while the server was idle.
   */
  imports(): Promise<string[]> {
    const { sources } = this.#options;
    return this.#served(async ({ client, server }) => {
      const files = await this.#files();
      const spent = new Map<string, Spent[]>(sources.map((source) => [source, []]));
      for (let round = 0; round < IMPORT_ROUNDS; round++) {
        if (round > 0) for (const source of sources) await client.json("DELETE", `/v1/indexes/${source}`);
        const order = round % 2 === 0 ? sources : sources.toReversed();
        await this.#importRound(client, server, order, files, spent);
      }
      const none = spent.get(sources[0]!)!;
      const measured = (this.#file.documents * MEASURED_PARTS) / PARTS;
      return sources.map((source) => {
        const own = spent.get(source)!;
        const each = (what: keyof Spent): number => median(own.map((one) => one[what])) / measured;
        const ratio = (what: keyof Spent): string =>
          median(own.map((one, round) => none[round]![what] / one[what])).toFixed(2);
        return [
          `| import of ${count(measured)}, source \`${source}\` | ${count(1 / each("seconds"))} documents/s (${ratio("seconds")} of none);`,
          `${(each("cpuSeconds") * 1e6).toFixed(0)} µs of CPU each (${ratio("cpuSeconds")}),`,
          `with all merges ${(each("settledCpuSeconds") * 1e6).toFixed(0)} (${ratio("settledCpuSeconds")}) |`,
        ].join(" ");
      });
    });
  }

  /** Trains the model on the first documents and measures the import of the remaining ones. */
  async #importRound(
    client: ApiClient,
    server: ServerProcess,
    sources: readonly string[],
    files: ReadonlyMap<string, ImportFiles>,
    spent: ReadonlyMap<string, Spent[]>,
  ): Promise<void> {
    const send = (source: string, file: string) =>
      importFile(client, file, {
        index: source,
        linesPerRequest: 1_000,
        requestsAtATime: 3,
      });
    for (const source of sources) {
      await createIndex(client, source, this.#file.schema);
      await embedBy(client, source, source);
      await send(source, files.get(source)!.learned);
      await ready(client, source);
    }
    for (const source of sources) {
      const before = server.cpuSeconds() ?? 0;
      const { seconds } = await send(source, files.get(source)!.measured);
      const cpuSeconds = (server.cpuSeconds() ?? 0) - before;
      await ready(client, source);
      const settledCpuSeconds = (server.cpuSeconds() ?? 0) - before;
      spent.get(source)!.push({ seconds, cpuSeconds, settledCpuSeconds });
    }
  }

  /** Returns each source's import files. */
  async #files(): Promise<ReadonlyMap<string, ImportFiles>> {
    const { folder, sources } = this.#options;
    const files = new Map<string, ImportFiles>();
    for (const source of sources) {
      let path = this.#file.path;
      if (source === "pushed") {
        path = join(folder, "with-vectors.jsonl");
        await writePushed(this.#file.path, path);
      }
      const parts = await cutFile(path, join(folder, source), PARTS);
      const measured = parts.slice(LEARNED_PARTS, LEARNED_PARTS + MEASURED_PARTS);
      files.set(source, {
        learned: await joinFiles(parts.slice(0, LEARNED_PARTS), join(folder, `${source}-learned.jsonl`)),
        measured: await joinFiles(measured, join(folder, `${source}-measured.jsonl`)),
      });
    }
    return files;
  }

  /** Measures queries from one client, mode by mode, with the model that was trained on the documents. */
  modes(): Promise<string[]> {
    return this.#served(async (running) => {
      const target = { ...running, index: "documents" };
      const lines: string[] = [];
      for (const mode of MODES) {
        const { latency, usage, failed } = await measureLoad(
          target,
          prepare(target, this.#queries(mode)),
          1,
          { warmupSeconds: this.#options.seconds, seconds: this.#options.seconds },
        );
        if (failed > 0) throw new Error(`${failed} searches failed`);
        const cpuMs = ((usage.cpuSeconds ?? 0) / usage.queries) * 1000;
        const semantic = usage.phases.semantic ?? 0;
        lines.push(
          `| \`${mode}\` queries, one client | p50 ${latency.p50.toFixed(2)} ms, p99 ${latency.p99.toFixed(2)} ms, ${cpuMs.toFixed(2)} ms of CPU each, ${usage.messagesPerQuery.toFixed(1)} messages, phase \`semantic\` ${semantic.toFixed(2)} ms |`,
        );
      }
      return lines;
    });
  }

  /** Measures keyword queries from the catalogue's mix on copies of one index. */
  async keywords(): Promise<string[]> {
    const { folder } = this.#options;
    const copies = await Promise.all(
      KEYWORD_SOURCES.map(async (source, i) => {
        const dataDir = join(folder, `copy-${i}`);
        cpSync(join(folder, DATA), dataDir, { recursive: true });
        await this.#served(async ({ client }) => {
          await embedBy(client, "documents", source);
          await ready(client, "documents");
        }, dataDir);
        return dataDir;
      }),
    );
    const queries = this.#queries("keyword", "catalogue");
    return keywordTrials(
      copies.map((dataDir) => () => this.#start(dataDir)),
      "documents",
      queries,
    );
  }

  /**
   * Measures the process's memory after a restart and a query load. The load takes equally long for each
   * index and mode.
   */
  async memory(): Promise<string[]> {
    const asked = async (index: string, mode: (typeof MODES)[number]): Promise<string> =>
      this.#served(async (running) => {
        const { client, server } = running;
        const queries = this.#queries(mode).slice(0, WARM_QUERIES);
        await drive(server.url, prepare({ ...running, index }, queries), 1, this.#options.seconds);
        await settle(client, index);
        const { now, anonymous } = server.memory() ?? { now: 0, anonymous: 0 };
        const stats = await embedderOf(client, index);
        return `${(now / MIB).toFixed(0)} MiB (${(anonymous / MIB).toFixed(0)} without mapped files), of it codes ${(stats.memory_bytes / MIB).toFixed(1)} MiB`;
      });
    return [
      `| resident after a restart and keyword queries, no vectors | ${await asked("none", "keyword")} |`,
      `| the same with vectors | ${await asked("documents", "keyword")} |`,
      `| the same with vectors, hybrid queries | ${await asked("documents", "hybrid")} |`,
    ];
  }

  #queries(
    mode: (typeof MODES)[number],
    workload = "semantic",
  ): { kind: string; body: Record<string, unknown> }[] {
    const mix = readWorkload(workload);
    return drawQueries(mix, this.#file.schema, this.#file.sample, QUERIES_DRAWN).map(({ body }) => ({
      kind: mode,
      body: { ...body, search_mode: mode },
    }));
  }

  async #served<T>(
    work: (running: Running) => Promise<T>,
    dataDir = join(this.#options.folder, DATA),
  ): Promise<T> {
    const running = await this.#start(dataDir);
    try {
      return await work(running);
    } finally {
      await stop(running);
    }
  }

  async #start(dataDir: string): Promise<Running> {
    const server = await ServerProcess.start({
      main: "dist/server/cli/main.js",
      dataDir,
      adminKey: ADMIN_KEY,
      shards: this.#options.shards,
      durability: null,
      configFile: this.#configFile,
    });
    return {
      server,
      client: new ApiClient(server.url.href, ADMIN_KEY),
      url: server.url,
      key: ADMIN_KEY,
    };
  }
}

interface EmbedderStats {
  readonly source: string;
  readonly state: string;
  readonly pending: number;
  readonly memory_bytes: number;
}

async function embedderOf(client: ApiClient, index: string): Promise<EmbedderStats> {
  const stats = (await client.json("GET", `/v1/indexes/${index}/stats`)) as {
    data: { embedder: EmbedderStats };
  };
  return stats.data.embedder;
}

async function embedBy(client: ApiClient, index: string, source: string): Promise<void> {
  await client.json("PATCH", `/v1/indexes/${index}/settings`, { embedder: { source } });
}

/** Resolves when every document that should have a vector has one, and nothing is merging. */
async function ready(client: ApiClient, index: string): Promise<void> {
  for (;;) {
    const { source, state, pending } = await embedderOf(client, index);
    if (state === "failed") throw new Error(`the embedder of ${index} has failed`);
    if (source === "none" || (state === "ready" && pending === 0)) break;
    await sleep(POLL_MS);
  }
  await merged(client, index);
}

function count(n: number): string {
  return Math.round(n).toLocaleString("en-US");
}
