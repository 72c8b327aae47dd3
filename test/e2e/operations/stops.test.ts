// SIGTERM ends the server, whatever is wrong with it: a disk that refuses writes, a hanging or dead shard,
// clients that have left. Running requests are answered, every reply closes its connection, and the exit code
// and the log tell whether every step of the stop succeeded.
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { World } from "../faults/fault-world.js";
import { BlockedShards } from "../world/blocked-shards.js";
import { eventually, type StartOptions, TestServer } from "../world/harness.js";
import { requestHead } from "../world/raw-http.js";
import { SHARING, TRANSPORTS } from "../world/transports.js";

const SCHEMA = { fields: [{ name: "name", type: "string" }] };
const QUERY = "/v1/indexes/shop/query";
const BODY = '{"q":"lamp"}';
const FAILED = "a step of the stop failed; going on with the next one";
/** Longer than any test may take: what waits for this is never over. */
const NEVER_MS = 3_600_000;

async function shop(options: StartOptions): Promise<TestServer> {
  const server = await TestServer.start(options);
  await server.createIndex("shop", SCHEMA, [
    { id: "1", name: "lamp" },
    { id: "2", name: "chair" },
  ]);
  return server;
}

interface Client {
  readonly socket: Socket;
  /** Everything received until the connection closed; ends with the code of an error. */
  readonly whole: Promise<string>;
}

async function connected(server: TestServer): Promise<Client> {
  const socket = await server.socket();
  let text = "";
  socket.on("data", (data) => (text += data.toString("latin1")));
  socket.on("error", (error: NodeJS.ErrnoException) => (text += `\n${error.code}`));
  return { socket, whole: once(socket, "close").then(() => text) };
}

function said(server: TestServer, message: string): boolean {
  return server.log.some(({ msg }) => msg === message);
}

function isStopping(server: TestServer): Promise<void> {
  return eventually(async () => said(server, "stopping"), "the log says stopping");
}

/** The names of the steps that failed, as the last line of the log lists them. */
function failedSteps(server: TestServer): unknown {
  const last = server.log.at(-1)!;
  expect(last).toMatchObject({ msg: "stopped, but not in good order", level: "error" });
  const lines = server.log.filter(({ msg }) => msg === FAILED);
  expect(lines.map(({ step }) => step)).toEqual(last.failed);
  return last.failed;
}

const LISTENERS = [
  ...TRANSPORTS.map((http) => [http, 1] as const),
  ...SHARING.map((http) => [http, 2] as const),
];

describe.each(LISTENERS)("over %s with %i front-ends", (http, frontEnds) => {
  test("from SIGTERM on each reply closes its connection, and running requests are answered", async () => {
    const server = await shop({ http, frontEnds });
    try {
      const running = await connected(server);
      running.socket.write(requestHead("POST", QUERY, BODY.length) + BODY.slice(0, 5));
      const asked: [request: string, reply: RegExp, client: Client][] = [];
      for (const [request, reply] of [
        ["GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n", /^HTTP\/1\.1 200 [\s\S]*"live"/],
        ["HEAD /health/live HTTP/1.1\r\nhost: x\r\n\r\n", /^HTTP\/1\.1 200 [\s\S]*\r\n\r\n$/],
        ["GET /health/ready HTTP/1.1\r\nhost: x\r\n\r\n", /^HTTP\/1\.1 503 [\s\S]*"SK-SYS-503"/],
        [requestHead("POST", QUERY, BODY.length) + BODY, /^HTTP\/1\.1 503 [\s\S]*"SK-SYS-503"/],
        [`${requestHead("POST", "/v1/indexes", 100)}{`, /^HTTP\/1\.1 503 [\s\S]*"SK-SYS-503"/],
      ] as const)
        asked.push([request, reply, await connected(server)]);
      const idle = await connected(server);
      await server.holds(1);
      const stopping = server.stop();
      await isStopping(server);
      await eventually(
        async () =>
          server.socket().then(
            (socket) => {
              socket.destroy();
              return false;
            },
            () => true,
          ),
        "new connections are refused",
      );
      const answered = asked.map(([, , { socket }]) => once(socket, "data"));
      for (const [request, , { socket }] of asked) socket.write(request);
      await Promise.all(answered);
      running.socket.write(BODY.slice(5));
      for (const [, reply, { whole }] of [
        ...asked,
        ["", /^HTTP\/1\.1 200 [\s\S]*"found":1/, running],
      ] as const) {
        const text = await whole;
        expect(text).toMatch(reply);
        expect(text.match(/^connection: .*$/gim)).toEqual([expect.stringMatching(/^connection: close$/i)]);
      }
      expect(await idle.whole).toBe("");
      expect(await stopping).toBe(0);
      expect(server.log.at(-1)).toMatchObject({ msg: "stopped", level: "info" });
    } finally {
      await server.close();
    }
  });
});

describe("a stop that goes wrong", () => {
  test("a disk that refuses writes: all other steps are done, and the exit code is 2", async () => {
    const world = new World();
    try {
      const server = await world.start();
      await server.createIndex("shop", SCHEMA, [{ id: "1", name: "lamp" }]);
      world.arm("catalog.before-batch", ...new Array<"throw">(1_000).fill("throw"));
      expect((await server.query("shop", { q: "lamp" })).json.found).toBe(1);
      const databases = ["catalog", "shards/0", "shards/1"].map((name) =>
        join(world.dataDir, name, "closed.json"),
      );
      for (const file of databases) rmSync(file, { force: true });
      expect(await server.stop()).toBe(2);
      expect(failedSteps(server)).toEqual(["store the counts of the month"]);
      for (const file of databases) expect(existsSync(file), file).toBe(true);
      world.disarm("catalog.before-batch");
      await server.launch();
      expect((await server.query("shop", { q: "lamp" })).json.found).toBe(1);
      expect(await server.stop()).toBe(0);
    } finally {
      await world.close();
    }
  });

  test("a shard hangs, and the clients of its searches have left: neither keeps the process", async () => {
    const blocked = new BlockedShards();
    const limits = {
      stopGraceMsMax: NEVER_MS,
      searchMsMax: NEVER_MS,
      shardHangMsMax: 3_000,
      localDocumentsMax: 1,
    };
    const server = await shop({ env: blocked.env, config: { limits } });
    try {
      await blocked.while(1, async () => {
        const searches = JSON.stringify({ searches: new Array(50).fill({ index: "shop", q: "lamp" }) });
        const clients: Client[] = [];
        for (let i = 0; i < 20; i++) {
          const client = await connected(server);
          client.socket.write(requestHead("POST", "/v1/multi-search", searches.length) + searches);
          clients.push(client);
        }
        await server.holds(clients.length);
        for (const { socket } of clients) socket.destroy();
        // The watchdog ends the thread. If it does so before the shards are closed, a new thread closes them.
        const code = await server.stop();
        if (code === 0) expect(server.log.at(-1)).toMatchObject({ msg: "stopped" });
        else expect([code, failedSteps(server)]).toEqual([2, ["close the shards"]]);
      });
      await server.launch();
      expect((await server.query("shop", { q: "lamp" })).json.found).toBe(1);
    } finally {
      await server.close();
      blocked.close();
    }
  });

  test("a shard is dead and cannot be reopened: the server still stops", async () => {
    const killDir = mkdtempSync(join(tmpdir(), "skein-kill-"));
    const killer = join(import.meta.dirname, "../faults/shard-killer.mjs");
    const env = { NODE_OPTIONS: `--import=${killer}`, SKEIN_TEST_KILL_DIR: killDir };
    const server = await shop({ env });
    try {
      writeFileSync(join(server.dataDir, "shards/1/CURRENT"), "not a database");
      writeFileSync(join(killDir, "1"), "");
      await eventually(
        async () => said(server, "shard could not be reopened; trying again"),
        "the shard is dead",
      );
      expect(await server.stop()).toBe(0);
    } finally {
      await server.close();
      rmSync(killDir, { recursive: true, force: true });
    }
  });

  test("a second signal ends the process at once", async () => {
    const server = await shop({ config: { limits: { stopGraceMsMax: NEVER_MS } } });
    try {
      const { socket, whole } = await connected(server);
      socket.write(requestHead("POST", QUERY, BODY.length));
      await server.holds(1);
      process.kill(server.pid, "SIGTERM");
      await isStopping(server);
      expect(server.running).toBe(true);
      expect(await server.stop("SIGTERM")).toBe(null);
      expect(await whole).not.toContain("HTTP/1.1");
      await server.launch();
      expect((await server.query("shop", { q: "lamp" })).json.found).toBe(1);
    } finally {
      await server.close();
    }
  });

  test("something keeps the stopped process: it kills itself, and the bound of a stop is documented", async () => {
    const held = "--import=data:text/javascript,setInterval(()=>undefined,1e3)";
    const server = await TestServer.start({ env: { NODE_OPTIONS: held } });
    try {
      expect(await server.stop()).toBe(null);
      expect(server.log.at(-1)).toMatchObject({ msg: "stopped" });
      expect(server.lastLines.text()).toMatch(/process does not end \(.*Timeout.*\); killing it/);
      const { msMax } = server.log.find(({ msg }) => msg === "stopping")!;
      expect(msMax).toBeLessThanOrEqual(90_000);
    } finally {
      await server.close();
    }
  });
});
