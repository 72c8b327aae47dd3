// `npm run bench:road` measures what a query costs in the server outside the engine: CPU by thread, wake-ups,
// messages, bytes allocated. To compare builds or settings, it alternates between them within one run.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { writeDocuments } from "../load/documents-file.js";
import { drawQueries } from "../load/queries.js";
import { readWorkload, type Workload } from "../load/workload.js";
import { machineCard } from "../machine.js";
import { contendersOf, startServers, type Threads } from "./contenders.js";
import { measureInterleaved, type RoadSet } from "./measure.js";
import { writeRoad } from "./report.js";

interface Options {
  readonly generated: string;
  readonly data?: string;
  readonly threads: string;
  readonly loaded?: string;
  readonly warm: string;
  readonly remembered: boolean;
  readonly vectors: boolean;
  readonly clients: string;
  readonly kinds: string;
  readonly queries: string;
  readonly rounds: string;
  readonly seconds: string;
  readonly server: string;
  readonly name: string;
  readonly out: string;
}

/** Query kinds, derived from the catalogue's workload. */
const KINDS: Readonly<Record<string, (mix: Workload) => Workload>> = {
  mix: (mix) => mix,
  "plain words": (mix) => ({ ...mix, mix: mix.mix.filter(({ name }) => name === "words") }),
  "many words": (mix) => ({ ...mix, mix: [{ name: "many words", share: 1, words: [8, 16] }] }),
};

const program = new Command("bench:road")
  .description("what a query costs outside the engine: CPU by thread, wake-ups, messages, bytes allocated")
  .option("--generated <list>", "numbers of generated products, one index each", "26740,1000000")
  .option("--data <list>", "document files instead, one index each")
  .option("--threads <list>", "shards, or shards:front-ends, one server each", "1")
  .option("--loaded <list>", "numbers of front-ends under load, in alternating trials of each server (all)")
  .option("--warm <n>", "seconds of warm-up trials per server, not counted", "12")
  .option("--no-remembered", "leave out servers that cache answers")
  .option("--no-vectors", "compute no document vectors")
  .option("--clients <n>", "connections to each front-end that --threads names, or in total", "1")
  .option("--kinds <list>", `kinds of queries: ${Object.keys(KINDS).join(", ")}`, "mix,plain words")
  .option("--queries <n>", "different queries per kind", "500")
  .option("--rounds <n>", "rounds; in each, every server runs one trial", "40")
  .option("--seconds <n>", "seconds per trial, below 8", "0.3")
  .option("--server <list>", "compiled command lines to compare", "dist/server/cli/main.js")
  .option("--name <name>", "name of the result", "road")
  .option("--out <folder>", "folder for the results", "bench/results")
  .action(run);
await program.parseAsync();

async function run(options: Options): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "skein-road-"));
  const sets: RoadSet[] = [];
  try {
    const kinds = options.kinds.split(",").map(kindNamed);
    const sources =
      options.data === undefined
        ? options.generated.split(",").map((count) => ({ generate: Number(count), seed: 1 }))
        : options.data.split(",").map((file) => ({ file }));
    for (const data of sources) {
      const mix = readWorkload("catalogue");
      const file = await writeDocuments(data, mix.seed, null, join(folder, "documents.jsonl"));
      const wanted = {
        builds: options.server.split(","),
        threads: options.threads.split(",").map(threadsOf),
        remembering: options.remembered,
        vectors: options.vectors,
      };
      const servers = await startServers(wanted, folder, file);
      try {
        const contenders = await contendersOf(servers, {
          clients: Number(options.clients),
          loaded: options.loaded?.split(",").map(Number) ?? null,
        });
        for (const [kind, workloadOf] of kinds) {
          const queries = drawQueries(workloadOf(mix), file.schema, file.sample, Number(options.queries));
          const measured = await measureInterleaved(contenders, queries, {
            rounds: Number(options.rounds),
            seconds: Number(options.seconds),
            warmSeconds: Number(options.warm),
          });
          sets.push({ documents: file.documents, name: file.name, kind, measured });
          process.stderr.write(`${file.name}, ${kind}: done\n`);
        }
      } finally {
        for (const { client, server } of servers) {
          client.close();
          await server.stop();
        }
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const card = machineCard(`npm run bench:road -- ${process.argv.slice(2).join(" ")}`.trim());
  const { threads, clients, queries, rounds, seconds } = options;
  const setting = `Shards, or shards:front-ends: ${threads}; clients of each front-end: ${clients}; ${queries} different queries of each kind, ${rounds} trials of ${seconds} s.`;
  process.stdout.write(writeRoad(options.out, options.name, { card, setting, sets }));
}

function kindNamed(name: string): [string, (mix: Workload) => Workload] {
  const workloadOf = KINDS[name];
  if (workloadOf === undefined) throw new Error(`unknown query kind "${name}"`);
  return [name, workloadOf];
}

function threadsOf(text: string): Threads {
  const [shards, frontEnds] = text.split(":").map(Number);
  return { shards: shards!, frontEnds: frontEnds ?? null };
}
