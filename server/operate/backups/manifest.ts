// Reads and writes a backup's manifest, which is its last file and the only proof that the other files are
// complete. A directory without a manifest is not a backup.
//
//   <id>/catalog.skb, shard-0.skb ... shard-<n-1>.skb      shards/storage/backup-file.ts
//   <id>/analytics.skb                                     if something was ever logged
//   <id>/manifest.json                                     this file, `checksum` over the rest
import { createHash } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type BackupFileSums, hashFile } from "../../../shards/storage/backup-file.js";
import { isObject } from "../../ground/input/json-value.js";

// ON DISK: never change the meaning of these names.
const FORMAT = "skein-snapshot";
const VERSION = 1;
export const MANIFEST_FILE = "manifest.json";
export const CATALOG_FILE = "catalog.skb";
export const ANALYTICS_FILE = "analytics.skb";

export function shardFile(shard: number): string {
  return `shard-${shard}.skb`;
}

export interface BackupFile extends BackupFileSums {
  readonly name: string;
}

export interface BackupManifest {
  readonly id: string;
  /** The moment that the backup shows, in ISO 8601 format, UTC. */
  readonly createdAt: string;
  readonly shards: number;
  readonly indexes: number;
  readonly documents: number;
  /** The catalog file first, then the shard files by number, then the query log file. */
  readonly files: readonly BackupFile[];
}

/** The backup cannot be used. The message is one sentence for the operator. */
export class BackupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "BackupError";
  }
}

export function bytesOf(manifest: BackupManifest): number {
  return manifest.files.reduce((sum, { bytes }) => sum + bytes, 0);
}

export async function writeManifest(directory: string, manifest: BackupManifest): Promise<void> {
  const { id, createdAt, shards, indexes, documents, files } = manifest;
  const content = {
    format: FORMAT,
    version: VERSION,
    id,
    created_at: createdAt,
    shards,
    indexes,
    documents,
    files: files.map(({ name, bytes, records, sha256 }) => ({ name, bytes, records, sha256 })),
  };
  const text = JSON.stringify({ ...content, checksum: checksum(content) }, null, 2);
  const file = await open(join(directory, MANIFEST_FILE), "wx", 0o600);
  try {
    await file.writeFile(`${text}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Reads a backup's manifest. Throws BackupError if there is no backup, if a newer version wrote it, or if the
 * manifest is damaged.
 */
export async function readManifest(directory: string): Promise<BackupManifest> {
  const path = join(directory, MANIFEST_FILE);
  let content: unknown;
  try {
    content = JSON.parse(await readFile(path, "utf8"));
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const why = missing
      ? `there is no ${MANIFEST_FILE}: not a backup, or an unfinished one`
      : "it is damaged";
    throw new BackupError(`${directory} cannot be used: ${why}`, { cause });
  }
  if (!isObject(content) || content.format !== FORMAT)
    throw new BackupError(`${path} does not belong to a backup`);
  if (content.version !== VERSION) {
    throw new BackupError(
      `${directory} has the backup format ${String(content.version)}; this version of Skein reads ${VERSION}`,
    );
  }
  const { checksum: stored, ...rest } = content;
  if (stored !== checksum(rest)) throw new BackupError(`${path} is damaged (checksum)`);
  // The cast is safe: the checksum shows that writeManifest wrote these members.
  const { id, created_at, shards, indexes, documents, files } = rest as unknown as Written;
  return { id, createdAt: created_at, shards, indexes, documents, files };
}

/** Reads every file of the backup. Throws BackupError at the first file that differs from the manifest. */
export async function checkFiles(directory: string, manifest: BackupManifest): Promise<void> {
  for (const { name, bytes, sha256 } of manifest.files) {
    let found: { bytes: number; sha256: string };
    try {
      found = await hashFile(join(directory, name));
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      throw new BackupError(`${name} of the backup ${manifest.id} cannot be read (${code})`, { cause });
    }
    if (found.bytes !== bytes || found.sha256 !== sha256) {
      throw new BackupError(`${name} of the backup ${manifest.id} is damaged (length or checksum)`);
    }
  }
}

interface Written extends Omit<BackupManifest, "createdAt"> {
  readonly created_at: string;
}

function checksum(content: object): string {
  return createHash("sha256").update(JSON.stringify(content)).digest("hex");
}
