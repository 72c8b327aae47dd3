// Checks or repairs a stopped server's data directory. The catalog is examined in this process. Each shard's
// database is examined in its own process, one shard after another. The directory stays locked throughout.
// Prints nothing.
import { fork } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { builtFile } from "../../../engine-wasm/host/runtime/built-files.js";
import type { IndexReport, OfflineJob, ShardReport } from "../../../shards/protocol/offline.js";
import { OtherVersionError } from "../../../shards/storage/envelope.js";
import { hasDatabase, levelDamage } from "../../../shards/storage/level-reader/level-files.js";
import { Catalog } from "../../catalog/catalog.js";
import { type IndexRecord, isMade } from "../../catalog/records/index-record.js";
import { dataNumbers, Locations } from "../../catalog/schema/placement.js";
import { resolvedSchemaOf } from "../../catalog/schema/resolved-schema.js";
import type { CatalogState } from "../../catalog/state.js";
import { lockDataDir } from "../../ground/data-dir/data-lock.js";
import { unfinishedMove } from "../../indexes/reshard/folders.js";
import { unfinishedRestore } from "../backups/restore.js";
import { unfinishedRotation } from "./rotate-secrets.js";

export interface Examination {
  readonly task: "check" | "repair";
  readonly dataDir: string;
  /**
   * Name of the only index to examine, or null for all indexes. If several tenants have an index with this
   * name, all of those indexes are examined.
   */
  readonly index: string | null;
  readonly dryRun: boolean;
}

export interface Findings {
  /**
   * What is left of an interrupted restore, change of the number of shards, rotation of the secrets key, or
   * index creation, one sentence each. Does not count as damage.
   */
  readonly unfinished: readonly string[];
  /** Faults in the catalog. If the catalog cannot be read, nothing else has been examined. */
  readonly catalog: readonly string[];
  readonly shards: readonly ShardReport[];
  /** Faults in the query log's database files. A repair does not change these files. */
  readonly queryLogs: readonly string[];
  /** Sequence numbers that several shards contain, although each should be in only one; one sentence each. */
  readonly across: readonly string[];
  /** Index names by uid. */
  readonly names: ReadonlyMap<number, string>;
}

/**
 * Runs the examination. Throws DataDirLockedError and StoreLockedError. Throws an Error if the directory or
 * the index does not exist, if the catalog has another version, or if it is unclear which databases are valid
 * because a restore or a change of the number of shards was interrupted.
 */
export async function examine({ task, dataDir, index, dryRun }: Examination): Promise<Findings> {
  const restore = unfinishedRestore(dataDir);
  if (!["catalog", "shards"].some((part) => existsSync(join(dataDir, part))))
    throw new Error(`${dataDir} is not a data directory of Skein`);
  const unlock = await lockDataDir(dataDir, `skein ${task}`);
  try {
    const { state, problems } = await readCatalog(dataDir);
    if (state === null)
      return {
        unfinished: restore,
        catalog: problems,
        shards: [],
        queryLogs: [],
        across: [],
        names: new Map(),
      };
    const move = await unfinishedMove(dataDir, state.shards ?? 0);
    const unfinished = [...restore, ...move, ...unfinishedRotation(dataDir), ...unfinishedCreations(state)];
    const records = [...state.indexes.values()];
    const wanted = index === null ? null : recordsNamed(records, index).flatMap(dataNumbers);
    const names = new Map(
      records.flatMap((one) => dataNumbers(one).map((data) => [data, one.name] as const)),
    );
    const shards: ShardReport[] = [];
    for (let shard = 0; shard < (state.shards ?? 0); shard++) {
      shards.push(
        await runShard({ task, dataDir, shard, dryRun, ...shardJob(state, records, wanted, shard) }),
      );
    }
    const queryLogs = wanted === null ? queryLogDamage(join(dataDir, "analytics")) : [];
    const across = acrossShards(shards);
    return { unfinished, catalog: problems, shards, queryLogs, across, names };
  } finally {
    await unlock();
  }
}

function queryLogDamage(location: string): string[] {
  return hasDatabase(location) ? levelDamage(location, true) : [];
}

async function readCatalog(dataDir: string): Promise<{ state: CatalogState | null; problems: string[] }> {
  let catalog: Catalog;
  try {
    catalog = await Catalog.open(dataDir);
  } catch (error) {
    if (error instanceof OtherVersionError) {
      throw new Error(`${dataDir} was written by another version of Skein: ${error.message}`, {
        cause: error,
      });
    }
    return { state: null, problems: [(error as Error).message] };
  }
  const { state, damage } = catalog;
  await catalog.close();
  return { state, problems: [...damage.found] };
}

function unfinishedCreations({ indexes }: CatalogState): string[] {
  return [...indexes.values()]
    .filter((record) => !isMade(record))
    .map(({ name }) => `the creation of the index "${name}" was interrupted; the next start removes it`);
}

function recordsNamed(records: readonly IndexRecord[], name: string): IndexRecord[] {
  const named = records.filter((record) => record.name === name);
  if (named.length === 0) throw new Error(`there is no index named "${name}"`);
  return named;
}

function shardJob(
  state: CatalogState,
  records: readonly IndexRecord[],
  only: readonly number[] | null,
  shard: number,
): Pick<OfflineJob, "indexes" | "only" | "dropping"> {
  const locations = new Locations(state.shards ?? 0);
  const indexes = records.filter(isMade).flatMap((record) => {
    const { data, places } = locations.of(record);
    if (!places.includes(shard)) return [];
    const { shardSchema: schema } = resolvedSchemaOf(record);
    return [{ uid: data, schema, shards: places.length, part: places.indexOf(shard) }];
  });
  const live = new Set(indexes.map(({ uid }) => uid));
  const dropped = [...state.toDrop].map((uid) => ({ uid }));
  const dropping = [...records, ...dropped].flatMap(dataNumbers).filter((data) => !live.has(data));
  return { indexes, only: only === null ? null : [...only], dropping };
}

/**
 * Examines a shard in a separate process. LevelDB aborts its process on some kinds of damage; if that
 * happens, the shard is reported as damaged.
 */
function runShard(job: OfflineJob): Promise<ShardReport> {
  return new Promise((resolve) => {
    const child = fork(builtFile("shards/offline/process.js"), {
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    let report: ShardReport | null = null;
    let errors = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      errors = (errors + text).slice(-2000);
    });
    child.once("message", (message) => {
      report = message as ShardReport;
    });
    child.once("close", (code, signal) => {
      const reason =
        errors
          .trim()
          .split("\n")
          .findLast((line) => line.trim() !== "") ?? "";
      const ended = `the process that read it ended with ${signal ?? `status ${code}`} ${reason}`.trim();
      const location = join(job.dataDir, "shards", String(job.shard));
      const problems = [`the database at ${location} cannot be read: ${ended}`];
      resolve(report ?? { shard: job.shard, location, problems, filesRepaired: false, indexes: [] });
    });
    child.send(job);
  });
}

function acrossShards(shards: readonly ShardReport[]): string[] {
  const found: string[] = [];
  const reports = shards.flatMap((shard) => shard.indexes.map((index) => ({ shard: shard.shard, index })));
  for (const uid of new Set(reports.map(({ index }) => index.uid))) {
    const owners = new Map<number, number>();
    for (const { shard, index } of reports.filter((report) => report.index.uid === uid)) {
      found.push(...duplicates(index, shard, owners));
    }
  }
  return found;
}

function duplicates(index: IndexReport, shard: number, owners: Map<number, number>): string[] {
  const found: string[] = [];
  for (const seq of index.seqs) {
    const other = owners.get(seq);
    if (other !== undefined)
      found.push(`index ${index.uid}, document ${seq}: in shards ${other} and ${shard}`);
    owners.set(seq, shard);
  }
  return found;
}
