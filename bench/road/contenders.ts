// Starts the servers to compare, all with the same documents: one for each build and number of threads, with
// and without cached answers. Lists the contenders whose trials alternate. A contender puts load on all or
// some of a server's front-ends.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ApiClient } from "../../server/cli/api.js";
import { importFile } from "../load/bulk-import.js";
import type { DocumentsFile } from "../load/documents-file.js";
import type { Target } from "../load/measure.js";
import { ServerProcess } from "../load/server-process.js";
import { settle } from "../load/settle.js";
import { AllocationCounter, TRACE_FLAG } from "./allocation-counter.js";
import { Clients } from "./clients.js";
import { METER_FLAG, PromiseCounter } from "./promise-counter.js";

/** A server that has loaded the documents. */
export interface StartedServer extends Target {
  readonly name: string;
  readonly server: ServerProcess;
  readonly allocation: AllocationCounter;
  readonly promises: PromiseCounter;
  /** Null for the server's default. */
  readonly frontEnds: number | null;
}

/** A load on some or all of a server's front-ends. */
export interface Contender extends StartedServer {
  readonly clients: Clients;
  /** Number of front-ends that a trial puts under load. */
  readonly loaded: number;
}

/** A server's thread counts; `frontEnds` is null for the default. */
export interface Threads {
  readonly shards: number;
  readonly frontEnds: number | null;
}

export interface Wanted {
  readonly builds: readonly string[];
  readonly threads: readonly Threads[];
  /** True to test servers with cached answers too. */
  readonly remembering: boolean;
  /** True to give the documents vectors, as the server does by default. */
  readonly vectors: boolean;
}

export interface Load {
  /**
   * Number of connections to each front-end, or in total for a server with the default number of front-ends.
   */
  readonly clients: number;
  /** How many front-ends to put under load: one contender for each number; null puts all under load. */
  readonly loaded: readonly number[] | null;
}

const INDEX = "bench";
const ADMIN_KEY = "bench-admin-key-0123456789";
/** Makes the cache too small for any answer. */
const NOTHING_REMEMBERED = { limits: { rememberedAnswersBytesMax: 1 } };

export async function startServers(
  { builds, threads, remembering, vectors }: Wanted,
  folder: string,
  file: DocumentsFile,
): Promise<StartedServer[]> {
  const servers: StartedServer[] = [];
  const settings = [
    { setting: "nothing remembered", config: NOTHING_REMEMBERED },
    ...(remembering ? [{ setting: "answers remembered", config: {} }] : []),
  ];
  for (const main of builds) {
    for (const { shards, frontEnds } of threads) {
      for (const { setting, config } of settings) {
        const own = join(folder, `${file.documents}-${servers.length}`);
        mkdirSync(own);
        const configFile = join(own, "config.json");
        writeFileSync(configFile, JSON.stringify(config));
        const allocation = new AllocationCounter();
        const promises = new PromiseCounter();
        const server = await ServerProcess.start({
          main,
          dataDir: join(own, "data"),
          adminKey: ADMIN_KEY,
          shards,
          frontEnds,
          durability: "os",
          configFile,
          flags: [TRACE_FLAG, METER_FLAG],
          onLine: (line) => {
            allocation.read(line);
            promises.read(line);
          },
        });
        const client = new ApiClient(server.url.href, ADMIN_KEY, 2);
        const plain = vectors ? {} : { settings: { embedder: { source: "none" } } };
        await client.json("POST", "/v1/indexes", { name: INDEX, schema: file.schema, ...plain });
        await importFile(client, file.path, { index: INDEX, linesPerRequest: 10_000, requestsAtATime: 2 });
        await settle(client, INDEX);
        const name = [
          ...(builds.length > 1 ? [main] : []),
          ...(threads.length > 1 ? [`${shards} shards, ${frontEnds ?? "default"} front-ends`] : []),
          setting,
        ].join(", ");
        servers.push({
          name,
          client,
          url: client.url,
          key: ADMIN_KEY,
          index: INDEX,
          server,
          allocation,
          promises,
          frontEnds,
        });
      }
    }
  }
  return servers;
}

/** Opens the contenders' connections. */
export async function contendersOf(
  servers: readonly StartedServer[],
  { clients: each, loaded }: Load,
): Promise<Contender[]> {
  const contenders: Contender[] = [];
  for (const server of servers) {
    const { frontEnds } = server;
    const clients = await Clients.open(server, server.server.pid, frontEnds, each);
    for (const count of loaded?.filter((one) => one <= clients.frontEnds) ?? [clients.frontEnds]) {
      const name = loaded === null ? server.name : `${server.name}, load on ${count} front-ends`;
      contenders.push({ ...server, name, clients, loaded: count });
    }
    for (const contender of contenders) await contender.clients.keepOpen();
  }
  return contenders;
}
