// `skein restore` turns a backup into a data directory, without a server.
import { resolve } from "node:path";
import { Command } from "commander";
import { makePrivateFiles } from "../../ground/data-dir/private-files.js";
import { CliError } from "../failure.js";

interface RestoreOptions {
  readonly dataDir: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  skein restore /mnt/backup/2031-01-01 --data-dir /var/lib/skein
  skein restore data/snapshots/20310101-020000-1a2b3c --data-dir ./data --force

Every checksum is verified before anything is written. Backups do not contain the bootstrap admin key: the data
directory keeps its own, or the next start generates one.`;

export function restoreCommand(): Command {
  return new Command("restore")
    .description("turn a backup into a data directory, while the server is stopped")
    .argument("<directory>", "the directory of the backup")
    .requiredOption("--data-dir <directory>", "the data directory to create")
    .option("--force", "replace the data already there")
    .option("--json", "print JSON instead of text")
    .addHelpText("after", EXAMPLES)
    .action(restore);
}

async function restore(directory: string, options: RestoreOptions): Promise<void> {
  // Imported here so that other commands do not load a database.
  const { restoreBackup } = await import("../../operate/backups/restore.js");
  const { BackupError } = await import("../../operate/backups/manifest.js");
  const { EnvelopeError } = await import("../../../shards/storage/envelope.js");
  const dataDir = resolve(options.dataDir);
  makePrivateFiles();
  try {
    const report = (line: string): void => {
      if (options.json !== true) process.stderr.write(`${line}\n`);
    };
    const manifest = await restoreBackup(resolve(directory), dataDir, options.force === true, report);
    const { id, indexes, documents } = manifest;
    process.stdout.write(
      options.json === true
        ? `${JSON.stringify({ data: { id, indexes, documents, data_dir: dataDir } })}\n`
        : `Restored backup ${id} to ${dataDir}: ${indexes} indexes, ${documents} documents.\n`,
    );
  } catch (error) {
    if (error instanceof BackupError || error instanceof EnvelopeError) throw new CliError(error.message);
    throw error;
  }
}
