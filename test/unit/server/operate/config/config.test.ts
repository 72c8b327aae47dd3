// The configuration: where values come from, and the one-line error for an invalid value.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { READERS_MAX } from "../../../../../engine-wasm/host/instance/board.js";
import { ProxyTrust } from "../../../../../server/access/edge/client-address.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import { type Config, dataDirFrom, loadConfig } from "../../../../../server/operate/config/config.js";
import { CONFIG_OPTIONS } from "../../../../../server/operate/config/options.js";
import { ConfigError } from "../../../../../server/operate/config/values.js";

let directory = "";

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "skein-config-"));
});

afterEach(() => rmSync(directory, { recursive: true }));

function load(flags: Record<string, string> = {}, env: Record<string, string> = {}, file?: unknown): Config {
  if (file !== undefined) {
    const text = typeof file === "string" ? file : JSON.stringify(file);
    writeFileSync(join(directory, "skein.config.json"), text);
  }
  return loadConfig(flags, env, directory);
}

describe("values", () => {
  test("have the documented defaults", () => {
    expect(load()).toEqual({
      host: "127.0.0.1",
      port: 8800,
      dataDir: join(directory, "data"),
      snapshotDir: join(directory, "data", "snapshots"),
      shards: null,
      frontEnds: Math.min(READERS_MAX, Math.max(1, Math.floor(availableParallelism() / 2))),
      adminKey: null,
      metricsKey: null,
      slowQueryMs: 500,
      durability: "fsync",
      logLevel: "info",
      http: "auto",
      engine: "release",
      cors: null,
      trustProxy: ProxyTrust.none,
      closedRoutes: [],
      tls: null,
      plans: [expect.objectContaining({ name: "default", searches_per_month: null })],
      feeds: {
        allowPrivate: false,
        allowHosts: [],
        bytesMax: 10 * 1024 ** 3,
        msMax: 3_600_000,
        concurrency: 2,
      },
      ai: { coach: null, allowPrivate: false, allowHosts: [] },
      limits: DEFAULT_LIMITS,
      formerLimits: [],
    });
  });

  test("come from the flag, then the environment, then the file", () => {
    const file = { port: 1, host: "file", log_level: "warn" };
    const config = load({ port: "3" }, { SKEIN_PORT: "2", SKEIN_HOST: "env" }, file);
    expect([config.port, config.host, config.logLevel]).toEqual([3, "env", "warn"]);
  });

  test.each([
    ["512MB", 512 * 1024 ** 2],
    ["4gb", 4 * 1024 ** 3],
    ["1.5 GB", 1.5 * 1024 ** 3],
    ["100000000", 100_000_000],
  ])("memory limit %s", (text, bytes) => {
    expect(load({ memory_limit: text }).limits.memoryBytesMax).toBe(bytes);
  });

  test("include plans and limits from the file", () => {
    const config = load(
      {},
      {},
      { plans: [{ name: "small", documents: 10 }], limits: { batchDocumentsMax: 5 } },
    );
    expect(config.plans.map((plan) => [plan.name, plan.documents])).toEqual([
      ["default", null],
      ["small", 10],
    ]);
    expect(config.limits.batchDocumentsMax).toBe(5);
    expect(config.limits.documentBytesMax).toBe(DEFAULT_LIMITS.documentBytesMax);
  });

  test("include no limit that only earlier versions had, and name it", () => {
    const config = load({}, {}, { limits: { ruleNameBytesMax: 5, batchDocumentsMax: 5 } });
    expect(config.formerLimits).toEqual(["ruleNameBytesMax"]);
    expect(config.limits).toEqual({ ...DEFAULT_LIMITS, batchDocumentsMax: 5 });
  });

  test("include the coach's language model", () => {
    const url = "http://127.0.0.1:11434/v1";
    const coach = { provider: "endpoint", url, model: "small", api_key: "key", timeout_ms: 500 };
    expect(load({}, {}, { ai: { coach } }).ai.coach).toEqual({
      url: new URL(url),
      model: "small",
      apiKey: "key",
      msMax: 500,
    });
    expect(load({}, {}, { ai: { coach: { provider: "miner" } } }).ai.coach).toBeNull();
    const allowed = { allow_private: true, allow_hosts: ["models.example"] };
    expect(load({}, {}, { ai: allowed }).ai).toEqual({
      coach: null,
      allowPrivate: true,
      allowHosts: ["models.example"],
    });
  });

  test("allow one origin or several for CORS", () => {
    expect(load({}, {}, { cors: "*" }).cors).toEqual(["*"]);
    expect(load({}, {}, { cors: ["https://a.example"] }).cors).toEqual(["https://a.example"]);
  });
});

describe("an invalid value is reported with its option and what was expected", () => {
  const cases: [Record<string, string>, Record<string, string>, unknown, RegExp][] = [
    [{ port: "x" }, {}, undefined, /^--port must be a whole number from 0 to 65535, not "x"$/],
    [{}, { SKEIN_PORT: "70000" }, undefined, /^SKEIN_PORT must be a whole number/],
    [{}, { SKEIN_SHARDS: "0" }, undefined, /^SKEIN_SHARDS must be a whole number from 1/],
    [{}, { SKEIN_SHARDS: "1.5" }, undefined, /^SKEIN_SHARDS/],
    [{ durability: "none" }, {}, undefined, /^--durability must be one of fsync, os/],
    [{}, { SKEIN_LOG_LEVEL: "loud" }, undefined, /^SKEIN_LOG_LEVEL must be one of/],
    [{}, { SKEIN_MEMORY_LIMIT: "much" }, undefined, /^SKEIN_MEMORY_LIMIT must be a size/],
    [{}, { SKEIN_MEMORY_LIMIT: "1MB" }, undefined, /at least 64MB/],
    [{ admin_key: "short" }, {}, undefined, /^--admin-key must be 8 to 512 visible ASCII/],
    [{}, {}, { port: "x" }, /^"port" in skein.config.json must be/],
    [{}, {}, { prot: 1 }, /"prot" in skein.config.json is unknown/],
    [{}, {}, { plans: [{ documents: 1 }] }, /^skein.config.json: plans\[0\].name is missing/],
    [{}, {}, { plans: [{ name: "a" }, { name: "a" }] }, /names "a" twice/],
    [{}, {}, { plans: [{ name: "a".repeat(101) }] }, /name is longer than 100 bytes/],
    [{}, {}, { limits: { nothing: 1 } }, /limits.nothing is unknown/],
    [{}, {}, { limits: { documentBytesMax: -1 } }, /limits.documentBytesMax must be an integer/],
    [{}, {}, { ai: { couch: {} } }, /ai.couch is unknown/],
    [{}, {}, { ai: { allow_private: "yes" } }, /ai.allow_private must be true or false/],
    [{}, {}, { ai: { allow_hosts: "localhost" } }, /ai.allow_hosts must be an array of strings/],
    [{}, {}, { ai: { coach: { provider: "magic" } } }, /ai.coach.provider must be one of/],
    [{}, {}, { ai: { coach: { provider: "endpoint", model: "m" } } }, /ai.coach must have url and model/],
    [
      {},
      {},
      { ai: { coach: { provider: "endpoint", url: "ftp://a", model: "m" } } },
      /ai.coach.url must begin/,
    ],
    [{}, {}, { ai: { coach: { provider: "miner", url: "http://a" } } }, /ai.coach.url is unknown/],
    [{}, {}, "{", /is not valid JSON: unexpected end/],
    [{}, {}, '{"admin_key": geheim-geheim}', /^(?!.*geheim).*is not valid JSON: unexpected character/],
    [{}, {}, '{"admin_key": 123456789}', /^(?!.*1234)"admin_key" in .* must be 8 to 512 visible ASCII/],
    [{}, {}, "[]", /must contain a JSON object/],
    [{ config: "absent.json" }, {}, undefined, /cannot read the configuration file .*absent.json \(ENOENT\)/],
  ];
  test.each(cases)("%j %j %j", (flags, env, file, message) => {
    expect(() => load(flags, env, file)).toThrow(ConfigError);
    expect(() => load(flags, env, file)).toThrow(message);
  });

  test.each(CONFIG_OPTIONS)("an empty $env stops the start", ({ env }) => {
    expect(() => load({}, { [env]: "" })).toThrow(ConfigError);
    expect(() => load({}, { [env]: "" })).toThrow(new RegExp(`^${env} must be .*, not ""$`));
  });

  test("an empty file name or data directory is refused", () => {
    expect(() => load({}, { SKEIN_CONFIG: "" })).toThrow(/configuration file .* is empty/);
    expect(() => dataDirFrom(undefined, { SKEIN_DATA_DIR: "" })).toThrow(/^SKEIN_DATA_DIR must be/);
    expect(dataDirFrom(undefined, {})).toBe("./data");
    expect(dataDirFrom("flag", { SKEIN_DATA_DIR: "env" })).toBe("flag");
  });

  test("with the name of the given file", () => {
    writeFileSync(join(directory, "other.json"), JSON.stringify({ port: "x" }));
    expect(() => load({ config: "other.json" })).toThrow(/^"port" in other.json must be/);
  });

  test("without showing an admin key", () => {
    expect(() => load({ admin_key: "geheim!" })).toThrow(/^(?!.*geheim)/);
  });
});

test("every option has a flag name, a variable and a description", () => {
  for (const option of CONFIG_OPTIONS) {
    expect(option.env).toBe(`SKEIN_${option.name.toUpperCase()}`);
    expect(option.description).not.toBe("");
  }
});

test("the help states the maximum number of front-ends, which equals the reader places on a shard's board", () => {
  const { description } = CONFIG_OPTIONS.find(({ name }) => name === "frontends")!;
  const most = Number(/at most (\d+)/.exec(description)![1]);
  expect(most).toBe(READERS_MAX);
  expect(load({ frontends: String(most) }).frontEnds).toBe(most);
  expect(() => load({ frontends: String(most + 1) })).toThrow(`${most}`);
});
