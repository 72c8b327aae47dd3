// More requests than the server accepts: the excess immediately gets 429 or 503 with Retry-After, nothing is
// lost or leaked, and after the burst the server answers as before. Slow or silent clients are disconnected
// and delay no other client.
import { describe, expect, test } from "vitest";
import { effort } from "../../effort.js";
import { eventually, expectStatus, sleep, type TestServer } from "../world/harness.js";
import { requestHead } from "../world/raw-http.js";
import { serverOverEachHttp } from "../world/shared-server.js";

const CAPACITY = 32;
const CLIENTS = 64; // maximum number of connections that the harness opens
const IDLE_MS = 5_000;
const UNSENT_MAX = 8 * 1024 * 1024;
const MIB = 1024 * 1024;
const PATH = "/v1/indexes/things/query";

const LIMITS = {
  requestsInFlightMax: CAPACITY,
  bodyIdleMsMax: IDLE_MS,
  shardQueueRequestsMax: CAPACITY,
  unsentBytesMax: UNSENT_MAX,
  rememberedAnswersBytesMax: 1, // no cached answers, because a burst has few distinct queries
  localDocumentsMax: 1, // every query goes to a shard: the HTTP thread would answer them one at a time
};
const OPTIONS = { shards: 2, config: { limits: LIMITS } };
const SERVERS = serverOverEachHttp(OPTIONS, fill);
/**
 * Separate servers for the tests of silent clients, which wait for so long that they run concurrently with
 * other tests.
 */
const SERVERS_OF_SILENT = serverOverEachHttp(OPTIONS, fill);

async function fill(server: TestServer): Promise<void> {
  await server.createIndex("things", { fields: [{ name: "title", type: "string", facet: true }] });
  // No model training: during a burst a shard may refuse to train, which the server retries, but also logs as
  // an error.
  expectStatus(await server.patch("/v1/indexes/things/settings", { embedder: { source: "none" } }), 200);
  const documents = Array.from({ length: 3_000 }, (_, i) => ({ id: `d${i}`, title: `thing number${i}` }));
  expectStatus(await server.post("/v1/indexes/things/documents/batch", { documents }), 200);
}

/**
 * For tests that wait until several large uploads have arrived completely, however long that takes. Only one
 * front-end: the tests measure resident memory, and when a body's chunks move to another thread, the C heap
 * does not release their memory immediately.
 */
const PATIENT = serverOverEachHttp(
  { shards: 1, frontEnds: 1, config: { limits: { bodyIdleMsMax: 300_000 } } },
  (server) => server.createIndex("things", { fields: [{ name: "title", type: "string" }] }),
);

/**
 * Sends `requests` requests at once, far more than the server accepts, over all of the harness's connections.
 * Returns the number of replies by status.
 */
async function burst(server: TestServer, requests: number): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  const each = Math.ceil(requests / CLIENTS);
  await Promise.all(
    Array.from({ length: requests }, async (_, i) => {
      const q = `thing number${i % each}`;
      const reply = await server.query("things", { q, facets: ["title"], per_page: 50 });
      statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
      if (reply.status === 200) return;
      expect([429, 503], reply.text).toContain(reply.status);
      expect(Number(reply.headers["retry-after"])).toBeGreaterThan(0);
    }),
  );
  return statuses;
}

async function unsentBytes(server: TestServer): Promise<number> {
  const { text: metrics } = await server.raw("GET", "/metrics");
  return Number(/^skein_http_unsent_bytes (\d+)/m.exec(metrics)?.[1]);
}

describe.each(SERVERS)("overload over %s", (_http, server) => {
  test("ten times the capacity: the surplus is refused, memory does not grow, and the server recovers", async () => {
    const pid = server.pid;
    const seen = new Set<number>();
    await eventually(async () => {
      for (const status of (await burst(server, 10 * CAPACITY)).keys()) seen.add(status);
      return seen.has(429) && seen.has(200);
    }, "some are answered and some refused");
    for (let grown = 64, times = 0; grown >= 64; times++) {
      expect(times, "bursts let the memory grow, again and again").toBeLessThan(4);
      const before = server.residentMiB() ?? 0;
      for (let time = 0; time < effort(3, 5); time++) await burst(server, 10 * CAPACITY);
      grown = (server.residentMiB() ?? 0) - before;
    }
    await eventually(
      async () => (await server.query("things", { q: "thing" })).json.found === 3_000,
      "answers after the burst",
    );
    expect(server.pid).toBe(pid);
    expect(server.running).toBe(true);
    expect(server.log.filter(({ level }) => level === "error")).toEqual([]);
  });
});

// uWebSockets.js begins a request only after the reply to the one before.
const CONCURRENT = SERVERS.filter(([http]) => http === "node");
describe.each(CONCURRENT)("requests of one connection over %s", (_http, server) => {
  test("are all over when it closes, even those whose replies wait for another reply", async () => {
    const title = "word ".repeat(100_000);
    const documents = Array.from({ length: 6 }, (_, i) => ({ id: `w${i}`, title: `${title}${i}` }));
    await server.createIndex("words", { fields: [{ name: "title", type: "string" }] }, documents);
    const body = JSON.stringify({ q: "*" });
    const request = requestHead("POST", "/v1/indexes/words/query", body.length) + body;
    const socket = await server.socket();
    socket.on("error", () => undefined);
    socket.pause();
    socket.write(request + request);
    await eventually(
      async () => (await unsentBytes(server)) > 2 * title.length * documents.length,
      "both replies wait for the client",
    );
    socket.destroy();
    await server.holds(0);
    expect(await unsentBytes(server)).toBe(0);
  });
});

describe.each(PATIENT)("aborted uploads over %s", (_http, server) => {
  test("memory used by uploads is freed when their clients vanish", async () => {
    const before = server.residentMiB();
    if (before === null) return; // only Linux reports resident memory
    const uploads = effort(5, 9);
    const sockets = await Promise.all(Array.from({ length: uploads }, () => server.socket()));
    for (const socket of sockets) {
      socket.on("error", () => undefined);
      socket.write(requestHead("POST", "/v1/indexes/things/documents/batch", 60 * MIB));
      socket.write(Buffer.alloc(55 * MIB, "x"));
    }
    const arrived = () => (server.residentMiB() ?? 0) - before > uploads * 40;
    await eventually(async () => arrived(), "the uploads have arrived");
    for (const socket of sockets) socket.destroy();
    const returned = () => (server.residentMiB() ?? 0) - before < 64;
    await eventually(async () => returned(), "their memory is freed");
  });
});

// This describe block and the next run concurrently, because they wait for the server to close idle
// connections.
describe.concurrent.each(SERVERS)("clients that do not read over %s", (_http, server) => {
  test("unread replies are counted, cause refusals of other requests, and get their clients cut off", async () => {
    const text = "word ".repeat(100_000);
    const documents = Array.from({ length: 20 }, (_, i) => ({ id: `b${i}`, title: `${text}${i}` }));
    await server.createIndex("big", { fields: [{ name: "title", type: "string" }] }, documents);
    const body = JSON.stringify({ q: "*", per_page: 20 });
    const request = requestHead("POST", "/v1/indexes/big/query", body.length) + body;
    const isUnsent = (wanted: (bytes: number) => boolean) => async () => wanted(await unsentBytes(server));
    const ask = async () => {
      const socket = await server.socket();
      socket.on("error", () => undefined);
      socket.pause();
      socket.write(request);
      await eventually(
        isUnsent((bytes) => bytes > UNSENT_MAX),
        "a reply is waiting",
      );
      const refused = await server.query("things", { q: "thing" });
      expect([refused.status, refused.json.code]).toEqual([503, "SK-SYS-503"]);
      expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
      expect((await server.raw("GET", "/health/live")).status).toBe(200);
      return socket;
    };
    const slow = await ask();
    const pieces: Buffer[] = [];
    slow.on("data", (piece) => pieces.push(piece));
    slow.resume();
    await eventually(
      isUnsent((bytes) => bytes === 0),
      "the reply was read",
    );
    // The server has written the data, but the system may not have delivered all of it yet.
    const arrived = (): string[] => Buffer.concat(pieces).toString().split("\r\n\r\n");
    const isWhole = async (): Promise<boolean> => {
      const [head, reply] = arrived();
      return reply?.length === Number(/content-length: (\d+)/i.exec(head!)?.[1]);
    };
    await eventually(isWhole, "the reply has arrived");
    slow.destroy();
    expect(JSON.parse(arrived()[1]!).hits).toHaveLength(20);
    const silent = await ask();
    await eventually(
      isUnsent((bytes) => bytes === 0),
      "the silent client was cut off",
    );
    expect((await server.query("things", { q: "thing" })).json.found).toBe(3_000);
    silent.destroy();
  });
});

describe.concurrent.each(SERVERS_OF_SILENT)("clients that do not send over %s", (_http, server) => {
  test("silent and slow clients are cut off and delay nobody", async () => {
    const sockets = await Promise.all(Array.from({ length: 3 * CAPACITY }, () => server.socket()));
    const closed = sockets.map((socket) => {
      socket.on("error", () => undefined);
      socket.resume();
      return new Promise<void>((resolve) => socket.once("close", () => resolve()));
    });
    sockets.forEach((socket, i) => {
      if (i % 3 === 1) socket.write("POST /v1/indexes HTTP/1.1\r\nhost: x\r\n"); // half of a request head
      // Half of a body.
      if (i % 3 === 2 && i < CAPACITY) socket.write(`${requestHead("POST", PATH, 100)}{"q": "th`);
    });
    expect((await server.query("things", { q: "thing" })).json.found).toBe(3_000);
    const cut = closed.filter((_, i) => i % 3 === 1 || (i % 3 === 2 && i < CAPACITY));
    await Promise.race([
      Promise.all(cut),
      sleep(150_000).then(() => {
        throw new Error("slow clients are still connected");
      }),
    ]);
    expect((await server.query("things", { q: "thing" })).json.found).toBe(3_000);
    for (const socket of sockets) socket.destroy();
  });
});
