// Prepares the shard databases before the server answers: fixes the number of shards, checks that all
// databases exist, and moves the documents if the number changes.
import { join } from "node:path";
import { SHARD_DAMAGED, ShardError } from "../../shards/protocol/errors.js";
import { hasDatabase } from "../../shards/storage/level-reader/level-files.js";
import type { Catalog } from "../catalog/catalog.js";
import { type IndexRecord, isMade } from "../catalog/records/index-record.js";
import type { Command } from "../catalog/state.js";
import { type Fleet, type FleetOptions, openFleet } from "../fleet/fleet.js";
import { fault } from "../ground/fault.js";
import type { Logger } from "../ground/log.js";
import { discardNew, finishFlip } from "../indexes/reshard/folders.js";
import { redistribute } from "../indexes/reshard/redistribute.js";
import { type Config, defaultShards } from "../operate/config/config.js";
import { ConfigError } from "../operate/config/values.js";

/**
 * Throws ConfigError if a shard's database is missing. Without this check, the server would create an empty
 * database in its place, and the documents would be lost without notice.
 */
export function checkShardDatabases(dataDir: string, catalog: Catalog): void {
  const { shards, indexes } = catalog.state;
  if (indexes.size === 0) return;
  for (let shard = 0; shard < (shards ?? 0); shard++) {
    const location = join(dataDir, "shards", String(shard));
    if (!hasDatabase(location))
      throw new ConfigError(`the database at ${location} is missing; restore it from a backup`);
  }
}

export async function startShards(options: FleetOptions): Promise<Fleet> {
  try {
    return await openFleet(options);
  } catch (error) {
    if (!(error instanceof ShardError) || error.code !== SHARD_DAMAGED) throw error;
    throw new ConfigError(`${error.message}; run "skein check" and "skein repair"`);
  }
}

/**
 * The first start fixes the number of shards. If a later start wants a different number, it moves the
 * documents before it continues.
 */
export async function fixedShards(catalog: Catalog, config: Config, log: Logger): Promise<number> {
  const { dataDir, shards: wanted, limits, engine } = config;
  const kept = catalog.state.shards;
  if (kept === null) {
    const shards = wanted ?? defaultShards();
    await catalog.change(() => ({ type: "shards.fix", shards }));
    return shards;
  }
  await finishFlip(dataDir, kept);
  if (wanted === null || wanted === kept) {
    await discardNew(dataDir);
    return kept;
  }
  const indexes = [...catalog.state.indexes.values()].filter(isMade);
  let home: ReadonlySet<number>;
  try {
    home = await redistribute({ dataDir, from: kept, to: wanted, indexes, limits, engine, log });
  } catch (error) {
    log.error({ err: error }, "the documents could not be redistributed");
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(
      `the documents could not be moved from ${kept} to ${wanted} shards: ${reason}; all of them are still in the ${kept} shards`,
    );
  }
  await catalog.change(() => ({
    type: "all",
    commands: [
      { type: "shards.fix", shards: wanted },
      ...indexes.map(
        (record): Command => ({ type: "index.put", record: placed(record, home.has(record.uid)) }),
      ),
      // Data waiting to be dropped was not moved, so it no longer exists. Its catalog entries must go, too:
      // an index that has moved back home reuses its old data number, and a pending drop would delete its
      // documents.
      ...Array.from(catalog.state.toDrop, (uid): Command => ({ type: "index.dropped", uid })),
    ],
  }));
  fault("reshard.after-catalog");
  await finishFlip(dataDir, wanted);
  return wanted;
}

function placed({ isHome: _, ...record }: IndexRecord, isHome: boolean): IndexRecord {
  return isHome ? { ...record, isHome } : record;
}
