// Reads a server's configuration. Flags override the environment, which overrides skein.config.json, which
// overrides the defaults. An invalid value is never replaced by a guess; it is a ConfigError with a one-line
// message that names the option. Reading the configuration opens and starts nothing.
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import type { CertificateFiles } from "../../access/edge/certificate.js";
import { type FileMembers, readConfigFile, readFileMembers } from "./file.js";
import { given, OPTIONS, type OptionValues, readOptions } from "./options.js";
import { ConfigError } from "./values.js";

export interface Config
  extends Omit<OptionValues, "snapshotDir" | "tlsCert" | "tlsKey" | "memoryLimit">,
    FileMembers {
  readonly snapshotDir: string;
  /** Null if the server uses plain HTTP. */
  readonly tls: CertificateFiles | null;
}

const FILE_NAME = "skein.config.json";

/**
 * Assembles the configuration. `flags` contains option values by name, undefined if not given; its `config`
 * member is the path of a configuration file other than the default. Throws ConfigError.
 */
export function loadConfig(
  flags: Readonly<Record<string, string | undefined>>,
  env: NodeJS.ProcessEnv = process.env,
  directory = process.cwd(),
): Config {
  const path = flags.config ?? env.SKEIN_CONFIG;
  if (path === "")
    throw new ConfigError("the name of the configuration file (--config, SKEIN_CONFIG) is empty");
  const name = path ?? FILE_NAME;
  const content = readConfigFile(resolve(directory, name), name, path !== undefined);
  const values = readOptions({ flags, env, file: { name, content } });
  const { snapshotDir, tlsCert, tlsKey, memoryLimit, ...options } = values;
  const dataDir = resolve(directory, options.dataDir);
  const members = readFileMembers(content, name);
  return {
    ...options,
    ...members,
    dataDir,
    snapshotDir: resolve(directory, snapshotDir ?? join(dataDir, "snapshots")),
    tls: certificateFiles(tlsCert, tlsKey, directory),
    limits: memoryLimit === null ? members.limits : { ...members.limits, memoryBytesMax: memoryLimit },
  };
}

/**
 * Returns the data directory, for commands that read no configuration file: `flag`, otherwise the
 * environment, otherwise the default. Throws ConfigError.
 */
export function dataDirFrom(flag: string | undefined, env: NodeJS.ProcessEnv): string {
  const { dataDir } = OPTIONS;
  return dataDir.read(
    given(dataDir, { flags: { data_dir: flag }, env, file: { name: FILE_NAME, content: {} } }),
  );
}

/** Default number of shards for a new data directory. */
export function defaultShards(): number {
  return Math.max(1, availableParallelism() - 1);
}

function certificateFiles(
  cert: OptionValues["tlsCert"],
  key: OptionValues["tlsKey"],
  directory: string,
): CertificateFiles | null {
  if (cert.file === "" && key.file === "") return null;
  if (cert.file !== "" && key.file !== "")
    return { certificate: resolve(directory, cert.file), key: resolve(directory, key.file) };
  const [there, missing] = key.file === "" ? [cert, key] : [key, cert];
  throw new ConfigError(`${there.label} needs ${missing.label}; give both for https, or none`);
}
