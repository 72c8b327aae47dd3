// Determines the server and the key that a command uses. Flags take precedence, then the environment, then
// the key file of a local server.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { dataDirFrom } from "../operate/config/config.js";
import { ApiClient } from "./api.js";
import { CliError } from "./failure.js";

const DEFAULT_URL = "http://127.0.0.1:8800";
/** The file in the data directory in which a server stores its admin key when it first starts. */
const ADMIN_KEY_FILE = "admin.key";

export interface GlobalOptions {
  readonly url?: string;
  readonly key?: string;
  readonly json?: boolean;
}

/**
 * Adds the options shared by all commands that send requests to a server. They may appear anywhere on the
 * command line.
 */
export function withGlobalOptions(command: Command): Command {
  return command
    .option("--url <address>", `address of the server (SKEIN_URL, default ${DEFAULT_URL})`)
    .option("--key <key>", "API key (SKEIN_API_KEY, SKEIN_ADMIN_KEY, or ./data/admin.key)")
    .option("--json", "print JSON instead of text");
}

/** Returns a client for the server selected by the options and the environment. */
export function connect(
  options: GlobalOptions,
  env: NodeJS.ProcessEnv = process.env,
  connections = 8,
): ApiClient {
  return new ApiClient(
    options.url ?? nonEmpty(env.SKEIN_URL) ?? DEFAULT_URL,
    findKey(options, env),
    connections,
  );
}

/** Returns the key to send. Null if none was found; the server then decides whether the request needs one. */
export function findKey(options: GlobalOptions, env: NodeJS.ProcessEnv): string | null {
  const given = options.key ?? nonEmpty(env.SKEIN_API_KEY) ?? nonEmpty(env.SKEIN_ADMIN_KEY);
  if (given !== undefined) return given;
  const file = join(dataDirFrom(undefined, env), ADMIN_KEY_FILE);
  try {
    return nonEmpty(readFileSync(file, "utf8").trim()) ?? null;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new CliError(`cannot read the key in ${file} (${code}); give one with --key or SKEIN_API_KEY`);
  }
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : text;
}
