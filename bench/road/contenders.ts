// Servers with the same documents that take turns: each build, with each number of threads, with its answers remembered and with nothing
// remembered.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ApiClient } from "../../server/cli/api.js";
import { createIndex } from "../../server/cli/commands/index-setup.js";
import { importFile } from "../load/bulk-import.js";
import type { DocumentsFile } from "../load/documents-file.js";
import type { Target } from "../load/measure.js";
import { ServerProcess } from "../load/server-process.js";
import { settle } from "../load/settle.js";
import { AllocationCounter, TRACE_FLAG } from "./allocation-counter.js";

export interface Contender extends Target {
  readonly name: string;
  readonly server: ServerProcess;
  readonly allocation: AllocationCounter;
  /** As wanted; 1 where the server chooses their number by itself. */
  readonly frontEnds: number;
}

/** Of a server; `frontEnds` null: as it comes. */
export interface Threads {
  readonly shards: number;
  readonly frontEnds: number | null;
}

export interface Wanted {
  readonly builds: readonly string[];
  readonly threads: readonly Threads[];
  /** Servers that remember answers, too. */
  readonly remembering: boolean;
}

const INDEX = "bench";
const ADMIN_KEY = "bench-admin-key-0123456789";
/** Too few for an answer. */
const NOTHING_REMEMBERED = { limits: { rememberedAnswersBytesMax: 1 } };

export async function startContenders(
  { builds, threads, remembering }: Wanted,
  folder: string,
  file: DocumentsFile,
): Promise<Contender[]> {
  const contenders: Contender[] = [];
  const settings = [
    { setting: "nothing remembered", config: NOTHING_REMEMBERED },
    ...(remembering ? [{ setting: "answers remembered", config: {} }] : []),
  ];
  for (const main of builds) {
    for (const { shards, frontEnds } of threads) {
      for (const { setting, config } of settings) {
        const own = join(folder, `${file.documents}-${contenders.length}`);
        mkdirSync(own);
        const configFile = join(own, "config.json");
        writeFileSync(configFile, JSON.stringify(config));
        const allocation = new AllocationCounter();
        const server = await ServerProcess.start({
          main,
          dataDir: join(own, "data"),
          adminKey: ADMIN_KEY,
          shards,
          frontEnds,
          durability: "os",
          configFile,
          flags: [TRACE_FLAG],
          onLine: (line) => allocation.read(line),
        });
        const client = new ApiClient(server.url.href, ADMIN_KEY, 2);
        await createIndex(client, INDEX, file.schema);
        await importFile(client, file.path, { index: INDEX, linesPerRequest: 10_000, requestsAtATime: 2 });
        await settle(client, INDEX);
        const name = [
          ...(builds.length > 1 ? [main] : []),
          ...(threads.length > 1 ? [`${shards} shards, ${frontEnds ?? "default"} front-ends`] : []),
          setting,
        ].join(", ");
        contenders.push({
          name,
          client,
          url: client.url,
          key: ADMIN_KEY,
          index: INDEX,
          server,
          allocation,
          frontEnds: frontEnds ?? 1,
        });
      }
    }
  }
  return contenders;
}
