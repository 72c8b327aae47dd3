// Opens everything in the data directory except the shards: the catalog, the audit log, the secrets and the
// admin key.
import { AuditLog } from "../access/audit/audit-log.js";
import { findAdminKey, UNGUESSABLE_LENGTH } from "../access/tenants/admin-key.js";
import { type Plan, planOfTenant } from "../access/tenants/plans.js";
import { Headroom } from "../ground/data-dir/headroom.js";
import { Secrets } from "../ground/data-dir/secrets.js";
import { finishRotation } from "../operate/offline/rotate-secrets.js";
import { ensureDefaultTenant, openCatalog } from "./catalog.js";
import { takeDataDir } from "./data-dir.js";
import { DISK_MS_MAX, type Ground } from "./ground.js";
import { checkShardDatabases, fixedShards } from "./shards.js";

/**
 * Opens the data directory. Locks it first, so that no second server or offline command can start. Moves the
 * documents if the number of shards has changed. Throws ConfigError.
 */
export async function openData(ground: Ground) {
  const { config, settings, limits, log, recorder, teardown } = ground;
  const { dataDir, durability } = config;
  teardown.add("unlock the data directory", await takeDataDir(dataDir, log));
  const catalog = await openCatalog(dataDir);
  teardown.add("close the catalog", () => catalog.close(), DISK_MS_MAX);
  await finishRotation(dataDir, catalog.state);
  for (const found of catalog.damage.found) {
    log.error({ found }, "a record of the catalog is damaged; restore the catalog from a backup");
  }
  const audit = new AuditLog({ directory: dataDir, durability, limits, meter: recorder.audit, log });
  teardown.add("close the audit log", () => audit.close(), DISK_MS_MAX);
  const shards = await fixedShards(catalog, config, log);
  checkShardDatabases(dataDir, catalog);
  await ensureDefaultTenant(catalog);
  const adminKey = findAdminKey(dataDir, config.adminKey);
  if (adminKey.createdIn !== null) {
    process.stderr.write(
      `Admin key, shown only this once and stored in ${adminKey.createdIn}: ${adminKey.value}\n`,
    );
  }
  if (adminKey.value.length < UNGUESSABLE_LENGTH) {
    log.warn(
      `the admin key has fewer than ${UNGUESSABLE_LENGTH} characters: it may be guessed, and it is refused at addresses that send many wrong keys`,
    );
  }
  return {
    ...ground,
    dataDir,
    catalog,
    audit,
    shards,
    adminKey: adminKey.value,
    secrets: new Secrets(dataDir),
    headroom: new Headroom(dataDir, limits),
    planOf: (tenant: number): Plan => planOfTenant(settings.now.plans, catalog.state, tenant),
  };
}

export type DataFloor = Awaited<ReturnType<typeof openData>>;
