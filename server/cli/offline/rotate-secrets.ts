// `skein rotate-secrets` replaces the key that encrypts a data directory's secrets, without a server.
import { resolve } from "node:path";
import { Command } from "commander";
import { messageOf } from "../../documents/formats/input-error.js";
import { makePrivateFiles } from "../../ground/data-dir/private-files.js";
import { dataDirFrom } from "../../operate/config/config.js";
import { CliError } from "../failure.js";

interface RotateOptions {
  readonly dataDir?: string;
  readonly json?: boolean;
}

const EXAMPLES = `
Generates a new key in secrets.key and re-encrypts feed passwords and the API keys in settings with it. The server must
be stopped. Earlier snapshots contain secrets that only the old key decrypts: copy secrets.key first, and keep the copy
with them. Users in the query logs keep their identities. Client API keys and the bootstrap admin key do not change.

Examples:
  cp /var/lib/skein/secrets.key /mnt/backup/secrets-until-2031-01-01.key
  skein rotate-secrets --data-dir /var/lib/skein`;

export function rotateSecretsCommand(): Command {
  return new Command("rotate-secrets")
    .description("replace the encryption key of a stopped server's secrets")
    .option("--data-dir <dir>", "the data directory (./data) [SKEIN_DATA_DIR]")
    .option("--json", "print JSON instead of text")
    .addHelpText("after", EXAMPLES)
    .action(rotate);
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
      process.stderr.write(`The old key cannot decrypt the ${name}; set it again.\n`);
    process.stdout.write(
      `The key of ${dataDir} was replaced; ${resealed} secrets are encrypted with the new one.\n`,
    );
  } catch (error) {
    throw new CliError(messageOf(error));
  }
}
