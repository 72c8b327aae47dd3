// A small query log with every kind of stored record: its backup file, and its reports.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportLines, reportOf } from "../../server/query-log/reports/report.js";
import { Chunk, encodeAnswered } from "../../server/query-log/rows/journal.js";
import { logKindOfKey } from "../../server/query-log/rows/keys.js";
import { QueryLog } from "../../server/query-log/store/query-log.js";
import { restoreBackupFile } from "../../shards/storage/backup-file.js";
import { CrashDisk, CrashStore } from "../crash/crash-store.js";

export const QUERY_LOG_FILE = "query-log-v1.hex";
export const QUERY_LOG_SAYS = "query-log-v1.json";

const LOG = 7;
const START_MS = Date.parse("2026-03-01T21:30:00Z");
const MINUTE_MS = 60_000;
const WINDOW = { fromMs: START_MS - 1_440 * MINUTE_MS, toMs: START_MS + 2_880 * MINUTE_MS };

const PEOPLE = [
  { user: 0, session: 0 },
  { user: 2 ** 48 - 1, session: 5 },
  { user: 0, session: 77 },
];

function chunk(minute: number, text: string, person: number): Uint8Array {
  const made = new Chunk(4096);
  const asker = PEOPLE[person]!;
  const atMs = START_MS + minute * MINUTE_MS;
  const id = { atMs, counter: 0xabc123, frontEnd: 2 ** 48 - 2 };
  const found = text === "größe 😀" ? 0 : 1234;
  const documents = found === 0 ? [] : ["a", "ü/1"].map((one) => Buffer.from(one));
  const answer = { text, mode: "hybrid", filtered: person === 1, found, page: 3 } as const;
  made.addSearch(LOG, id, 412, asker, encodeAnswered(answer, documents));
  const event = { log: LOG, atMs: atMs + 9_000, position: 2, document: "ü/1", query: "", value: 0, ...asker };
  made.addEvent({ ...event, type: "click", search: id, eventId: `click ${minute}` });
  made.addEvent({ ...event, type: "conversion", search: null, query: text, value: 199_500, eventId: "" });
  return made.take();
}

/** Returns a log's backup file: two days with rollups, an hour of several blocks, rows in the journal. */
export async function queryLogFile(): Promise<Uint8Array> {
  const log = await QueryLog.on(new CrashStore(new CrashDisk()));
  const folder = await mkdtemp(join(tmpdir(), "skein-golden-"));
  try {
    for (const [minute, text, person] of [
      [0, "Red  Shoe", 1],
      [10, "größe 😀", 2],
      [1_500, "red shoe", 0],
    ] as const) {
      await log.append(chunk(minute, text, person), START_MS);
      await log.upkeep(START_MS + minute * MINUTE_MS + 20 * MINUTE_MS);
    }
    await log.upkeep(START_MS + 1_600 * MINUTE_MS);
    for (const minute of [1_610, 1_611]) {
      await log.append(chunk(minute, "hat", 1), START_MS);
      await log.checkpoint();
    }
    await log.append(chunk(1_612, "cap", 2), START_MS);
    await log.backup(join(folder, "log"), () => Promise.resolve());
    return await readFile(join(folder, "log"));
  } finally {
    await log.close();
    await rm(folder, { recursive: true });
  }
}

/** Restores the file into a store; `change` may modify each record. */
export async function restored(
  file: Uint8Array,
  change: (kind: number, value: Buffer) => Buffer = (_, value) => value,
): Promise<CrashStore> {
  const path = join(tmpdir(), `skein-golden-${process.pid}-${Math.random()}`);
  await writeFile(path, file);
  const disk = new CrashDisk();
  await restoreBackupFile(path, new CrashStore(disk), path);
  await rm(path);
  for (const [name, value] of disk.durable)
    disk.durable.set(name, change(logKindOfKey(Buffer.from(name, "latin1")), Buffer.from(value)));
  return new CrashStore(disk);
}

export async function reportsOfFile(file: Uint8Array): Promise<string> {
  return reportsOf(await QueryLog.on(await restored(file)));
}

/** Returns all of a log's reports as JSON. */
export async function reportsOf(log: QueryLog): Promise<string> {
  const request = { log: LOG, window: WINDOW };
  const ranked = { ...request, limit: 100 };
  const says = {
    queries: await reportOf(log, { ...ranked, kind: "queries" }),
    noResults: await reportOf(log, { ...ranked, kind: "no-results" }),
    documents: await reportOf(log, { ...ranked, kind: "documents" }),
    summary: await reportOf(log, { ...request, kind: "summary", interval: "day" }),
    rows: (await exportLines(log, LOG, WINDOW)).trimEnd().split("\n"),
  };
  return `${JSON.stringify(says, null, 2)}\n`;
}
