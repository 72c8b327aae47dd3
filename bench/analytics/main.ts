// `npm run bench:analytics` measures how much slower searches are when they are logged, how many events the
// server stores per second, the log's bytes per row, and how long reports and a coach analysis take on a
// large log. Prints the results and writes them to bench/results.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { ApiClient } from "../../server/cli/api.js";
import { createIndex } from "../../server/cli/commands/index-setup.js";
import { DAYS_KEPT } from "../../server/query-log/rows/time.js";
import { importFile } from "../load/bulk-import.js";
import { requestBytes } from "../load/connection.js";
import { type DocumentsFile, writeDocuments } from "../load/documents-file.js";
import { drive, type PreparedQuery } from "../load/drive.js";
import { drawQueries } from "../load/queries.js";
import { diskBytes, ServerProcess } from "../load/server-process.js";
import { settle } from "../load/settle.js";
import { readWorkload, type Workload } from "../load/workload.js";
import { machineCard, machineText } from "../machine.js";
import { median } from "../median.js";
import { writeVisits } from "./visits.js";

interface Options {
  readonly searches: string;
  readonly analyzed: string;
  readonly documents: string;
  readonly seconds: string;
  readonly out: string;
}

interface Spent {
  queries: number;
  cpuSeconds: number;
}

interface Timed {
  readonly firstMs: number;
  readonly medianMs: number;
}

const ADMIN_KEY = "bench-admin-key-0123456789";
/** The index with the large log. The coach analyses the other index's log. */
const SHOP = "shop";
const COACHED = "coached";
const COACH_DAYS = 30;
const PEOPLE = 1_000_000;
const TEXTS = 200_000;
const ROUNDS = 20;
/** Warm-up rounds, in which V8 compiles the log thread's code. */
const WARM_UP_ROUNDS = 10;
const REPEATS = 20;
const CLIENTS = 4;
const EVENTS_PER_REQUEST = 1_000;
const EVENT_REQUESTS = 200;

async function run(options: Options): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "skein-analytics-"));
  const workload = { ...readWorkload("catalogue"), data: { generate: Number(options.documents), seed: 1 } };
  const file = await writeDocuments(workload.data, workload.seed, null, join(folder, "documents.jsonl"));
  const bench = new AnalyticsBench(folder, file, workload);
  try {
    await bench.fill();
    const log = await bench.writeLogs(Number(options.searches), Number(options.analyzed));
    const lines = [
      ...log,
      ...(await bench.reports()),
      ...(await bench.coach()),
      ...(await bench.events()),
      ...(await bench.searches(Number(options.seconds))),
    ];
    report(lines, options);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

class AnalyticsBench {
  readonly #dataDir: string;
  readonly #file: DocumentsFile;
  readonly #workload: Workload;

  constructor(folder: string, file: DocumentsFile, workload: Workload) {
    this.#dataDir = join(folder, "data");
    this.#file = file;
    this.#workload = workload;
  }

  fill(): Promise<void> {
    return this.#served(async (client) => {
      for (const index of [SHOP, COACHED]) {
        await createIndex(client, index, this.#file.schema);
        await importFile(client, this.#file.path, { index, linesPerRequest: 1_000, requestsAtATime: 4 });
        await settle(client, index);
      }
    });
  }

  async writeLogs(searches: number, analyzed: number): Promise<string[]> {
    const location = join(this.#dataDir, "analytics");
    const untilMs = Date.now();
    const common = { texts: TEXTS, people: PEOPLE, untilMs };
    const started = performance.now();
    const large = { ...common, log: 1, searches, days: DAYS_KEPT };
    const rows = await writeVisits(location, large, this.#file.sample);
    const seconds = (performance.now() - started) / 1000;
    const bytes = diskBytes(location);
    await writeVisits(
      location,
      { ...common, log: 2, searches: analyzed, days: COACH_DAYS },
      this.#file.sample,
    );
    return [
      `| rows of the large log | ${count(rows)}: ${count(searches)} searches of ${count(PEOPLE)} people for ${count(TEXTS)} texts in ${DAYS_KEPT} days, and ${count(rows - searches)} events |`,
      `| stored, added up and merged | ${count(rows / seconds)} rows/s |`,
      `| disk, with texts, ids and what is added up | ${count(bytes / 2 ** 20)} MiB, ${(bytes / rows).toFixed(1)} bytes a row |`,
    ];
  }

  reports(): Promise<string[]> {
    return this.#served(async (client) => {
      const odd = `from=${new Date(Date.now() - 80 * 86_400_000 - 12_345_678).toISOString()}&to=${new Date(Date.now() - 4_567_890).toISOString()}`;
      const lines: string[] = [];
      for (const [name, time] of [
        [`${DAYS_KEPT} days`, `days=${DAYS_KEPT}`],
        ["80 days and some minutes", odd],
      ])
        for (const report of ["queries", "no-results", "documents", "summary"]) {
          const { firstMs, medianMs } = await timed(client, `${report}?${time}`);
          lines.push(
            `| \`${report}\` over ${name} | first ${firstMs.toFixed(0)} ms, then ${medianMs.toFixed(0)} ms |`,
          );
        }
      return lines;
    });
  }

  coach(): Promise<string[]> {
    return this.#served(async (client) => {
      const started = performance.now();
      const answer = (await client.json("POST", `/v1/indexes/${COACHED}/coach/analyze`, {
        days: COACH_DAYS,
      })) as { data: { events_analyzed: number; recommendations_saved: number } };
      const seconds = (performance.now() - started) / 1000;
      const { events_analyzed, recommendations_saved } = answer.data;
      return [
        `| analysis of ${count(events_analyzed)} searches and events | ${seconds.toFixed(1)} s, ${recommendations_saved} recommendations |`,
      ];
    });
  }

  events(): Promise<string[]> {
    return this.#served(async (client, server) => {
      const bodies = Array.from({ length: EVENT_REQUESTS }, (_, request) =>
        Array.from({ length: EVENTS_PER_REQUEST }, (_, i) => ({
          type: "click",
          document_id: `${i}`,
          query: "shoe",
          user_id: `u${i % 100}`,
          position: 1,
          event_id: `${request}-${i}`,
        })),
      );
      const cpu = server.cpuSeconds() ?? 0;
      const started = performance.now();
      const send = async (): Promise<void> => {
        for (let body = bodies.pop(); body !== undefined; body = bodies.pop())
          await client.json("POST", `/v1/indexes/${SHOP}/events`, body);
      };
      await Promise.all(Array.from({ length: CLIENTS }, send));
      await client.json("GET", `/v1/indexes/${SHOP}/analytics/documents`); // waits until all are stored
      const seconds = (performance.now() - started) / 1000;
      const events = EVENT_REQUESTS * EVENTS_PER_REQUEST;
      const micros = (((server.cpuSeconds() ?? 0) - cpu) * 1e6) / events;
      return [
        `| events with an id, by text and user, ${EVENTS_PER_REQUEST} a request | ${count(events / seconds)}/s, ${micros.toFixed(1)} µs of CPU each |`,
      ];
    });
  }

  /** Runs the same searches alternately with and without logging. */
  searches(seconds: number): Promise<string[]> {
    return this.#served(async (client, server) => {
      const drawn = drawQueries(this.#workload, this.#file.schema, this.#file.sample, 4_000);
      const prepared = [true, false].map((analytics) =>
        drawn.map(({ kind, body }, i): PreparedQuery => {
          const path = `/v1/indexes/${SHOP}/query`;
          const whole = { ...body, user_id: `u${i % 500}`, analytics };
          return { kind, request: requestBytes(client.url, path, ADMIN_KEY, whole) };
        }),
      );
      await drive(client.url, prepared[0]!, CLIENTS, seconds * WARM_UP_ROUNDS);
      const spent: readonly [Spent, Spent] = [
        { queries: 0, cpuSeconds: 0 },
        { queries: 0, cpuSeconds: 0 },
      ];
      for (let round = 0; round < ROUNDS; round++)
        for (const which of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
          const cpu = server.cpuSeconds() ?? 0;
          const { queries, failed } = await drive(client.url, prepared[which]!, CLIENTS, seconds);
          if (failed > 0) throw new Error(`${failed} searches failed`);
          spent[which].queries += queries;
          spent[which].cpuSeconds += (server.cpuSeconds() ?? 0) - cpu;
        }
      const [logged, unlogged] = spent.map((one) => one.queries / Math.max(0.01, one.cpuSeconds)) as [
        number,
        number,
      ];
      return [
        `| searches per CPU second, ${ROUNDS} alternating rounds | ${count(logged)} logged, ${count(unlogged)} with \`analytics: false\`: ${((logged / unlogged) * 100).toFixed(1)} % |`,
      ];
    });
  }

  async #served<T>(work: (client: ApiClient, server: ServerProcess) => Promise<T>): Promise<T> {
    const server = await ServerProcess.start({
      main: "dist/server/cli/main.js",
      dataDir: this.#dataDir,
      adminKey: ADMIN_KEY,
      shards: 1,
      durability: null,
    });
    const client = new ApiClient(server.url.href, ADMIN_KEY, CLIENTS);
    try {
      return await work(client, server);
    } finally {
      client.close();
      await server.stop();
    }
  }
}

async function timed(client: ApiClient, report: string): Promise<Timed> {
  const times: number[] = [];
  for (let i = 0; i <= REPEATS; i++) {
    const started = performance.now();
    await client.bytes("GET", `/v1/indexes/${SHOP}/analytics/${report}`);
    times.push(performance.now() - started);
  }
  return { firstMs: times[0]!, medianMs: median(times.slice(1)) };
}

function count(n: number): string {
  return Math.round(n).toLocaleString("en-US");
}

function report(lines: readonly string[], options: Options): void {
  const card = machineCard(
    ["npm run bench:analytics --", ...process.argv.slice(2)].join(" ").replace(/ --$/, ""),
  );
  const text = [
    "# Analytics",
    "",
    machineText(card),
    `\`${card.command}\``,
    "",
    `${options.documents} products, one shard; clients and server share the cores.`,
    "",
    "| | |",
    "| --- | --- |",
    ...lines,
  ];
  const markdown = `${text.join("\n")}\n`;
  mkdirSync(options.out, { recursive: true });
  writeFileSync(join(options.out, "analytics.md"), markdown);
  process.stdout.write(markdown);
}

const program = new Command("bench:analytics")
  .description("what the query log costs, how large it is, and how fast reports and the coach are")
  .option("--searches <n>", "searches in the large log", "10000000")
  .option("--analyzed <n>", "searches that the coach analyses", "1000000")
  .option("--documents <n>", "products", "20000")
  .option("--seconds <n>", "seconds per round of searches", "4")
  .option("--out <folder>", "folder for the results", "bench/results")
  .action(run);
await program.parseAsync();
