// `npm run bench:neighbour` measures how much slower one tenant's queries become while another tenant puts a
// heavy load on the server. For each kind of heavy work, rounds with and without it alternate within one run,
// because other load on the machine may vary.

import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { builtFile } from "../../engine-wasm/host/runtime/built-files.js";
import { ApiClient } from "../../server/cli/api.js";
import { createIndex } from "../../server/cli/commands/index-setup.js";
import { importFile } from "../load/bulk-import.js";
import { requestBytes } from "../load/connection.js";
import { type DocumentsFile, writeDocuments } from "../load/documents-file.js";
import { frequentWords } from "../load/frequent-words.js";
import { drawQueries } from "../load/queries.js";
import { ServerProcess } from "../load/server-process.js";
import { embedded, settle } from "../load/settle.js";
import { readWorkload } from "../load/workload.js";
import { machineCard } from "../machine.js";
import { HEAVY_WORK, INDEX, type Place } from "./heavy-work.js";
import { type Measured, writeNeighbours } from "./report.js";
import { Rounds } from "./rounds.js";

interface Options {
  readonly documents: string;
  readonly shards?: string;
  readonly frontEnds?: string;
  readonly rounds: string;
  readonly seconds: string;
  readonly perSecond: string;
  readonly kinds?: string;
  readonly server: string;
  readonly name: string;
  readonly out: string;
}

const ADMIN_KEY = "bench-admin-key-0123456789";
const CHOSEN = "as many as the server chooses";
const QUERIES_DRAWN = 20_000;
const WARMUP_SECONDS = 3;
/** Number of sample words for heavy filters and searches, most frequent first. */
const WORDS = 2_000;

const program = new Command("bench:neighbour")
  .description("one tenant's queries, alone and beside another tenant's heavy work")
  .option("--documents <n>", "products in each tenant's index", "100000")
  .option("--shards <n>", "shards of the server; default: the server's choice")
  .option("--front-ends <n>", "front-ends of the server; default: the server's choice")
  .option("--rounds <n>", "rounds alone, and the same number beside each kind of work", "5")
  .option("--seconds <n>", "seconds per round", "5")
  .option("--per-second <n>", "queries per second by the quiet tenant", "50")
  .option("--kinds <list>", "kinds of heavy work, comma-separated; default: all")
  .option("--server <file>", "the compiled command line to start", "dist/server/cli/main.js")
  .option("--name <name>", "name of the result", "neighbour")
  .option("--out <folder>", "folder for the results", "bench/results")
  .action(run);
await program.parseAsync();

async function run(options: Options): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "skein-neighbour-"));
  const server = await ServerProcess.start({
    main: options.server,
    dataDir: join(folder, "data"),
    adminKey: ADMIN_KEY,
    shards: options.shards === undefined ? null : Number(options.shards),
    frontEnds: options.frontEnds === undefined ? null : Number(options.frontEnds),
    durability: null,
  });
  const noisy = fork(builtFile("bench/neighbour/noisy-client.js"), { serialization: "advanced" });
  try {
    const bench = await setUp(server, noisy, folder, options);
    const wanted = options.kinds?.split(",");
    const works = HEAVY_WORK.filter(({ name }) => wanted === undefined || wanted.includes(name));
    await bench.round(WARMUP_SECONDS);
    const measured: Measured[] = [];
    for (const work of works) {
      measured.push(await bench.measure(work));
      process.stderr.write(`${work.name}: done\n`);
    }
    const { documents, perSecond, seconds, rounds } = options;
    const { shards = CHOSEN, frontEnds = CHOSEN } = options;
    const setting = `Two tenants, ${documents} generated products each; shards: ${shards}; front-ends: ${frontEnds}; ${perSecond} plain queries a second, ${rounds} rounds of ${seconds} s.`;
    const card = machineCard(`npm run bench:neighbour -- ${process.argv.slice(2).join(" ")}`.trim());
    process.stdout.write(writeNeighbours(options.out, options.name, { card, setting, measured }));
  } finally {
    noisy.kill();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function setUp(
  server: ServerProcess,
  noisy: ChildProcess,
  folder: string,
  options: Options,
): Promise<Rounds> {
  const workload = {
    ...readWorkload("catalogue"),
    data: { generate: Number(options.documents), seed: 1 },
  };
  const path = join(folder, "documents.jsonl");
  const file = await writeDocuments(workload.data, workload.seed, null, path);
  const admin = new ApiClient(server.url.href, ADMIN_KEY, 1);
  const [quietKey, noisyKey] = [await tenant(admin, "quiet"), await tenant(admin, "noisy")];
  admin.close();
  for (const key of [quietKey, noisyKey]) await fill(server, key, file);
  const mix = workload.mix.filter(({ name }) => name === "words" || name === "prefix");
  const queries = drawQueries({ ...workload, mix }, file.schema, file.sample, QUERIES_DRAWN).map(({ body }) =>
    requestBytes(server.url, `/v1/indexes/${INDEX}/query`, quietKey, body),
  );
  const place: Place = {
    host: server.url.host,
    key: noisyKey,
    documents: file.documents,
    path,
    facets: file.schema.fields.filter(({ facet }) => facet === true).map(({ name }) => name),
    schema: file.schema,
    words: frequentWords(file.sample, WORDS),
  };
  return new Rounds(server, noisy, place, queries, {
    rounds: Number(options.rounds),
    seconds: Number(options.seconds),
    perSecond: Number(options.perSecond),
  });
}

/** Creates a tenant and returns its key. */
async function tenant(admin: ApiClient, name: string): Promise<string> {
  const made = (await admin.json("POST", "/v1/tenants", { name })) as {
    data: { admin_key: { key: string } };
  };
  return made.data.admin_key.key;
}

async function fill(server: ServerProcess, key: string, file: DocumentsFile): Promise<void> {
  const client = new ApiClient(server.url.href, key, 2);
  await createIndex(client, INDEX, file.schema);
  await importFile(client, file.path, { index: INDEX, linesPerRequest: 10_000, requestsAtATime: 2 });
  await settle(client, INDEX);
  await embedded(client, INDEX);
  client.close();
}
