// `skein backup` has a running server make a backup and waits until it is complete. With --to, it copies the
// backup's files to another place on the same machine.
import { existsSync } from "node:fs";
import { copyFile, mkdir, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import type { ApiClient } from "../api.js";
import { connect, type GlobalOptions, withGlobalOptions } from "../connection.js";
import { CliError } from "../failure.js";

const POLL_MS = 200;

interface Backup {
  readonly id: string;
  readonly status: string;
  readonly bytes: number;
  readonly indexes: number;
  readonly documents: number;
  readonly path: string;
  readonly error: string | null;
}

interface BackupOptions extends GlobalOptions {
  readonly to?: string;
}

const EXAMPLES = `
Examples:
  skein backup                              # prints the backup's directory on the server's machine
  skein backup --to /mnt/backup/2031-01-01  # also copies it to this directory of the same machine

This command requires the bootstrap admin key. To turn a backup into a data directory, use skein restore.`;

export function backupCommand(): Command {
  const command = new Command("backup")
    .description("back up a running server")
    .option("--to <directory>", "also copy the backup to this directory, which must be new or empty")
    .addHelpText("after", EXAMPLES);
  return withGlobalOptions(command).action(backup);
}

async function backup(options: BackupOptions): Promise<void> {
  const to = options.to === undefined ? null : resolve(options.to);
  if (to !== null && existsSync(to) && (await readdir(to)).length > 0)
    throw new CliError(`${to} is not empty; choose a new directory`);
  const client = connect(options);
  try {
    const made = await finished(client);
    if (to !== null) await copy(made, to);
    const place = to ?? made.path;
    if (options.json === true) {
      process.stdout.write(`${JSON.stringify({ data: { ...made, path: place } })}\n`);
      return;
    }
    const { id, indexes, documents, bytes } = made;
    process.stderr.write(`Backup ${id}: ${indexes} indexes, ${documents} documents, ${bytes} bytes.\n`);
    process.stdout.write(`${place}\n`);
  } finally {
    client.close();
  }
}

async function finished(client: ApiClient): Promise<Backup> {
  const ask = async (method: string, path: string): Promise<Backup> =>
    ((await client.json(method, path)) as { data: Backup }).data;
  let made = await ask("POST", "/v1/snapshots");
  while (made.status === "running") {
    await sleep(POLL_MS);
    made = await ask("GET", `/v1/snapshots/${made.id}`);
  }
  if (made.status === "complete") return made;
  throw new CliError(`the backup failed: ${made.error ?? made.status}`);
}

/**
 * Copies the backup, then checks the copied files against the manifest. The manifest is copied last, so a
 * copy that has one is complete.
 */
async function copy(made: Backup, to: string): Promise<void> {
  // Imported here so that other commands do not load the backup code.
  const { checkFiles, MANIFEST_FILE, readManifest, BackupError } = await import(
    "../../operate/backups/manifest.js"
  );
  if (!existsSync(made.path)) {
    throw new CliError(`${made.path} is not on this machine; run the command on the server's machine`);
  }
  try {
    const manifest = await readManifest(made.path);
    await mkdir(to, { recursive: true });
    for (const { name } of manifest.files) await copyFile(join(made.path, name), join(to, name));
    await checkFiles(to, manifest);
    await copyFile(join(made.path, MANIFEST_FILE), join(to, MANIFEST_FILE));
  } catch (error) {
    if (error instanceof BackupError) throw new CliError(error.message);
    throw error;
  }
}
