// Which settings can change while the server runs, and which are reported as requiring a restart.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Config, loadConfig } from "../../../../../server/operate/config/config.js";
import { LiveSettings } from "../../../../../server/operate/reload/live-settings.js";

function configOf(
  file: object,
  flags: Record<string, string> = {},
  env: Record<string, string> = {},
): Config {
  const directory = mkdtempSync(join(tmpdir(), "skein-live-settings-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, "skein.config.json"), JSON.stringify(file));
  return loadConfig(flags, env, directory);
}

test("live members apply at once, others are named and keep their values", () => {
  const fixed = { data_dir: "/data", snapshot_dir: "/snapshots" };
  const settings = new LiveSettings(configOf({ ...fixed, limits: { batchDocumentsMax: 5 } }));
  const next = configOf({
    ...fixed,
    host: "0.0.0.0",
    plans: [{ name: "small", documents: 1 }],
    cors: "*",
    trust_proxy: 1,
    closed_routes: ["/metrics"],
    metrics_key: "0123456789",
  });
  expect(settings.take(next)).toEqual(["host", "limits"]);
  const { plans, cors, trustProxy, closedRoutes, metricsKey } = settings.now;
  expect([plans.map(({ name }) => name), cors, closedRoutes, metricsKey]).toEqual([
    ["default", "small"],
    ["*"],
    ["/metrics"],
    "0123456789",
  ]);
  expect(trustProxy.clientAddress("127.0.0.1", "1.1.1.1")).toBe("1.1.1.1");
});

test("members unchanged since the start wait for nothing", () => {
  const file = { data_dir: "/data", cors: "*", ai: {}, feeds: {}, log_level: "warn" };
  const settings = new LiveSettings(configOf(file));
  expect(settings.take(configOf({ ...file, cors: [] }))).toEqual([]);
});

test("a flag and the environment win over the file on every reload", () => {
  const flags = { data_dir: "/data", metrics_key: "from-the-flag" };
  const settings = new LiveSettings(configOf({}, flags));
  settings.take(configOf({ metrics_key: "from-the-file" }, flags));
  expect(settings.now.metricsKey).toBe("from-the-flag");
  settings.take(configOf({ metrics_key: "from-the-file" }, {}, { SKEIN_METRICS_KEY: "from-the-env" }));
  expect(settings.now.metricsKey).toBe("from-the-env");
});
