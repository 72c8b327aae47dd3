// No secret leaks. The tests pass secrets in every possible way, in successful requests and in every kind of
// failing request, at log level debug. Then they search everything the server printed, replied and stored for
// those secrets.
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hashedVector } from "../world/embedding-server.js";
import { eventually } from "../world/harness.js";
import { SpokenServer, startTrapServer, type TrapServer } from "./spoken.js";

/** Random, so that compression cannot hide the secret in stored bytes. */
const secret = (name: string): string => `${name}-${randomBytes(12).toString("hex")}`;

const ADMIN = secret("admin");
const METRICS = secret("metrics");
const COACH = secret("coach");
const EMBEDDER = secret("embedder");
const AI = secret("ai");
const WRONG = secret("wrong");
const AUTH = secret("auth");
const USERINFO = secret("userinfo");
const MISPLACED = secret("misplaced");
/** A secret sent as a JSON number where text is expected. */
const NUMBER = String(randomBytes(6).readUIntBE(0, 6) + 1e15);
/**
 * A preview's time limit in milliseconds. Previews run one at a time, and each fetches twice; the limit
 * prevents the long pause before a third attempt.
 */
const PREVIEW_MS = 10_000;
const FEED_USER = "feed-user";
const secrets = new Set([ADMIN, METRICS, COACH, EMBEDDER, AI, WRONG, AUTH, USERINFO, MISPLACED, NUMBER]);

/** Files in the data directory that may contain secrets. */
const KEPT = ["admin.key", "secrets.key"];
const SHOP = "/v1/indexes/shop";
const SOURCES = `${SHOP}/data-sources`;

const folder = mkdtempSync(join(tmpdir(), "skein-spoken-"));
const dataDir = join(folder, "data");
const configFile = join(folder, "skein.config.json");
const environment = { SKEIN_ADMIN_KEY: ADMIN, SKEIN_METRICS_KEY: METRICS };
const server = new SpokenServer();
let trap: TrapServer;

const trapUrl = (path: string, userinfo = "") => `http://${userinfo}127.0.0.1:${trap.port}${path}`;

/** A valid reply for the path: a feed, vectors or a chat message. */
function proper(path: string, body: string): unknown {
  if (path.includes("embeddings")) {
    const { input } = JSON.parse(body) as { input: string[] };
    return { data: input.map((text, index) => ({ index, embedding: [...hashedVector(text)] })) };
  }
  if (path.includes("chat")) return { choices: [{ message: { role: "assistant", content: "{}" } }] };
  return [{ id: "1", title: "shoe" }, { title: "without an id" }];
}

function config(coach: object): string {
  return JSON.stringify({
    feeds: { allow_hosts: ["127.0.0.1"], concurrency: 14 },
    ai: { allow_hosts: ["127.0.0.1"], coach },
    limits: { feedSilenceMsMax: 2_000, feedPreviewMsMax: PREVIEW_MS },
  });
}

async function start(coach: object): Promise<void> {
  writeFileSync(configFile, config(coach));
  const args = ["--data-dir", dataDir, "--config", configFile, "--log-level", "debug"];
  expect(await server.launch(args, environment), server.heard).toBeNull();
  await eventually(async () => (await server.call("GET", "/health/ready")).status === 200, "it is ready");
}

const admin = (method: string, path: string, body?: unknown) =>
  server.call(method, path, { key: ADMIN, body });
const dataOf = (text: string) => (JSON.parse(text) as { data: Record<string, unknown> }).data;

beforeAll(async () => {
  trap = await startTrapServer(proper);
  await start({ provider: "endpoint", url: trapUrl("/status/500/v1"), model: "m", api_key: COACH });
});

afterAll(async () => {
  await server.stop();
  trap.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Creates a key and adds it to the secrets. */
async function newKey(path: string, body: object): Promise<string> {
  const { status, text } = await server.call("POST", path, { key: ADMIN, body, secretReply: true });
  expect(status).toBe(201);
  const data = dataOf(text);
  const key = (data.key ?? (data.admin_key as { key: string }).key) as string;
  secrets.add(key.slice(10)); // the first 10 characters are the prefix, which may be shown
  return key;
}

test("keys are created, used, refused, and put where they do not belong", async () => {
  await admin("POST", "/v1/indexes", {
    name: "shop",
    schema: { fields: [{ name: "title", type: "string" }] },
  });
  const search = await newKey("/v1/keys", { name: "web", scopes: ["search", "events"] });
  const loader = await newKey("/v1/keys", { name: "load", scopes: ["documents"] });
  await newKey("/v1/tenants", { name: "acme" });
  const event = { type: "click", query: "shoe", document_id: "1" };
  const statuses: number[] = [];
  for (const [path, key] of [
    [`${SHOP}/events?api_key=${search}`, undefined],
    [`${SHOP}/events?api_key=${loader}`, undefined],
    [`${SHOP}/events?api_key=${ADMIN}`, undefined],
    [`${SHOP}/events?api_key=${WRONG}`, undefined],
    [`${SHOP}/events?api_key=${search}&api_key=${search}`, undefined],
    [`${SHOP}/query?api_key=${search}`, undefined],
    [`/v1/nowhere?api_key=${search}`, search],
    [`${SHOP}/query`, WRONG],
    [`${SHOP}/swap-with`, search],
  ] as const)
    statuses.push(
      (await server.call("POST", path, { ...(key === undefined ? {} : { key }), body: event })).status,
    );
  expect(statuses).toEqual([202, 403, 401, 401, 400, 401, 404, 401, 403]);
  await admin("GET", "/v1/keys");
  await admin("PATCH", "/v1/keys/1", { name: "www" });
  await admin("POST", "/v1/keys", { name: "x", scopes: ["search"], key: MISPLACED });
  for (const key of [METRICS, ADMIN, WRONG]) await server.call("GET", "/metrics", { key });
});

test("feeds require credentials, which their servers repeat in every failure", async () => {
  const statuses = new Set<string>();
  const basic_auth = { username: FEED_USER, password: AUTH };
  const useFeed = async (path: string): Promise<void> => {
    const members = { format: "json", schedule: "manual" };
    const given = { ...members, url: trapUrl(path), basic_auth };
    const preview = admin("POST", `${SOURCES}/preview`, given);
    const inUrl = { ...members, url: trapUrl(path, `${FEED_USER}:${USERINFO}@`) };
    const made = await Promise.all([given, inUrl].map((body) => admin("POST", SOURCES, body)));
    const ones = made.map(({ text }) => `${SOURCES}/${dataOf(text).id}`);
    for (const one of ones) expect((await admin("POST", `${one}/sync-now`)).status).toBe(202);
    for (const one of ones) {
      await eventually(async () => {
        const { data } = JSON.parse((await admin("GET", `${one}/runs`)).text) as {
          data: { status: string }[];
        };
        statuses.add(data[0]!.status);
        return data[0]!.status !== "queued" && data[0]!.status !== "running";
      }, `the run of ${path} is over`);
      await admin("PATCH", one, { basic_auth });
      await admin("GET", one);
    }
    await preview;
  };
  const paths = ["/ok", "/status/401", "/status/500", "/redirect", "/cut", "/garbage", "/nonsense"];
  await Promise.all(paths.map(useFeed));
  expect([...statuses]).toEqual(expect.arrayContaining(["completed", "auth_failed", "failed"]));
  await admin("GET", "/v1/incidents");
  for (const password of [AUTH, USERINFO])
    expect(trap.sent).toContain(`Basic ${Buffer.from(`${FEED_USER}:${password}`).toString("base64")}`);
});

test("secrets appear in invalid parts of a body", async () => {
  const source = { url: trapUrl("/ok"), format: "json" };
  const refused: [string, string, unknown][] = [
    ["POST", SOURCES, { ...source, basic_auth: `${FEED_USER}:${MISPLACED}` }],
    ["POST", SOURCES, { ...source, basic_auth: { username: "u", password: Number(NUMBER) } }],
    ["POST", SOURCES, { ...source, basic_auth: [MISPLACED] }],
    ["POST", SOURCES, { ...source, url: `ftp://u:${MISPLACED}@127.0.0.1/x` }],
    ["POST", SOURCES, { ...source, url: `http://u:${MISPLACED}@:x` }],
    ["POST", SOURCES, { ...source, url: `http://u:${MISPLACED}@10.0.0.1/x` }],
    ["POST", SOURCES, `{"basic_auth": {"password": "${MISPLACED}"`],
    ["POST", SOURCES, `{"basic_auth": {"password": ${MISPLACED}}}`],
    ["PATCH", `${SHOP}/settings`, { ai: { api_key: MISPLACED } }],
    ["PATCH", `${SHOP}/settings`, { embedder: { source: "documents", api_key: MISPLACED } }],
  ];
  for (const setting of ["ai", "embedder"]) {
    const model = { provider: "endpoint", source: "endpoint", model: "m" };
    const { provider, source: from, ...rest } = model;
    const members = setting === "ai" ? { provider, ...rest } : { source: from, ...rest };
    const change = (more: object) => ({ [setting]: { ...members, ...more } });
    refused.push(
      ["PATCH", `${SHOP}/settings`, change({ url: trapUrl("/v1"), api_key: Number(NUMBER) })],
      ["PATCH", `${SHOP}/settings`, change({ url: trapUrl("/v1"), api_key: `${MISPLACED}ö` })],
      ["PATCH", `${SHOP}/settings`, change({ url: trapUrl("/v1", `u:${MISPLACED}@`) })],
      ["PATCH", `${SHOP}/settings`, change({ url: `ftp://u:${MISPLACED}@127.0.0.1/` })],
    );
  }
  for (const [method, path, body] of refused) {
    const { status, text } = await admin(method, path, body);
    expect(status, `${JSON.stringify(body)}: ${text}`).toBe(400);
  }
});

test("models require keys, which their servers repeat in every failure", async () => {
  for (const path of [
    "/v1",
    "/status/401/v1",
    "/status/500/v1",
    "/redirect/v1",
    "/cut/v1",
    "/garbage/v1",
    "/nonsense/v1",
  ]) {
    const url = trapUrl(path);
    const settings = {
      embedder: { source: "endpoint", url, model: "m", api_key: EMBEDDER },
      ai: { provider: "endpoint", url, model: "m", api_key: AI },
    };
    expect((await admin("PATCH", `${SHOP}/settings`, settings)).status).toBe(200);
    await admin("POST", `${SHOP}/documents/batch`, { documents: [{ id: path, title: `shoe ${path}` }] });
    for (const search_mode of ["semantic", "auto"])
      await admin("POST", `${SHOP}/query`, { q: `red shoes under ${path.length}`, search_mode });
    await admin("GET", `${SHOP}/stats`);
  }
  await admin("GET", `${SHOP}/settings`);
  await admin("POST", "/v1/indexes", {
    name: "copy",
    schema: { fields: [{ name: "title", type: "string" }] },
  });
  await admin("POST", "/v1/indexes/copy/copy-settings-from", { source_index: "shop" });
  await admin("GET", "/v1/indexes/copy/settings");
  for (const key of [EMBEDDER, AI]) expect(trap.sent).toContain(`Bearer ${key}`);
});

test("the coach calls its model with a key from the configuration", async () => {
  for (const q of ["zorvex", "quilm"])
    for (let i = 0; i < 12; i++) await admin("POST", `${SHOP}/query`, { q, user_id: `u${i}`, ai: false });
  for (const path of ["/status/401/v1", "/status/500/v1", "/cut/v1", "/nonsense/v1"]) {
    expect(await server.stop()).toBe(0);
    await start({ provider: "endpoint", url: trapUrl(path), model: "m", api_key: COACH });
    expect((await admin("POST", `${SHOP}/coach/analyze`, {})).status).toBe(503);
  }
  expect(trap.sent).toContain(`Bearer ${COACH}`);
});

test("a failed start does not show the configuration's invalid values", async () => {
  const broken = new SpokenServer();
  const coach = { provider: "endpoint", url: "http://127.0.0.1:1", model: "m" };
  const tries: [file: string, env: Record<string, string>][] = [
    [`{"metrics_key": "${MISPLACED}" "admin_key": "${MISPLACED}"}`, {}],
    [`{"admin_key": ${MISPLACED}}`, {}],
    [`{"admin_key": ${NUMBER}}`, {}],
    [`{"admin_key": ["${MISPLACED}"]}`, {}],
    [`{"metrics_key": {"key": "${MISPLACED}"}}`, {}],
    [config({ ...coach, api_key: Number(NUMBER) }), {}],
    [config({ ...coach, api_key: `${MISPLACED} ` }), {}],
    [config({ ...coach, url: `ftp://u:${MISPLACED}@127.0.0.1/` }), {}],
    ["{}", { SKEIN_ADMIN_KEY: `${MISPLACED} ` }],
    ["{}", { SKEIN_METRICS_KEY: `${MISPLACED} ` }],
  ];
  for (const [file, env] of tries) {
    writeFileSync(configFile, file);
    const code = await broken.launch(["--data-dir", join(folder, "none"), "--config", configFile], env);
    expect([code, broken.heard], file).toEqual([
      2,
      expect.stringMatching(/\nskein: [^\n]+\n$|^skein: [^\n]+\n$/),
    ]);
  }
  server.heard += broken.heard;
});

test("nothing printed, answered or stored contains any secret", async () => {
  await admin("GET", "/v1/audit?limit=1000");
  await server.call("GET", "/metrics", { key: METRICS });
  const { path, id } = dataOf((await admin("POST", "/v1/snapshots")).text) as { path: string; id: string };
  await eventually(async () => {
    return dataOf((await admin("GET", `/v1/snapshots/${id}`)).text).status === "complete";
  }, "the snapshot is written");
  expect(await server.stop()).toBe(0);
  expect(path.startsWith(dataDir)).toBe(true);

  const found = shownIn("what was printed and answered", Buffer.from(server.heard));
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !KEPT.includes(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  for (const file of files)
    found.push(...shownIn(file, Buffer.concat([Buffer.from(file), readFileSync(file)])));
  expect(found).toEqual([]);
  expect(files.filter((file) => file.startsWith(path)).length).toBeGreaterThan(2);
  expect(files).toContain(join(dataDir, "audit.ndjson"));

  // make sure that the searched text is complete and that the search would find a secret
  expect(server.heard).toContain('"level":"debug"');
  expect(server.heard).toContain(FEED_USER);
  expect(shownIn("a text", Buffer.from(`x${AUTH}x`))).toHaveLength(1);
});

/** Describes each secret found in `bytes`, whole or nearly whole, as text, base64 or hexadecimal. */
function shownIn(place: string, bytes: Buffer): string[] {
  const forms = (value: string): string[] => {
    const plain = Buffer.from(value);
    return [
      value.slice(0, 16),
      value.slice(-12),
      plain.toString("hex"),
      // base64 without its first and last characters, for every alignment within a longer text
      ...[0, 1, 2].map((before) =>
        Buffer.concat([Buffer.alloc(before), plain])
          .toString("base64")
          .slice(4, -4),
      ),
    ];
  };
  return [...secrets].flatMap((value) => {
    const at = forms(value)
      .map((form) => bytes.indexOf(form))
      .find((index) => index >= 0);
    if (at === undefined) return [];
    return [`${place}: ${bytes.toString("latin1", Math.max(0, at - 200), at + 100)}`];
  });
}
