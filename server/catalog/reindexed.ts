// Records in the catalog that all documents of an index have been re-indexed, so that queries may use what a
// schema change has allowed.
import { SkeinError } from "../ground/errors.js";
import type { Logger } from "../ground/log.js";
import type { Catalog } from "./catalog.js";
import { asReady, type IndexRecord } from "./records/index-record.js";
import type { CatalogState, Command } from "./state.js";

/**
 * Call when no segment has an older schema than `reindexed`, which is the index's record or an earlier one.
 * Returns false if this could not be stored; call again later.
 */
export async function recordReindexed(
  catalog: Catalog,
  reindexed: IndexRecord,
  log: Logger,
): Promise<boolean> {
  if (readied(catalog.state, reindexed) === null) return true;
  try {
    await catalog.change((state): Command => {
      const record = readied(state, reindexed);
      return record === null ? { type: "all", commands: [] } : { type: "index.put", record };
    });
    return true;
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
    log.warn(
      { err: error, index: reindexed.name },
      "the end of re-indexing could not be stored; trying again",
    );
    return false;
  }
}

/** The index's record with all uses ready. Null if they are, or if the schema has changed again. */
function readied({ indexes }: CatalogState, { uid, schemaVersion }: IndexRecord): IndexRecord | null {
  const record = indexes.get(uid);
  if (record?.unready === undefined || record.schemaVersion !== schemaVersion) return null;
  return asReady(record);
}
