// When the server stops, pending requests are answered, whichever front-end received them. Acknowledged
// writes survive a kill.
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { ADMIN_KEY, eventually, expectStatus, meanwhile, TestServer } from "../world/harness.js";
import { requestHead } from "../world/raw-http.js";
import { SHARING } from "../world/transports.js";
import { oneForEach } from "./front-end-clients.js";

const FRONT_ENDS = 2;
const SCHEMA = { fields: [{ name: "name", type: "string" }] };
const QUERY = "/v1/indexes/shop/query";
const DOCUMENTS = "/v1/indexes/shop/documents";
const HEAD = `host: x\r\nauthorization: Bearer ${ADMIN_KEY}\r\n`;
const LARGE = 20;
/**
 * Number of pieces that the slow client reads slowly. It reads the remaining pieces at full speed, because
 * the server allows only a limited time for a stop.
 */
const SLOW_PIECES = 40;
const PAGE = `{"q":"lamp","per_page":${LARGE}}`;

interface Asked {
  /** Sends the rest of the request. */
  readonly goOn: () => void;
  /** Everything received until the connection closed. */
  readonly whole: Promise<string>;
}

/** Opens a connection and sends `begin`, the first part of a request. */
async function ask(server: TestServer, begin: string, rest: string): Promise<Asked> {
  const socket = await server.socket();
  socket.on("error", () => undefined);
  let text = "";
  socket.on("data", (data) => (text += data.toString("latin1")));
  socket.write(begin);
  return { goOn: () => void socket.write(rest), whole: once(socket, "close").then(() => text) };
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\n${HEAD}\r\n`;

async function expectGoodEnd(server: TestServer, stopping: Promise<number | null>): Promise<void> {
  expect(await stopping).toBe(0);
  expect(server.log.at(-1)).toMatchObject({ msg: "stopped" });
  expect(server.log.filter(({ level }) => level === "error")).toEqual([]);
}

describe.each(SHARING)("over %s", (http) => {
  test("a stop waits for requests that are still arriving", async () => {
    const server = await TestServer.start({ shards: 2, frontEnds: FRONT_ENDS, http });
    try {
      await server.createIndex("shop", SCHEMA, [{ id: "1", name: "lamp" }]);
      const lines = ["first", "second", "third"].map((id) => `{"id":"${id}","name":"lantern"}\n`).join("");
      const documents = '{"documents":[{"id":"batch","name":"lantern"}]}';
      const expected: [path: string, body: string, reply: RegExp][] = [
        [`${DOCUMENTS}/import`, lines, /"succeeded":3,"failed":0/],
        [`${DOCUMENTS}/batch`, documents, /^HTTP\/1\.1 200 [\s\S]*"succeeded":1,"failed":0/],
        [QUERY, '{"q":"lamp"}', /^HTTP\/1\.1 200 [\s\S]*"found":1/],
      ];
      const inside: [Asked, RegExp][] = [];
      for (const [path, body, reply] of [...expected, ...expected, ...expected, ...expected]) {
        const head = requestHead("POST", path, body.length);
        const type = path === `${DOCUMENTS}/import` ? head.replace("/json", "/x-ndjson") : head;
        inside.push([await ask(server, type + body.slice(0, 5), body.slice(5)), reply]);
      }
      await server.holds(inside.length);
      const stopping = server.stop();
      await eventually(async () => server.log.some(({ msg }) => msg === "stopping"), "the log says stopping");
      for (const [asked] of inside) asked.goOn();
      for (const [{ whole }, reply] of inside) expect(await whole).toMatch(reply);
      await expectGoodEnd(server, stopping);
      await server.launch();
      expect((await server.query("shop", { q: "lantern" })).json.found).toBe(4);
    } finally {
      await server.close();
    }
  });

  test.each([
    ["an export", 1, get(`${DOCUMENTS}/export`)],
    ["found documents", 2, requestHead("POST", QUERY, PAGE.length) + PAGE],
  ])("a stop waits for a client that reads %s slowly", async (_what, copies, request) => {
    const server = await TestServer.start({ shards: 2, frontEnds: FRONT_ENDS, http });
    try {
      const text = "x".repeat(1_000_000);
      const large = Array.from({ length: LARGE }, (_, i) => ({ id: String(i), name: "lamp", text }));
      await server.createIndex("shop", SCHEMA, large);
      const socket = await server.socket();
      socket.on("error", () => undefined);
      const pieces: Buffer[] = [];
      let slowPieces = SLOW_PIECES;
      socket.on("data", (piece) => {
        pieces.push(piece);
        if (slowPieces === 0) return;
        socket.pause();
        if (!server.log.some(({ msg }) => msg === "stopping")) return;
        slowPieces--;
        setTimeout(() => socket.resume(), 5);
      });
      socket.write(request);
      await eventually(async () => pieces.length > 0, "the reply begins");
      const closed = once(socket, "close");
      const stopping = server.stop();
      await eventually(async () => server.log.some(({ msg }) => msg === "stopping"), "the log says stopping");
      socket.resume();
      await closed;
      const reply = Buffer.concat(pieces).toString("latin1");
      expect(reply).toMatch(/(\r\n0\r\n\r\n|\})$/);
      const unchunked = reply.replace(/\r\n[\da-f]+\r\n/gi, "");
      expect(unchunked.match(/"text":"x{1000000}"/g)).toHaveLength(LARGE * copies);
      await expectGoodEnd(server, stopping);
    } finally {
      await server.close();
    }
  });

  test("a kill under load loses nothing acknowledged, and the next start serves", async () => {
    const server = await TestServer.start({ shards: 2, frontEnds: FRONT_ENDS, http });
    try {
      await server.createIndex("shop", SCHEMA);
      const written: string[] = [];
      for (let round = 0; round < 2; round++) {
        const clients = await oneForEach(server, FRONT_ENDS, `probe-${round}`);
        const ends = clients.map((client, i) => async (): Promise<void> => {
          const id = `${round} ${i} ${written.length}`;
          const documents = [{ id, name: "lamp" }];
          const answered = (): Promise<boolean> => Promise.resolve(server.running);
          try {
            const reply = await client.post(`${DOCUMENTS}/batch`, { documents });
            if (reply.status === 200) written.push(id);
            await client.post(QUERY, { q: "lamp" });
          } catch (error) {
            if (await answered()) throw error;
          }
        });
        const before = written.length;
        await meanwhile(ends, async () => {
          await eventually(async () => written.length > before + 50, "both write");
          await server.stop("SIGKILL");
        });
        for (const client of clients) client.close();
        await server.launch();
      }
      expect((await server.query("shop", { q: "lamp" })).json.found).toBeGreaterThanOrEqual(written.length);
      for (const id of written) expectStatus(await server.get(`${DOCUMENTS}/${encodeURIComponent(id)}`), 200);
    } finally {
      await server.close();
    }
  });
});
