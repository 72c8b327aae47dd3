// `skein rotate-secrets`: replaces the key that encrypts a data directory's secrets, without a server.
import { resolve } from "node:path";
import { Command } from "commander";
import { messageOf } from "../../documents/formats/input-error.js";
import { makePrivateFiles } from "../../ground/data-dir/private-files.js";
import { dataDirFrom } from "../../operate/config/config.js";
import { type GlobalOptions, withGlobalOptions } from "../connection.js";
import { CliError } from "../failure.js";

interface RotateOptions extends GlobalOptions {
  readonly dataDir?: string;
}

const EXAMPLES = `
Makes a new key in secrets.key and seals the passwords of feeds and the API keys of settings with it. The server must be
stopped. Snapshots made before hold secrets that only the old key opens: copy secrets.key first, and keep it with them.
People in the query logs stay the same ones. API keys of clients and the bootstrap admin key are not touched.

Examples:
  cp /var/lib/skein/secrets.key /mnt/backup/secrets-until-2031-01-01.key
  skein rotate-secrets --data-dir /var/lib/skein`;

export function rotateSecretsCommand(): Command {
  const command = new Command("rotate-secrets")
    .description("change the key of a stopped server's stored secrets")
    .option("--data-dir <dir>", "the data directory (./data) [SKEIN_DATA_DIR]")
    .addHelpText("after", EXAMPLES);
  return withGlobalOptions(command).action(rotate);
}

async function rotate(options: RotateOptions): Promise<void> {
  // Imported here so that other commands do not load a database.
  const { rotateSecrets } = await import("../../operate/offline/rotate-secrets.js");
  const dataDir = resolve(dataDirFrom(options.dataDir, process.env));
  makePrivateFiles();
  try {
    const { resealed, unreadable } = await rotateSecrets(dataDir);
    if (options.json === true) {
      process.stdout.write(`${JSON.stringify({ data: { resealed, unreadable } })}\n`);
      return;
    }
    for (const name of unreadable)
      process.stderr.write(`The old key does not open the ${name}; give it again.\n`);
    process.stdout.write(`The key of ${dataDir} is a new one; ${resealed} secrets are sealed with it.\n`);
  } catch (error) {
    throw new CliError(messageOf(error));
  }
}
