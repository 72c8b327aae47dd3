// Requests that a front-end must forward to the owner thread: requests and replies arrive completely and in
// order, the owner receives everything it needs to know about a request, and nothing is left over when a
// client disconnects.
import { once } from "node:events";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ADMIN_KEY, eventually, expectStatus, sleep, type TestServer } from "../world/harness.js";
import { requestHead } from "../world/raw-http.js";
import { sharedServer } from "../world/shared-server.js";
import { SHARING } from "../world/transports.js";
import { oneForEach } from "./front-end-clients.js";

const FRONT_ENDS = 2;
const MIB = 1024 * 1024;
const SCHEMA = { fields: [{ name: "name", type: "string" }] };
const BATCH = "/v1/indexes/shop/documents/batch";
const QUERY = "/v1/indexes/shop/query";
const EXPORT = "/v1/indexes/shop/documents/export";
const NDJSON = { "content-type": "application/x-ndjson" };
/** Maximum total size in bytes of bodies that wait in memory. */
const BODIES_MAX = 40 * MIB;

const HEAD = `host: x\r\nauthorization: Bearer ${ADMIN_KEY}\r\n`;

/** A connection and all text received on it. */
interface Connection {
  readonly socket: Socket;
  text: string;
}

async function connection(server: TestServer): Promise<Connection> {
  const connected: Connection = { socket: await server.socket(), text: "" };
  connected.socket.on("error", () => undefined);
  connected.socket.on("data", (data) => (connected.text += data.toString("latin1")));
  return connected;
}

const OPTIONS = {
  shards: 2,
  frontEnds: FRONT_ENDS,
  config: { trust_proxy: true, limits: { bodiesInMemoryBytesMax: BODIES_MAX } },
  quiet: true,
};
const SERVERS = SHARING.map((http) => [http, sharedServer({ ...OPTIONS, http }, fill)] as const);

/** Imports 20 MB, once plain and once gzipped. */
async function fill(server: TestServer): Promise<void> {
  await server.createIndex("shop", SCHEMA);
  expectStatus(await server.patch("/v1/indexes/shop/settings", { embedder: { source: "none" } }), 200);
  const text = "x".repeat(10_000);
  const lines = Array.from({ length: 2_000 }, (_, i) => `{"id":"${i}","name":"lamp","text":"${text}"}\n`);
  const body = Buffer.from(lines.join(""));
  const packed = { ...NDJSON, "content-encoding": "gzip" };
  for (const [sent, headers] of [[body, NDJSON] as const, [gzipSync(body), packed] as const]) {
    const reply = await server.raw("POST", "/v1/indexes/shop/documents/import", { body: sent, headers });
    expect(JSON.parse(reply.text)).toMatchObject({ received: 2_000, succeeded: 2_000, failed: 0 });
  }
}

describe.each(SERVERS)("vanishing and slow clients over %s", (_http, server) => {
  test("clients that vanish during an upload leave nothing behind", async () => {
    for (let round = 0; round < 6; round++) {
      const open = await Promise.all([0, 1, 2, 3].map(() => connection(server)));
      for (const [i, { socket }] of open.entries()) {
        const path = i % 2 === 0 ? BATCH : "/v1/indexes/shop/documents/import";
        socket.write(requestHead("POST", path, 9 * MIB));
        socket.write(Buffer.alloc(8 * MIB, " "));
      }
      await server.holds(open.length);
      for (const { socket } of open) socket.destroy();
      await server.holds(0);
    }
    const documents = [{ id: "0", name: "lamp", text: "x".repeat(30 * MIB) }];
    const whole = await server.raw("POST", BATCH, { body: { documents } });
    expect([whole.status, whole.json.data.errors[0]!.code]).toEqual([200, "SK-DOC-413"]);
  });

  test("clients that vanish during a reply leave nothing behind", async () => {
    for (let round = 0; round < 10; round++) {
      const open = await Promise.all([0, 1, 2, 3].map(() => connection(server)));
      for (const { socket } of open) {
        socket.write(`GET ${EXPORT} HTTP/1.1\r\n${HEAD}\r\n`);
        await once(socket, "data");
        socket.pause();
      }
      for (const { socket } of open) socket.destroy();
      await server.holds(0);
    }
    const { text } = await server.raw("GET", EXPORT);
    expect(text.trimEnd().split("\n")).toHaveLength(2_000);
  });

  test("a reply waiting for its client is counted, delays nobody, and arrives whole", async () => {
    const slow = await Promise.all([0, 1, 2, 3].map(() => connection(server)));
    for (const { socket } of slow) {
      socket.pause();
      socket.write(`GET ${EXPORT} HTTP/1.1\r\n${HEAD}connection: close\r\n\r\n`);
    }
    await server.holds(slow.length);
    const clients = await oneForEach(server, FRONT_ENDS);
    for (const client of clients) {
      expect((await client.post(QUERY, { q: "lamp" })).json.found).toBe(2_000);
      client.close();
    }
    expectStatus(await server.get("/v1/indexes"), 200);
    await server.holds(slow.length);
    for (const one of slow) {
      const ended = once(one.socket, "end");
      one.socket.resume();
      await Promise.race([
        ended,
        eventually(async () => one.text.endsWith("\r\n0\r\n\r\n"), "the last piece"),
      ]);
      expect(one.text.match(/"id":/g)).toHaveLength(2_000);
      one.socket.destroy();
    }
    await server.holds(0);
  });
});

describe.each(SERVERS)("many requests over %s", (_http, server) => {
  test("thousands of small concurrent requests each get their own answer", async () => {
    const ids = Array.from({ length: 3_000 }, (_, i) => `q${i}`);
    const replies = await Promise.all(
      ids.map((id) => server.raw("POST", BATCH, { body: { documents: [{ id, name: id }] } })),
    );
    expect(new Set(replies.map(({ status, json }) => status + json.data.succeeded))).toEqual(new Set([201]));
    const read = ids.map((id) => server.raw("GET", `/v1/indexes/shop/documents/${id}`));
    expect((await Promise.all(read)).map(({ json }) => json.data.name)).toEqual(ids);
    await server.holds(0);
  });

  test("searches and forwarded requests on one connection are answered in turn", async () => {
    const { socket, text } = await connection(server);
    expect(text).toBe("");
    let came = "";
    socket.on("data", (data) => (came += data));
    for (let i = 0; i < 30; i++) {
      const id = `turn-${i}`;
      const body = '{"q":"nothing that is there"}';
      const post = `POST ${QUERY} HTTP/1.1\r\n${HEAD}x-request-id: ${id}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
      const get = `GET /v1/indexes/shop HTTP/1.1\r\n${HEAD}x-request-id: ${id}\r\n\r\n`;
      came = "";
      socket.write(i % 2 === 0 ? get : post);
      const isWhole = async (): Promise<boolean> => {
        const [head, rest] = came.split("\r\n\r\n");
        const length = Number(/content-length: (\d+)/i.exec(head!)?.[1] ?? Number.NaN);
        return rest !== undefined && Buffer.byteLength(rest) === length;
      };
      await eventually(isWhole, `answer ${i}`);
      expect(came).toMatch(new RegExp(`^HTTP/1.1 200 OK\r\n[\\s\\S]*x-request-id: ${id}\r\n`, "i"));
      expect(came.includes('"found"')).toBe(i % 2 === 1);
    }
    socket.destroy();
  });

  test("pipelined requests are answered in order, or the connection is closed", async () => {
    for (let round = 0; round < 20; round++) {
      const asked = await connection(server);
      const closed = once(asked.socket, "close");
      const body = '{"q":"lamp"}';
      const pair = (i: number): string =>
        `GET /v1/indexes/shop HTTP/1.1\r\n${HEAD}x-request-id: p-${2 * i}\r\n\r\n` +
        `POST ${QUERY} HTTP/1.1\r\n${HEAD}x-request-id: p-${2 * i + 1}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
      asked.socket.write([0, 1, 2, 3].map(pair).join(""));
      const all = eventually(async () => asked.text.match(/x-request-id: p-/gi)?.length === 8, "all");
      await Promise.race([all, closed]);
      asked.socket.destroy();
      const answered = [...asked.text.matchAll(/x-request-id: p-(\d)/gi)].map(([, id]) => Number(id));
      expect(answered).toEqual(answered.map((_, i) => i));
      await closed;
    }
    await server.holds(0);
  });
});

describe.each(SERVERS)("the owner over %s", (_http, server) => {
  test("refuses malformed requests, unknown paths, wrong methods and large bodies through each front-end", async () => {
    for (let i = 0; i < 10; i++) {
      const odd = await connection(server);
      odd.socket.write("NO REQUEST\r\n\r\n");
      await once(odd.socket, "close");
      expect(odd.text).toMatch(/^($|HTTP\/1\.1 [45]\d\d )/);
      const statusOf = async (head: string, body = ""): Promise<number> => {
        const one = await connection(server);
        one.socket.write(`${head} HTTP/1.1\r\n${HEAD}content-type: application/json\r\n`);
        one.socket.write(`content-length: ${body.length}\r\n\r\n${body}`);
        await Promise.race([once(one.socket, "data"), once(one.socket, "close")]);
        await sleep(0);
        one.socket.destroy();
        return Number(one.text.slice(9, 12));
      };
      expect(await statusOf("GET /v2")).toBe(404);
      expect(await statusOf("PUT /v1/indexes")).toBe(405);
      expect(await statusOf(`GET ${QUERY}`)).toBe(405);
      expect(await statusOf("OPTIONS /v1/indexes")).toBe(204);
      expect(await statusOf("HEAD /v1/indexes/shop")).toBe(200);
      expect(await statusOf("POST /v1/indexes", " ".repeat(3 * MIB))).toBe(413);
      expect(await statusOf("POST /v1/indexes", "{")).toBe(400);
    }
    await server.holds(0);
  });

  test("knows a client's key and address", async () => {
    const made = await server.post("/v1/keys", { name: "writer", scopes: ["documents"], indexes: ["shop"] });
    expectStatus(made, 201);
    const { key } = made.json.data;
    for (let i = 0; i < 10; i++) {
      const { socket } = await connection(server);
      const body = `{"num_typos":${i % 2}}`;
      socket.write(
        `PATCH /v1/indexes/shop/settings HTTP/1.1\r\n${HEAD}x-forwarded-for: 10.9.9.9\r\nx-forwarded-for: 192.0.2.${i}\r\n` +
          `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
      expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 200/);
      socket.destroy();
      const line = (await server.get("/v1/audit?limit=1")).json.data.entries as { address: string }[];
      expect(line[0]!.address).toBe(`192.0.2.${i}`);
    }
    for (const client of await oneForEach(server, FRONT_ENDS, "probe2")) {
      expect((await client.post(BATCH, { documents: [] }, key)).status).toBe(200);
      expect((await client.post(QUERY, { q: "lamp" }, key)).status).toBe(403);
      expect((await client.post("/v1/indexes", { name: "other", schema: SCHEMA }, key)).status).toBe(403);
      expect((await client.post(BATCH, { documents: [] }, `${key}x`)).status).toBe(401);
      client.close();
    }
  });
});
