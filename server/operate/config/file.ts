// Finds and reads the configuration file, and defines the members that can be set only in the file.
import { readFileSync } from "node:fs";
import { ProxyTrust, proxyTrust } from "../../access/edge/client-address.js";
import { DEFAULT_PLAN, type Plan, readPlan } from "../../access/tenants/plans.js";
import { type FeedSettings, readFeedSettings } from "../../documents/sources/feed-settings.js";
import { SkeinError } from "../../ground/errors.js";
import { isObject, type JsonObject, syntaxText } from "../../ground/input/json-value.js";
import { defaultsTo, object, optional } from "../../ground/input/object-reader.js";
import { anything, type InputRules, integer, list, oneOf, texts } from "../../ground/input/readers.js";
import { DEFAULT_LIMITS, type Limits } from "../../ground/limits.js";
import { type AiSettings, readAiSettings } from "../../models/ai-settings.js";
import { splitLimits } from "./former-limits.js";
import { CONFIG_OPTIONS } from "./options.js";
import { ConfigError } from "./values.js";

export interface FileMembers {
  /** Origins from which browsers may call the server. "*" allows all origins; null sends no CORS headers. */
  readonly cors: readonly string[] | null;
  /** The proxies whose X-Forwarded-For header is trusted. */
  readonly trustProxy: ProxyTrust;
  /**
   * Routes, public by default, that the operator has closed. A closed route responds as if it did not exist.
   */
  readonly closedRoutes: readonly string[];
  readonly plans: readonly Plan[];
  readonly feeds: FeedSettings;
  readonly ai: AiSettings;
  readonly limits: Limits;
  /** Names of limits that are set in the file but no longer exist in this version. */
  readonly formerLimits: readonly string[];
}

const FILE_ONLY = ["cors", "trust_proxy", "closed_routes", "plans", "feeds", "ai", "limits"];
/** The routes that an operator may close. All are public by default. */
const CLOSABLE_ROUTES = ["/metrics", "/openapi.json"] as const;

/**
 * Reads the file as a JSON object and refuses unknown members. `name` is the file's name in error messages.
 * If the file does not exist and is not required, returns {}.
 */
export function readConfigFile(path: string, name: string, required: boolean): JsonObject {
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
  if (!isObject(parsed)) throw new ConfigError(`${path} must contain a JSON object`);
  const known = [...CONFIG_OPTIONS.map((option) => option.name), ...FILE_ONLY];
  const unknown = Object.keys(parsed).find((member) => !known.includes(member));
  if (unknown !== undefined) {
    throw new ConfigError(`"${unknown}" in ${name} is unknown; expected one of ${known.join(", ")}`);
  }
  return parsed;
}

/**
 * Runs `read`, which uses the readers for request bodies, and converts their SkeinError to a ConfigError with
 * one line about the file.
 */
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

/**
 * Reads the members that can be set only in the file. Throws ConfigError with a one-line message about the
 * file.
 */
export function readFileMembers(file: JsonObject, fileName: string): FileMembers {
  return inFile(fileName, () => {
    const { current, former } = splitLimits(file);
    const limits = LIMITS.read(current, "limits", RULES) as Limits;
    const rules: InputRules = { ...RULES, limits };
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
      limits,
      formerLimits: former,
    };
  });
}
