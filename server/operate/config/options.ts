// The options that can be set by a flag, an environment variable or a member of the configuration file. Each
// entry defines an option's names, help text and reader. The order of precedence among the three is also
// defined here.
import { availableParallelism } from "node:os";
import type { JsonObject } from "../../ground/input/json-value.js";
import { LOG_LEVELS } from "../../ground/log-levels.js";
import {
  choiceOr,
  type GivenValue,
  keyIfAny,
  memorySizeIfAny,
  type ReadValue,
  textOr,
  wholeNumberOr,
} from "./values.js";

export interface ConfigOption<T = unknown> {
  /** The option's name in the file. In the flag, hyphens replace the underscores. */
  readonly name: string;
  readonly env: string;
  readonly argument: string;
  readonly description: string;
  readonly read: ReadValue<T>;
}

function option<T>(name: string, argument: string, description: string, read: ReadValue<T>): ConfigOption<T> {
  return { name, env: `SKEIN_${name.toUpperCase()}`, argument, description, read };
}

/**
 * "auto" uses the best transport that loads on this machine, "uws" either build of uWebSockets.js. Any other
 * choice has no fallback.
 */
const HTTP_CHOICES = ["auto", "uws", "uwsjs", "uws-pack", "node"] as const;
/**
 * Limited because each front-end reads the shards' memories, which have READERS_MAX slots for readers
 * (engine-wasm/host/instance/board.ts).
 */
const FRONT_ENDS_MAX = 64;

/** All options, by the member of Config that they set. */
export const OPTIONS = {
  host: option("host", "<address>", "address to listen on (127.0.0.1)", textOr("127.0.0.1")),
  /** 0 selects any free port. */
  port: option("port", "<number>", "port, 0 for any free one (8800)", wholeNumberOr(8800, 0, 65535)),
  dataDir: option("data_dir", "<directory>", "where all data is stored (./data)", textOr("./data")),
  /**
   * Null keeps the data directory's number of shards; a new data directory gets one shard fewer than there
   * are cores.
   */
  shards: option(
    "shards",
    "<number>",
    "worker threads (cores - 1); changing the number moves all documents at the next start",
    wholeNumberOr(null, 1, 256),
  ),
  /** Number of threads that handle requests. If it is 1, the main thread handles them. */
  frontEnds: option(
    "frontends",
    "<number>",
    `threads that handle requests, at most ${FRONT_ENDS_MAX} (half the cores)`,
    wholeNumberOr(defaultFrontEnds(), 1, FRONT_ENDS_MAX),
  ),
  /** Directory for backups. Null means `snapshots` in the data directory. */
  snapshotDir: option(
    "snapshot_dir",
    "<directory>",
    "where snapshots are stored (snapshots/ in the data directory)",
    textOr(null),
  ),
  /** Null means the key stored in the data directory, which is generated at the first start. */
  adminKey: option("admin_key", "<key>", "bootstrap admin key (generated at the first start)", keyIfAny),
  durability: option(
    "durability",
    "<fsync|os>",
    "when a write is acknowledged: once synced to disk, or once handed to the OS (fsync)",
    choiceOr("fsync", ["fsync", "os"]),
  ),
  memoryLimit: option(
    "memory_limit",
    "<size>",
    "reject writes with 503 above this resident memory, e.g. 4GB (none)",
    memorySizeIfAny,
  ),
  logLevel: option("log_level", "<level>", `${LOG_LEVELS.join(", ")} (info)`, choiceOr("info", LOG_LEVELS)),
  /** Queries that take at least this many milliseconds are logged. 0 logs no queries. */
  slowQueryMs: option(
    "slow_query_ms",
    "<number>",
    "log queries that take at least this many milliseconds, 0 for none (500)",
    wholeNumberOr(500, 0, 3_600_000),
  ),
  tlsCert: option(
    "tls_cert",
    "<file>",
    "PEM certificate; with --tls-key, the server speaks HTTPS (none: plain HTTP)",
    namedFile,
  ),
  tlsKey: option("tls_key", "<file>", "PEM private key of the certificate", namedFile),
  /** Key required by GET /metrics. Null if none is required. */
  metricsKey: option(
    "metrics_key",
    "<key>",
    "key required by GET /metrics (none: anyone may read it)",
    keyIfAny,
  ),
  http: option(
    "http",
    `<${HTTP_CHOICES.join("|")}>`,
    "HTTP transport (auto)",
    choiceOr("auto", HTTP_CHOICES),
  ),
  /** "checked" is a build with assertions, for tests and for diagnosing faults. */
  engine: option(
    "engine",
    "<release|checked>",
    "checked: slower; a failed assertion ends the request (release)",
    choiceOr("release", ["release", "checked"]),
  ),
};

/** All options, in the order of the help text. */
export const CONFIG_OPTIONS: readonly ConfigOption[] = Object.values(OPTIONS);

/** The parsed values of all options. */
export type OptionValues = {
  readonly [K in keyof typeof OPTIONS]: ReturnType<(typeof OPTIONS)[K]["read"]>;
};

/** Where option values come from. A flag overrides the environment, which overrides the file. */
export interface Origins {
  /** Keyed by option name. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly env: NodeJS.ProcessEnv;
  readonly file: { readonly name: string; readonly content: JsonObject };
}

export function readOptions(origins: Origins): OptionValues {
  const values = Object.entries(OPTIONS).map(([member, one]) => [member, one.read(given(one, origins))]);
  return Object.fromEntries(values) as OptionValues;
}

export function given({ name, env: variable }: ConfigOption, { flags, env, file }: Origins): GivenValue {
  if (flags[name] !== undefined) return { label: `--${name.replaceAll("_", "-")}`, value: flags[name] };
  if (env[variable] !== undefined) return { label: variable, value: env[variable] };
  const value = file.content[name];
  if (value !== undefined && value !== null) return { label: `"${name}" in ${file.name}`, value };
  return { label: name, value: undefined };
}

function defaultFrontEnds(): number {
  return Math.min(FRONT_ENDS_MAX, Math.max(1, Math.floor(availableParallelism() / 2)));
}

/**
 * Returns the file's name ("" if not given) and the name of its option. Used in errors about the certificate
 * and its key, which must be given together.
 */
function namedFile(value: GivenValue): { readonly label: string; readonly file: string } {
  return { label: value.label, file: textOr("")(value) };
}
