// The configuration of a server: flags over environment over skein.config.json over defaults. A wrong value
// is a ConfigError with one line that names the option; nothing is guessed. Opens and starts nothing.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import type { CertificateFiles } from "../access/edge/certificate.js";
import { ProxyTrust, proxyTrust } from "../access/edge/client-address.js";
import { ADMIN_KEY_TEXT } from "../access/tenants/admin-key.js";
import { DEFAULT_PLAN, type Plan, readPlan } from "../access/tenants/plans.js";
import { type FeedSettings, readFeedSettings } from "../documents/sources/feed-settings.js";
import { SkeinError } from "../ground/errors.js";
import { isObject, type JsonObject, syntaxText } from "../ground/input/json-value.js";
import { defaultsTo, object, optional } from "../ground/input/object-reader.js";
import { anything, type InputRules, integer, list, oneOf, texts } from "../ground/input/readers.js";
import { DEFAULT_LIMITS, type Limits } from "../ground/limits.js";
import { LOG_LEVELS, type LogLevel } from "../ground/log-levels.js";
import { type AiSettings, readAiSettings } from "../models/ai-settings.js";
import { splitLimits } from "./former-limits.js";

/** auto: the best that loads here; uws: either build of uWebSockets.js; the others: that one and nothing else. */
const HTTP_CHOICES = ["auto", "uws", "uwsjs", "uws-pack", "node"] as const;

export interface Config {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly dataDir: string;
  /** Where snapshots are kept; in the data directory unless said otherwise. */
  readonly snapshotDir: string;
  /** null: what the data directory was made with, else one less than the cores. */
  readonly shards: number | null;
  /** Threads that take requests; 1: the main thread does. */
  readonly frontEnds: number;
  /** null: the one kept in the data directory, made at the first start. */
  readonly adminKey: string | null;
  /** null: plain HTTP. */
  readonly tls: CertificateFiles | null;
  /** What GET /metrics asks for; null: no key. */
  readonly metricsKey: string | null;
  /** Queries that take so long are logged; 0: none. */
  readonly slowQueryMs: number;
  readonly durability: "fsync" | "os";
  readonly logLevel: LogLevel;
  readonly http: (typeof HTTP_CHOICES)[number];
  /** checked: with assertions, for tests and for looking into a fault. */
  readonly engine: "release" | "checked";
  /** Origins that browsers may call from; "*" for all; null sends no CORS headers. */
  readonly cors: readonly string[] | null;
  /** Whose X-Forwarded-For names the client. */
  readonly trustProxy: ProxyTrust;
  /** Routes without a key that answer as if there were no such path. */
  readonly closedRoutes: readonly string[];
  readonly plans: readonly Plan[];
  readonly feeds: FeedSettings;
  readonly ai: AiSettings;
  readonly limits: Limits;
  /** Names of limits in the file that this version no longer has. */
  readonly formerLimits: readonly string[];
}

/** A start that cannot be; the message is one line for the person at the terminal. Exit code 2. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ConfigError";
  }
}

/** One option that exists as flag, environment variable and member of the configuration file. */
export interface ConfigOption {
  /** Name in the file; the flag has hyphens instead of underscores. */
  readonly name: string;
  readonly argument: string;
  readonly env: string;
  readonly description: string;
}

/** Each reads in the memories of the shards, which have READERS_MAX places (engine-wasm/host/instance/board.ts). */
const FRONT_ENDS_MAX = 64;

export const CONFIG_OPTIONS: readonly ConfigOption[] = [
  { name: "host", argument: "<address>", env: "SKEIN_HOST", description: "address to listen on (127.0.0.1)" },
  { name: "port", argument: "<number>", env: "SKEIN_PORT", description: "port, 0 for any free one (8800)" },
  {
    name: "data_dir",
    argument: "<directory>",
    env: "SKEIN_DATA_DIR",
    description: "where everything is kept (./data)",
  },
  {
    name: "shards",
    argument: "<number>",
    env: "SKEIN_SHARDS",
    description: "worker threads (cores - 1); another number than before moves all documents at the start",
  },
  {
    name: "frontends",
    argument: "<number>",
    env: "SKEIN_FRONTENDS",
    description: `threads that take requests, at most ${FRONT_ENDS_MAX} (half the cores)`,
  },
  {
    name: "snapshot_dir",
    argument: "<directory>",
    env: "SKEIN_SNAPSHOT_DIR",
    description: "where snapshots are kept (snapshots in the data directory)",
  },
  {
    name: "admin_key",
    argument: "<key>",
    env: "SKEIN_ADMIN_KEY",
    description: "bootstrap admin key (made at the first start)",
  },
  {
    name: "durability",
    argument: "<fsync|os>",
    env: "SKEIN_DURABILITY",
    description: "when a write is answered: on disk or handed to the system (fsync)",
  },
  {
    name: "memory_limit",
    argument: "<size>",
    env: "SKEIN_MEMORY_LIMIT",
    description: "resident memory above which writes get 503, e.g. 4GB (none)",
  },
  {
    name: "log_level",
    argument: "<level>",
    env: "SKEIN_LOG_LEVEL",
    description: `${LOG_LEVELS.join(", ")} (info)`,
  },
  {
    name: "slow_query_ms",
    argument: "<number>",
    env: "SKEIN_SLOW_QUERY_MS",
    description: "log queries that take so many milliseconds, 0 for none (500)",
  },
  {
    name: "tls_cert",
    argument: "<file>",
    env: "SKEIN_TLS_CERT",
    description: "certificate in PEM form, with tls_key: the server speaks https (none: plain http)",
  },
  { name: "tls_key", argument: "<file>", env: "SKEIN_TLS_KEY", description: "its private key in PEM form" },
  {
    name: "metrics_key",
    argument: "<key>",
    env: "SKEIN_METRICS_KEY",
    description: "key that GET /metrics asks for (none: it is open)",
  },
  {
    name: "http",
    argument: `<${HTTP_CHOICES.join("|")}>`,
    env: "SKEIN_HTTP",
    description: "HTTP transport (auto)",
  },
  {
    name: "engine",
    argument: "<release|checked>",
    env: "SKEIN_ENGINE",
    description: "checked: slower, ends a request at the first broken assertion (release)",
  },
];

const FILE_ONLY = ["cors", "trust_proxy", "closed_routes", "plans", "feeds", "ai", "limits"];
/** The routes without a key that may be closed. */
const CLOSABLE_ROUTES = ["/metrics", "/openapi.json"] as const;
const FILE_NAME = "skein.config.json";
const SIZE_UNITS: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  kb: 1024,
  mb: 1024 ** 2,
  gb: 1024 ** 3,
  tb: 1024 ** 4,
};

/**
 * Puts the configuration together. `flags` holds the values of CONFIG_OPTIONS by name, undefined when not
 * given, and `config` for another path of the file. Throws ConfigError.
 */
export function loadConfig(
  flags: Readonly<Record<string, string | undefined>>,
  env: NodeJS.ProcessEnv = process.env,
  directory = process.cwd(),
): Config {
  const path = flags.config ?? env.SKEIN_CONFIG;
  if (path === "")
    throw new ConfigError("the name of the configuration file (--config, SKEIN_CONFIG) is empty");
  const fileName = path ?? FILE_NAME;
  const file = readFile(resolve(directory, fileName), fileName, path !== undefined);
  const given = (name: string): Given => find(name, flags, env, { name: fileName, content: file });
  const adminKey = given("admin_key");
  const dataDir = resolve(directory, text(given("data_dir"), "data"));
  const metricsKey = given("metrics_key");
  return {
    host: text(given("host"), "127.0.0.1"),
    port: wholeNumber(given("port"), 0, 65535) ?? 8800,
    dataDir,
    snapshotDir: resolve(directory, text(given("snapshot_dir"), join(dataDir, "snapshots"))),
    shards: wholeNumber(given("shards"), 1, 256),
    frontEnds: wholeNumber(given("frontends"), 1, FRONT_ENDS_MAX) ?? defaultFrontEnds(),
    adminKey: adminKey.value === undefined ? null : key(adminKey),
    tls: certificateFiles(given("tls_cert"), given("tls_key"), directory),
    metricsKey: metricsKey.value === undefined ? null : key(metricsKey),
    slowQueryMs: wholeNumber(given("slow_query_ms"), 0, 3_600_000) ?? 500,
    durability: choice(given("durability"), ["fsync", "os"], "fsync"),
    logLevel: choice(given("log_level"), LOG_LEVELS, "info"),
    http: choice(given("http"), HTTP_CHOICES, "auto"),
    engine: choice(given("engine"), ["release", "checked"], "release"),
    ...inFile(fileName, () => readFileOnly(file, fileName)),
    limits: { ...inFile(fileName, () => readLimits(file)), ...memoryLimit(given("memory_limit")) },
    formerLimits: splitLimits(file).former,
  };
}

/** The data directory of commands that read no configuration file. Throws ConfigError. */
export function dataDirFrom(flag: string | undefined, env: NodeJS.ProcessEnv): string {
  return text(find("data_dir", { data_dir: flag }, env, { name: FILE_NAME, content: {} }), "./data");
}

/** Shards of a new data directory when nobody says otherwise. */
export function defaultShards(): number {
  return Math.max(1, availableParallelism() - 1);
}

function defaultFrontEnds(): number {
  return Math.min(FRONT_ENDS_MAX, Math.max(1, Math.floor(availableParallelism() / 2)));
}

/** A raw value and the name under which it was given. */
interface Given {
  readonly label: string;
  readonly value: unknown;
}

function find(
  name: string,
  flags: Readonly<Record<string, string | undefined>>,
  env: NodeJS.ProcessEnv,
  file: { readonly name: string; readonly content: JsonObject },
): Given {
  const option = CONFIG_OPTIONS.find((candidate) => candidate.name === name)!;
  if (flags[name] !== undefined) return { label: `--${name.replaceAll("_", "-")}`, value: flags[name] };
  if (env[option.env] !== undefined) return { label: option.env, value: env[option.env] };
  const value = file.content[name];
  if (value !== undefined && value !== null) return { label: `"${name}" in ${file.name}`, value };
  return { label: name, value: undefined };
}

function wrong(given: Given, expected: string): never {
  const shown = typeof given.value === "string" ? `"${given.value}"` : JSON.stringify(given.value);
  throw new ConfigError(`${given.label} must be ${expected}, not ${shown}`);
}

function text(given: Given, fallback: string): string {
  if (given.value === undefined) return fallback;
  if (typeof given.value !== "string" || given.value.trim() === "") wrong(given, "a non-empty text");
  return given.value;
}

/** What is no key may be one that was mistyped, so it is not shown. */
function key(given: Given): string {
  const { label, value } = given;
  const expected = "8 to 512 visible ASCII characters without spaces";
  if (typeof value === "string" && ADMIN_KEY_TEXT.test(value)) return value;
  if (value === "") wrong(given, expected);
  throw new ConfigError(`${label} must be ${expected}`);
}

function certificateFiles(cert: Given, key: Given, directory: string): CertificateFiles | null {
  const [certificateFile, keyFile] = [text(cert, ""), text(key, "")];
  if (certificateFile === "" && keyFile === "") return null;
  if (certificateFile !== "" && keyFile !== "") {
    return { certificate: resolve(directory, certificateFile), key: resolve(directory, keyFile) };
  }
  const [there, missing] = keyFile === "" ? [cert, key] : [key, cert];
  throw new ConfigError(`${there.label} needs ${missing.label}; give both for https, or none`);
}

function wholeNumber(given: Given, min: number, max: number): number | null {
  if (given.value === undefined) return null;
  const value =
    typeof given.value === "string" && /^\d{1,15}$/.test(given.value) ? Number(given.value) : given.value;
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
  return wrong(given, `a whole number from ${min} to ${max}`);
}

function choice<T extends string>(given: Given, choices: readonly T[], fallback: T): T {
  if (given.value === undefined) return fallback;
  const found = choices.find((candidate) => candidate === given.value);
  return found ?? wrong(given, `one of ${choices.join(", ")}`);
}

function memoryLimit(given: Given): { memoryBytesMax?: number } {
  if (given.value === undefined) return {};
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?b|)$/i.exec(String(given.value).trim());
  const bytes = match === null ? 0 : Math.floor(Number(match[1]) * SIZE_UNITS[match[2]!.toLowerCase()]!);
  if (bytes < 64 * 1024 ** 2) wrong(given, "a size of at least 64MB such as 512MB or 4GB");
  return { memoryBytesMax: bytes };
}

/** `name`: what it is called in messages. */
function readFile(path: string, name: string, required: boolean): JsonObject {
  let content: string;
  try {
    content = readFileSync(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" && !required) return {};
    throw new ConfigError(`cannot read the configuration file ${path} (${code})`);
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(content);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ConfigError(`${path} is not valid JSON: ${syntaxText(error, content)}`);
  }
  if (!isObject(parsed)) throw new ConfigError(`${path} must hold a JSON object`);
  const known = [...CONFIG_OPTIONS.map((option) => option.name), ...FILE_ONLY];
  const unknown = Object.keys(parsed).find((member) => !known.includes(member));
  if (unknown !== undefined) {
    throw new ConfigError(`"${unknown}" in ${name} is unknown; known are ${known.join(", ")}`);
  }
  return parsed;
}

/** Readers of request members also read the file; their refusals become one line about the file. */
function inFile<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof SkeinError) throw new ConfigError(`${name}: ${error.message}`);
    throw error;
  }
}

const ORIGINS = texts(1000, 500);
const FILE_MEMBERS = object(
  {
    cors: optional({
      ...ORIGINS,
      read: (value, path, rules) => (typeof value === "string" ? [value] : ORIGINS.read(value, path, rules)),
    }),
    trust_proxy: defaultsTo(ProxyTrust.none, proxyTrust()),
    closed_routes: defaultsTo([], list(oneOf(CLOSABLE_ROUTES), 100)),
    plans: defaultsTo([], list(anything(), 1000)),
    feeds: optional(anything()),
    ai: optional(anything()),
  },
  { unknown: "ignored" },
);
const LIMIT = integer(1, Number.MAX_SAFE_INTEGER);
const LIMITS = object(
  Object.fromEntries(Object.entries(DEFAULT_LIMITS).map(([name, value]) => [name, defaultsTo(value, LIMIT)])),
  { unknown: "refused" },
);
const RULES: InputRules = { limits: DEFAULT_LIMITS, code: "SK-SYS-400" };

function readFileOnly(
  file: JsonObject,
  fileName: string,
): Pick<Config, "cors" | "trustProxy" | "closedRoutes" | "plans" | "feeds" | "ai"> {
  const rules: InputRules = { ...RULES, limits: readLimits(file) };
  const members = FILE_MEMBERS.read(file, "", rules);
  const plans = members.plans.map((plan, i) => readPlan(plan, `plans[${i}]`, rules));
  const names = plans.map((plan) => plan.name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new ConfigError(`${fileName}: plans names "${twice}" twice`);
  return {
    cors: members.cors ?? null,
    trustProxy: members.trust_proxy,
    closedRoutes: members.closed_routes,
    feeds: readFeedSettings(members.feeds, "feeds", rules),
    ai: readAiSettings(members.ai, "ai", rules),
    plans: names.includes(DEFAULT_PLAN.name) ? plans : [DEFAULT_PLAN, ...plans],
  };
}

function readLimits(file: JsonObject): Limits {
  return LIMITS.read(splitLimits(file).current, "limits", RULES) as Limits;
}
