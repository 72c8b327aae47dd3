// Starts the built server as a real process, sends it HTTP requests, and checks every JSON exchange against
// the server's own /openapi.json. Shared by all tests that need a running server. Knows nothing about the
// server's internals.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest, Agent as SecureAgent } from "node:https";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtFile } from "../../../engine-wasm/host/runtime/built-files.js";
import { effort } from "../../effort.js";
import { noteForFailure } from "../../failure-notes.js";
import { LastLines, onLines } from "./last-lines.js";
import { OpenApiContract } from "./openapi-contract.js";
import type { Reply, ReplyBody } from "./reply.js";
import type { Transport } from "./transports.js";

export const MAIN = builtFile("server/cli/main.js");
const START_MS_MAX = 60_000;
const STOP_MS_MAX = 60_000;
/**
 * Maximum time in milliseconds that a connection may be idle and still be reused. After a longer pause, the
 * server may already be closing the connection without a busy test having noticed.
 */
const IDLE_MS_MAX = 3_000;
export const ADMIN_KEY = "test-admin-key-0123456789abcdef";

/** Default number of front-ends. */
const FRONT_ENDS = Number(process.env.SKEIN_TEST_FRONTENDS ?? 1);
/**
 * Default for `homeDocumentsMax`. If it is at most 1, new indexes are spread from the start, so every shard
 * takes part in every test.
 */
export const HOME_DOCUMENTS_MAX = Number(process.env.SKEIN_TEST_HOME_DOCUMENTS ?? 1);

export interface StartOptions {
  shards?: number;
  frontEnds?: number;
  /** Kept by `stop` and `close`. Default: a new temporary directory, which `close` deletes. */
  dataDir?: string;
  /** The HTTP transport. Default: the best that loads here. */
  http?: Transport | "auto";
  logLevel?: string;
  /** The bootstrap key. Default: ADMIN_KEY. */
  adminKey?: string;
  /** Contents of the configuration file. Default: no file. */
  config?: object;
  flags?: string[];
  /** Certificates to trust when calling an HTTPS server. */
  ca?: string[];
  env?: Record<string, string>;
}

export interface CallOptions {
  /** Text and bytes are sent unchanged, anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  /** The API key; null sends no Authorization header. */
  key?: string | null;
}

/** Minimum pause in milliseconds between two checks of a condition. */
const POLL_MS_MIN = 5;
const POLL_MS_MAX = 200;
/** Pause in milliseconds between two calls by the same client. */
const CLIENT_PAUSE_MS = effort(5, 0);
/** Running servers. They must not outlive the test process, however it ends. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

function withHomes(config: unknown): unknown {
  if (typeof config !== "object" || config === null || Array.isArray(config)) return config;
  const { limits = {}, ...others } = config as { limits?: object };
  return { ...others, limits: { homeDocumentsMax: HOME_DOCUMENTS_MAX, ...limits } };
}

export class TestServer {
  /** Set by the first launch. */
  dataDir = "";
  /** Parsed log lines of all runs, oldest first. */
  readonly log: Record<string, unknown>[] = [];
  /** Broken assertions reported by the checked engine in all runs. */
  readonly brokenAssertions: string[] = [];
  /** Reports of failed background work in the shards, from all runs. */
  readonly failedWork: string[] = [];
  readonly lastLines = new LastLines();
  url = "";
  private process: ChildProcess | undefined;
  private contract: OpenApiContract | undefined;
  private agent: Agent = new Agent();
  private usedMs = 0;
  private configDir = "";

  /** Does not start the server; `launch` does. */
  constructor(private readonly options: StartOptions) {}

  /** Starts a server and waits until it answers. Throws with its log if it fails to start. */
  static async start(options: StartOptions = {}): Promise<TestServer> {
    const server = new TestServer(options);
    await server.launch();
    return server;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  get pid(): number {
    return this.process?.pid ?? 0;
  }

  get running(): boolean {
    return this.process !== undefined && this.process.exitCode === null && this.process.signalCode === null;
  }

  /** Starts the process, always on the same data directory. It must not be running already. */
  async launch(): Promise<void> {
    noteForFailure(this.lastLines);
    this.dataDir ||= this.options.dataDir ?? mkdtempSync(join(tmpdir(), "skein-test-"));
    const { shards = 2, frontEnds = FRONT_ENDS, http = "auto", logLevel = "info", env = {} } = this.options;
    const flags = [...this.configFlags(), ...(this.options.flags ?? [])];
    const { adminKey = ADMIN_KEY } = this.options;
    const threads = ["--shards", String(shards), "--frontends", String(frontEnds)];
    const args = ["--port", "0", "--data-dir", this.dataDir, ...threads];
    const child = spawn(
      process.execPath,
      [MAIN, "serve", ...args, "--admin-key", adminKey, "--log-level", logLevel, ...flags],
      { cwd: tmpdir(), env: cleanEnvironment(http, env), stdio: ["ignore", "pipe", "pipe"] },
    );
    this.process = child;
    running.add(child);
    child.once("exit", () => running.delete(child));
    this.url = await this.listeningUrl(child);
    this.agent = this.newAgent();
    await eventually(
      async () => (await this.raw("GET", "/health/ready")).status === 200,
      "the server is ready",
    );
    this.contract ??= OpenApiContract.of((await this.raw("GET", "/openapi.json")).text);
  }

  private configFlags(): string[] {
    const { config = {}, flags = [] } = this.options;
    return flags.includes("--config") ? [] : ["--config", this.writeConfig(config)];
  }

  private writeConfig(config: unknown): string {
    this.configDir ||= mkdtempSync(join(tmpdir(), "skein-test-config-"));
    const file = join(this.configDir, "skein.config.json");
    writeFileSync(file, typeof config === "string" ? config : JSON.stringify(withHomes(config)));
    return file;
  }

  /**
   * Makes the server reload its files, after writing the new configuration file if one is given (text is
   * written unchanged). Returns the server's log messages about the reload, up to the one that matches
   * `last`.
   */
  async reload(config?: unknown, last = /^the configuration/): Promise<string[]> {
    if (config !== undefined) this.writeConfig(config);
    const before = this.log.length;
    process.kill(this.pid, "SIGHUP");
    const told = () => this.log.slice(before).map(({ msg }) => String(msg));
    await eventually(async () => told().some((message) => last.test(message)), `the log says ${last}`);
    return told().filter((message) => !/^request/.test(message));
  }

  private listeningUrl(child: ChildProcess): Promise<string> {
    return new Promise((resolve, reject) => {
      const fail = (why: string): void =>
        reject(new Error(`the server did not start (${why})\n${this.lastLines.text()}`));
      const timer = setTimeout(() => fail(`no answer in ${START_MS_MAX} ms`), START_MS_MAX);
      child.once("exit", (code, signal) => fail(`exit ${code ?? signal}`));
      onLines(child.stderr!, (line) => {
        this.lastLines.add(line);
        if (line.includes("assertion failed")) this.brokenAssertions.push(line);
        if (line.includes("background work failed")) this.failedWork.push(line);
      });
      onLines(child.stdout!, (line) => {
        this.lastLines.add(line);
        if (!line.startsWith("{")) return;
        const entry = JSON.parse(line) as Record<string, unknown>;
        this.log.push(entry);
        if (typeof entry.url === "string" && entry.url.startsWith("http")) {
          clearTimeout(timer);
          resolve(entry.url);
        }
      });
    });
  }

  /** Sends a request and checks it and the reply against the OpenAPI document. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<Reply> {
    const reply = await this.raw(method, path, options);
    this.contract!.checkRequest(method, path, options.body, reply);
    return reply;
  }

  get(path: string, options?: CallOptions): Promise<Reply> {
    return this.call("GET", path, options);
  }

  post(path: string, body?: unknown, options?: CallOptions): Promise<Reply> {
    return this.call("POST", path, { ...options, body });
  }

  patch(path: string, body?: unknown, options?: CallOptions): Promise<Reply> {
    return this.call("PATCH", path, { ...options, body });
  }

  delete(path: string, options?: CallOptions): Promise<Reply> {
    return this.call("DELETE", path, options);
  }

  /**
   * Sends a request and checks only the reply against the OpenAPI document, because the request may violate
   * it.
   */
  async raw(method: string, path: string, options: CallOptions = {}): Promise<Reply> {
    noteForFailure(this.lastLines);
    const { body, headers = {}, key = ADMIN_KEY } = options;
    const bytes = bodyBytes(body);
    const [response, text] = await new Promise<[IncomingMessage, string]>((resolve, reject) => {
      const send = this.url.startsWith("https:") ? httpsRequest : httpRequest;
      const request = send(`${this.url}${path}`, {
        method,
        agent: this.connections(),
        headers: {
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          ...(bytes === undefined
            ? {}
            : { "content-type": "application/json", "content-length": bytes.length }),
          ...headers,
        },
      });
      request.on("error", reject);
      request.on("response", (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => resolve([response, Buffer.concat(chunks).toString("utf8")]));
      });
      request.end(bytes);
    });
    const isJson = response.headers["content-type"]?.startsWith("application/json") ?? false;
    const json = (isJson && text !== "" ? JSON.parse(text) : {}) as ReplyBody;
    const reply = { status: response.statusCode!, headers: response.headers, text, json };
    this.contract?.checkReply(method, path, reply);
    return reply;
  }

  private connections(): Agent {
    const now = performance.now();
    if (now - this.usedMs > IDLE_MS_MAX) this.agent = this.newAgent();
    this.usedMs = now;
    return this.agent;
  }

  private newAgent(): Agent {
    const options = { keepAlive: true, maxSockets: 64 };
    if (!this.url.startsWith("https:")) return new Agent(options);
    return new SecureAgent({ ...options, ca: this.options.ca });
  }

  /** Opens a plain TCP connection to the server, for requests that no HTTP client would send. */
  socket(): Promise<Socket> {
    noteForFailure(this.lastLines);
    return new Promise((resolve, reject) => {
      const socket = connect(this.port, "127.0.0.1", () => resolve(socket));
      socket.once("error", reject);
    });
  }

  /** Creates an index and sends the documents; expects both to succeed completely. */
  async createIndex(name: string, schema: unknown, documents: unknown[] = []): Promise<void> {
    expectStatus(await this.post("/v1/indexes", { name, schema }), 201);
    if (documents.length > 0) {
      const reply = await this.post(`/v1/indexes/${name}/documents/batch`, { documents });
      expectStatus(reply, 200);
      if (reply.json.data.failed !== 0) throw new Error(`documents were refused: ${reply.text}`);
    }
  }

  query(index: string, body: unknown): Promise<Reply> {
    return this.post(`/v1/indexes/${index}/query`, body);
  }

  /** Waits until `requests` requests are in flight on the server. */
  holds(requests: number): Promise<void> {
    const line = `skein_http_requests_in_flight ${requests + 1}`; // plus one for the scrape itself
    const held = async () => (await this.raw("GET", "/metrics")).text.split("\n").includes(line);
    return eventually(held, `${requests} requests are in progress`);
  }

  /** The server process's resident memory in MiB; null on systems other than Linux. */
  residentMiB(): number | null {
    const file = `/proc/${this.pid}/status`;
    if (!existsSync(file)) return null;
    const kib = /VmRSS:\s+(\d+) kB/.exec(readFileSync(file, "utf8"))?.[1];
    return kib === undefined ? null : Number(kib) / 1024;
  }

  /** Processor time in seconds used by the server process; 0 on systems other than Linux. */
  cpuSeconds(): number {
    const file = `/proc/${this.pid}/stat`;
    if (!existsSync(file)) return 0;
    const [user, system] = readFileSync(file, "utf8").split(") ")[1]!.split(" ").slice(11, 13);
    return (Number(user) + Number(system)) / 100;
  }

  /**
   * Sends the signal, waits until the process has exited, and kills it after STOP_MS_MAX. Returns the exit
   * code, null if a signal ended the process. Keeps the data directory. Closes idle connections first.
   */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    const child = this.process;
    this.process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null)
      return child?.exitCode ?? null;
    const gone = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
    for (const idle of Object.values(this.agent.freeSockets)) for (const socket of idle!) socket.destroy();
    child.kill(signal);
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
    const code = await gone;
    clearTimeout(timer);
    return code;
  }

  /** Stops the server. Deletes the data directory, unless the options gave one. */
  async close(): Promise<void> {
    this.agent.destroy();
    await this.stop();
    const made = [this.configDir, this.options.dataDir === undefined ? this.dataDir : ""];
    for (const folder of made) if (folder !== "") rmSync(folder, { recursive: true, force: true });
  }
}

/** Throws an error with the start of the reply if its status is not `status`. */
export function expectStatus(reply: Reply, status: number): void {
  if (reply.status !== status)
    throw new Error(`expected ${status}, got ${reply.status}: ${reply.text.slice(0, 2000)}`);
}

/**
 * Polls until `check` returns true: every few milliseconds at first, later at intervals of a tenth of the
 * time waited so far, up to POLL_MS_MAX. Throws after `msMax`; the default allows for busy machines.
 */
export async function eventually(
  check: () => Promise<boolean>,
  what: string,
  msMax = 150_000,
): Promise<void> {
  const began = performance.now();
  while (!(await check())) {
    const waited = performance.now() - began;
    if (waited > msMax) throw new Error(`did not happen within ${msMax} ms: ${what}`);
    await sleep(Math.min(Math.max(waited / 10, POLL_MS_MIN), POLL_MS_MAX));
  }
}

/**
 * Calls each client repeatedly during `work`. In a normal test run, clients pause briefly between calls, to
 * leave processor time for the work. Once all have ended, throws the first error, if any.
 */
export async function meanwhile(
  clients: readonly (() => Promise<unknown>)[],
  work: () => Promise<void>,
): Promise<void> {
  let working = true;
  const worked = work().finally(() => {
    working = false;
  });
  const asked = clients.map(async (turn) => {
    while (working) {
      await turn();
      await sleep(CLIENT_PAUSE_MS);
    }
  });
  const failed = (await Promise.allSettled([worked, ...asked])).find(({ status }) => status === "rejected");
  if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Returns this process's environment without its SKEIN_ variables, plus `http` as SKEIN_HTTP and `extra`. */
function cleanEnvironment(http: string, extra: Record<string, string>): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("SKEIN_"));
  return { ...Object.fromEntries(inherited), SKEIN_HTTP: http, ...extra };
}

function bodyBytes(body: unknown): Uint8Array | undefined {
  if (body === undefined) return undefined;
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}
