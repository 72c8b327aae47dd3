// Opens the catalog at startup. If it cannot be opened, the error explains why in one line. Adds the tenant
// that every server has.
import { join } from "node:path";
import { EnvelopeError, OtherVersionError } from "../../shards/storage/envelope.js";
import { StoreDamagedError, StoreLockedError } from "../../shards/storage/store.js";
import { DEFAULT_TENANT } from "../access/tenants/principal.js";
import { Catalog } from "../catalog/catalog.js";
import { finishRestore } from "../operate/backups/restore.js";
import { ConfigError } from "../operate/config/values.js";

/** Opens the catalog, after completing an interrupted restore if there is one. Throws ConfigError. */
export async function openCatalog(dataDir: string): Promise<Catalog> {
  try {
    await finishRestore(dataDir);
    return await Catalog.open(dataDir);
  } catch (error) {
    if (error instanceof StoreLockedError)
      throw new ConfigError(`another server is running on the data directory ${dataDir}`);
    if (error instanceof OtherVersionError) {
      throw new ConfigError(
        `the data directory ${dataDir} was written by another version of Skein: ${error.message}`,
      );
    }
    if (error instanceof EnvelopeError || error instanceof StoreDamagedError) {
      throw new ConfigError(
        `the catalog of ${dataDir} cannot be read: ${error.message}; restore ${join(dataDir, "catalog")} from a backup`,
      );
    }
    throw error;
  }
}

export async function ensureDefaultTenant(catalog: Catalog): Promise<void> {
  if ([...catalog.state.tenants.values()].some((tenant) => tenant.name === DEFAULT_TENANT)) return;
  const createdAt = new Date().toISOString();
  await catalog.change((state) => ({
    type: "tenant.put",
    tenant: { id: state.nextTenantId, name: DEFAULT_TENANT, plan: "default", createdAt },
  }));
}
