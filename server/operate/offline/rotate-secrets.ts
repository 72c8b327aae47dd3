// Rotates secrets.key: everything sealed with the old key is resealed with a new key. The server must be
// stopped. There are three durable steps; after a crash at any point, one of the two keys opens all secrets:
//   1  secrets.key.next contains the new key
//   2  one batch of the catalog replaces all sealed secrets
//   3  secrets.key.next becomes secrets.key
// If a start or a later rotation finds secrets.key.next, it performs step 3 if step 2 was done, and otherwise
// undoes step 1.
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Catalog } from "../../catalog/catalog.js";
import { KEYED_SETTINGS } from "../../catalog/definition/model-servers.js";
import type { CatalogState, Command } from "../../catalog/state.js";
import { withResealedPassword } from "../../documents/sources/passwords.js";
import { lockDataDir } from "../../ground/data-dir/data-lock.js";
import { renameDurably, syncDirectory } from "../../ground/data-dir/durable-files.js";
import {
  makeKeys,
  NEXT_SECRETS_FILE,
  readKeys,
  SECRETS_FILE,
  writeKeys,
} from "../../ground/data-dir/secret-keys.js";
import { Secrets, UnreadableSecretError } from "../../ground/data-dir/secrets.js";
import { fault } from "../../ground/fault.js";
import { withResealedKey } from "../../models/api-keys.js";
import { unfinishedRestore } from "../backups/restore.js";

export interface Rotation {
  /** Number of secrets sealed with the new key. */
  readonly resealed: number;
  /**
   * Names of the records whose secrets the old key does not open. These secrets are left unchanged and must
   * be entered again.
   */
  readonly unreadable: readonly string[];
}

/**
 * Rotates the key. Throws DataDirLockedError, StoreLockedError and the errors of `Catalog.open`. Throws an
 * Error if the directory has no secrets, if a restore is unfinished, or if the catalog has damaged records,
 * whose secrets would be lost.
 */
export async function rotateSecrets(dataDir: string): Promise<Rotation> {
  if (!existsSync(join(dataDir, "catalog"))) throw new Error(`${dataDir} is not a data directory of Skein`);
  const unlock = await lockDataDir(dataDir, "skein rotate-secrets");
  try {
    unfinishedRestore(dataDir);
    const catalog = await Catalog.open(dataDir);
    try {
      const [damage] = catalog.damage.found;
      if (damage !== undefined) throw new Error(`${damage}; restore the catalog from a backup`);
      await finishRotation(dataDir, catalog.state);
      return await rotate(dataDir, catalog);
    } finally {
      await catalog.close();
    }
  } finally {
    await unlock();
  }
}

async function rotate(dataDir: string, catalog: Catalog): Promise<Rotation> {
  const [file, nextFile] = [join(dataDir, SECRETS_FILE), join(dataDir, NEXT_SECRETS_FILE)];
  const keys = readKeys(file);
  if (keys === null)
    throw new Error(`there is no ${file}, so no secret is encrypted; a key is generated when needed`);
  writeKeys(nextFile, { ...makeKeys(), pseudonyms: keys.pseudonyms });
  fault("secrets.after-key");
  const secrets = new Secrets(dataDir);
  const { commands, resealed, unreadable } = resealing(
    catalog.state,
    secrets,
    new Secrets(dataDir, NEXT_SECRETS_FILE),
  );
  await catalog.change(() => ({ type: "all", commands }));
  fault("secrets.after-catalog");
  await renameDurably(nextFile, file);
  fault("secrets.after-rename");
  return { resealed, unreadable };
}

/** Completes or undoes an interrupted rotation. Must be called before any secret is opened or sealed. */
export async function finishRotation(dataDir: string, state: CatalogState): Promise<void> {
  const nextFile = join(dataDir, NEXT_SECRETS_FILE);
  if (!existsSync(nextFile)) return;
  const next = new Secrets(dataDir, NEXT_SECRETS_FILE);
  if (resealing(state, next, next).resealed > 0) await renameDurably(nextFile, join(dataDir, SECRETS_FILE));
  else {
    await rm(nextFile);
    await syncDirectory(dataDir);
  }
}

/** Describes what is left of an interrupted rotation, one sentence each. */
export function unfinishedRotation(dataDir: string): string[] {
  if (!existsSync(join(dataDir, NEXT_SECRETS_FILE))) return [];
  return [
    "a replacement of the key of secrets was interrupted; the next start, or skein rotate-secrets, completes it",
  ];
}

function resealing(
  state: CatalogState,
  from: Secrets,
  to: Secrets,
): Rotation & { readonly commands: readonly Command[] } {
  const commands: Command[] = [];
  const unreadable: string[] = [];
  let resealed = 0;
  /** Returns the resealed record, or the record itself if its secret cannot be opened. */
  const attempt = <T>(record: T, name: string, reseal: (record: T) => T): T => {
    try {
      const changed = reseal(record);
      if (changed !== record) resealed++;
      return changed;
    } catch (error) {
      if (!(error instanceof UnreadableSecretError)) throw error;
      unreadable.push(name);
      return record;
    }
  };
  for (const before of state.indexes.values()) {
    let record = before;
    for (const setting of KEYED_SETTINGS) {
      const name = `${setting}.api_key of the index "${before.name}" of tenant ${before.tenant}`;
      record = attempt(record, name, (present) => withResealedKey(present, setting, from, to));
    }
    if (record !== before) commands.push({ type: "index.put", record });
  }
  for (const before of [...state.owned.source.values()].flat()) {
    const name = `basic_auth of the data source ${before.id}`;
    const record = attempt(before, name, (present) => withResealedPassword(present, from, to));
    if (record !== before) commands.push({ type: "record.put", kind: "source", record });
  }
  return { commands, resealed, unreadable };
}
