// What vectors cost a server: imports with and without them in turns, queries of each mode over HTTP, keyword queries in an
// index that has vectors beside one that has none, memory after a restart. Answers with lines of a table.

import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiClient } from "../../server/cli/api.js";
import { createIndex } from "../../server/cli/commands/index-setup.js";
import { FEW_RESULTS } from "../../server/matching/plan.js";
import { importFile } from "../load/bulk-import.js";
import { type DocumentsFile, writeDocuments } from "../load/documents-file.js";
import { drive } from "../load/drive.js";
import { foundCounts, measureLoad, prepare } from "../load/measure.js";
import { type DrawnQuery, drawQueries } from "../load/queries.js";
import { ServerProcess } from "../load/server-process.js";
import { merged, settle } from "../load/settle.js";
import { readWorkload } from "../load/workload.js";
import { median } from "../median.js";
import { cutFile, joinFiles } from "./cut-file.js";
import { writePushed } from "./pushed-file.js";

const ADMIN_KEY = "bench-admin-key-0123456789";
const MODES = ["keyword", "auto", "hybrid", "semantic"] as const;
/** Of the documents. A model is trained on half of them; with those measured it has too few more to be trained again. */
const PARTS = 12;
const LEARNED_PARTS = 6;
const MEASURED_PARTS = 5;
const IMPORT_ROUNDS = 6;
/** The second index without is the control. */
const KEYWORD_SOURCES = ["documents", "none", "none"] as const;
const KEYWORD_ROUNDS = 100;
/** A server that rests for two seconds collects its garbage, after which V8 compiles some code anew. */
const TURN_SECONDS = 0.25;
const KEYWORD_CLIENTS = 4;
/** Rounds begin with other queries than the one before. */
const QUERIES_A_ROUND = 97;
const QUERIES_DRAWN = 4_000;
const WARM_QUERIES = 300;
const POLL_MS = 200;
const MIB = 2 ** 20;
const DATA = "data";

/** Of one import. */
interface Spent {
  seconds: number;
  cpuSeconds: number;
  /** With all merges that it causes. */
  settledCpuSeconds: number;
}

interface ImportFiles {
  readonly learned: string;
  readonly measured: string;
}

interface Running {
  readonly client: ApiClient;
  readonly server: ServerProcess;
  readonly url: URL;
  readonly key: string;
}

export interface ServedOptions {
  readonly folder: string;
  readonly documents: number;
  /** Begins with `none` and `documents`, which the queries need. */
  readonly sources: readonly string[];
  readonly shards: number;
  readonly seconds: number;
}

/** The server's figures for so many products. */
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
    const { folder, documents } = options;
    const file = await writeDocuments(
      { generate: documents, seed: 1 },
      7,
      null,
      join(folder, "documents.jsonl"),
    );
    const configFile = join(folder, "config.json");
    writeFileSync(configFile, JSON.stringify({ limits: { rememberedAnswersBytesMax: 1 } }));
    return new ServedBench(options, file, configFile);
  }

  /**
   * Each round has new indexes and begins with the first source or with the last one, since when large segments are merged
   * depends on which index came first. Imports are long: at their beginning V8 compiles what it dropped while the server was idle.
   */
  imports(): Promise<string[]> {
    const { documents, sources } = this.#options;
    return this.#served(async (client, server) => {
      const files = await this.#files();
      const spent = new Map<string, Spent[]>(sources.map((source) => [source, []]));
      for (let round = 0; round < IMPORT_ROUNDS; round++) {
        if (round > 0) for (const source of sources) await client.json("DELETE", `/v1/indexes/${source}`);
        const order = round % 2 === 0 ? sources : sources.toReversed();
        await this.#importRound(client, server, order, files, spent);
      }
      const none = spent.get(sources[0]!)!;
      const measured = (documents * MEASURED_PARTS) / PARTS;
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

  /** The model is trained on the first documents; the others are measured. */
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
      await client.json("PATCH", `/v1/indexes/${source}/settings`, { embedder: { source } });
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

  /** By source. */
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

  /** One client, each mode for itself, on the documents' own model. */
  modes(): Promise<string[]> {
    return this.#served(async (client, server) => {
      const lines: string[] = [];
      for (const mode of MODES) {
        const target = { client, url: server.url, key: ADMIN_KEY, index: "documents", server };
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

  /**
   * The same keyword queries, of the catalogue's mix, put to servers with copies of one index, so that all have the same segments:
   * one with vectors, two without. They are asked in short turns; how the two without differ tells what a difference means.
   */
  async keywords(): Promise<string[]> {
    const { folder, seconds } = this.#options;
    const index = "documents";
    const running = await Promise.all(
      KEYWORD_SOURCES.map((_, i) => {
        const copy = join(folder, `copy-${i}`);
        cpSync(join(folder, DATA), copy, { recursive: true });
        return this.#start(copy);
      }),
    );
    try {
      for (const [i, { client }] of running.entries()) {
        const embedder = { source: KEYWORD_SOURCES[i] };
        await client.json("PATCH", `/v1/indexes/${index}/settings`, { embedder });
        await ready(client, index);
      }
      const drawn = this.#queries("keyword", "catalogue");
      const founds = await foundCounts({ ...running[0]!, index }, drawn);
      const few = drawn.filter((_, i) => founds[i]! < FEW_RESULTS);
      const enough = drawn.filter((_, i) => founds[i]! >= FEW_RESULTS);
      const percent = ({ length }: readonly unknown[]): string =>
        `${((100 * length) / drawn.length).toFixed(0)} %`;
      const sets = [
        ["all", drawn],
        [`the ${percent(enough)} that find ${FEW_RESULTS} documents or more`, enough],
        [`the ${percent(few)} that find fewer`, few],
      ] as const;
      const lines: string[] = [];
      for (const [name, queries] of sets) {
        const [withVectors, without, again] = await inTurns(running, index, queries, seconds);
        const ratio = (part: number): string => (part / without!).toFixed(3);
        lines.push(
          `| keyword queries, ${name} | ${withVectors!.toFixed(0)} µs of CPU each with vectors, ${without!.toFixed(0)} without: ${ratio(withVectors!)}; another server without: ${ratio(again!)} |`,
        );
      }
      return lines;
    } finally {
      for (const { client, server } of running) {
        client.close();
        await server.stop();
      }
    }
  }

  /** Of the process after a restart and the same number of queries of one index. */
  async memory(): Promise<string[]> {
    const asked = async (index: string, mode: (typeof MODES)[number]): Promise<string> =>
      this.#served(async (client, server) => {
        const target = { client, url: server.url, key: ADMIN_KEY, index, server };
        const queries = this.#queries(mode).slice(0, WARM_QUERIES);
        await drive(server.url, prepare(target, queries), 1, this.#options.seconds);
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

  async #served<T>(work: (client: ApiClient, server: ServerProcess) => Promise<T>): Promise<T> {
    const { client, server } = await this.#start(join(this.#options.folder, DATA));
    try {
      return await work(client, server);
    } finally {
      client.close();
      await server.stop();
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
      client: new ApiClient(server.url.href, ADMIN_KEY, KEYWORD_CLIENTS),
      url: server.url,
      key: ADMIN_KEY,
    };
  }
}

/** Microseconds of CPU that each server takes for a query. In each round all of them begin with the same one. */
async function inTurns(
  running: readonly Running[],
  index: string,
  queries: readonly DrawnQuery[],
  warmupSeconds: number,
): Promise<number[]> {
  const loads = running.map((target) => prepare({ ...target, index }, queries));
  for (const [i, { url }] of running.entries()) await drive(url, loads[i]!, KEYWORD_CLIENTS, warmupSeconds);
  const spent = running.map(() => ({ queries: 0, cpuSeconds: 0 }));
  for (let round = 0; round < KEYWORD_ROUNDS; round++) {
    for (const [i, { server, url }] of running.entries()) {
      const before = server.cpuSeconds() ?? 0;
      const load = await drive(url, loads[i]!, KEYWORD_CLIENTS, TURN_SECONDS, round * QUERIES_A_ROUND);
      if (load.failed > 0) throw new Error(`${load.failed} searches failed`);
      spent[i]!.queries += load.queries;
      spent[i]!.cpuSeconds += (server.cpuSeconds() ?? 0) - before;
    }
  }
  return spent.map(({ queries: asked, cpuSeconds }) => (cpuSeconds * 1e6) / asked);
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

/** Every document has its vector, if it is to have one, and nothing is merged any more. */
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
