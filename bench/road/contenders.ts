// Servers with the same documents that take turns: each build with its answers remembered, and with nothing remembered.

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
}

const INDEX = "bench";
const ADMIN_KEY = "bench-admin-key-0123456789";
/** Too few for an answer. */
const NOTHING_REMEMBERED = { limits: { rememberedAnswersBytesMax: 1 } };

export async function startContenders(
  builds: readonly string[],
  shards: number,
  folder: string,
  file: DocumentsFile,
): Promise<Contender[]> {
  const contenders: Contender[] = [];
  for (const main of builds) {
    for (const [settings, config] of [
      ["nothing remembered", NOTHING_REMEMBERED],
      ["answers remembered", {}],
    ] as const) {
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
        durability: "os",
        configFile,
        flags: [TRACE_FLAG],
        onLine: (line) => allocation.read(line),
      });
      const client = new ApiClient(server.url.href, ADMIN_KEY, 2);
      await createIndex(client, INDEX, file.schema);
      await importFile(client, file.path, { index: INDEX, linesPerRequest: 10_000, requestsAtATime: 2 });
      await settle(client, INDEX);
      const name = builds.length === 1 ? settings : `${main}, ${settings}`;
      contenders.push({ name, client, url: client.url, key: ADMIN_KEY, index: INDEX, server, allocation });
    }
  }
  return contenders;
}
