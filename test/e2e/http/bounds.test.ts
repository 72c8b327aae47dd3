// The bounds that docs/SECURITY.md states for what a key can make the server use, measured on a server with a
// heap of 512 MiB. `npm run torture -- --hostile` measures more, for minutes.
import { readFileSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually, expectStatus, TestServer } from "../world/harness.js";
import { requestHead } from "../world/raw-http.js";

const KIB = 1024;
const QUERY = "/v1/indexes/goods/query";

let server: TestServer;
let otherKey = "";

beforeAll(async () => {
  const env = { NODE_OPTIONS: "--max-old-space-size=512" };
  server = await TestServer.start({ env, shards: 1, frontEnds: 1, flags: ["--memory-limit", "1GB"] });
  const made = await server.post("/v1/tenants", { name: "other" });
  otherKey = (made.json.data.admin_key as { key: string }).key;
  const schema = {
    fields: [
      { name: "title", type: "string" },
      { name: "stock", type: "int32" },
    ],
  };
  const documents = Array.from({ length: 2_000 }, (_, i) => ({
    id: `d${i}`,
    title: `thing ${"x".repeat(1_000)} number${i}`,
    stock: i,
  }));
  await server.createIndex("goods", schema, documents);
  expectStatus(await server.post("/v1/indexes", { name: "own", schema }, { key: otherKey }), 201);
}, 120_000);

afterAll(() => server.close());

/** The bounds in MiB of SECURITY.md, by what a key sends. */
const BOUNDS = new Map(
  Array.from(
    readFileSync(new URL("../../../docs/SECURITY.md", import.meta.url), "utf8").matchAll(
      /^\| (.+?) \| at most (\d+) MiB \|$/gm,
    ),
    ([, what, bound]) => [what!, Number(bound)],
  ),
);

/** Runs the attack, and checks how much the process has grown at most. Only Linux reports that. */
async function grownAtMost(what: string, attack: () => Promise<void>): Promise<void> {
  const bound = BOUNDS.get(what);
  expect(bound, `SECURITY.md states a bound for: ${what}`).toBeGreaterThan(0);
  const before = server.residentMiB();
  if (before !== null) writeFileSync(`/proc/${server.pid}/clear_refs`, "5"); // forgets the peak so far
  await attack();
  expect(server.running).toBe(true);
  await server.holds(0);
  expectStatus(await server.post("/v1/indexes/own/query", { q: "thing" }, { key: otherKey }), 200);
  if (before === null) return;
  const grown = peakMiB() - before;
  expect(grown).toBeLessThan(bound!);
}

function peakMiB(): number {
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / KIB;
}

/** Sends the request over a connection of its own and closes it at once. */
async function abandoned(path: string, body: string): Promise<void> {
  const socket = await server.socket();
  socket.on("error", () => undefined);
  await new Promise((resolve) => socket.write(requestHead("POST", path, body.length) + body, resolve));
  socket.destroy();
}

test("queries with long filters stay within their bound", async () => {
  const filter_by = Array.from({ length: 19_990 }, (_, i) => `stock:${i}`).join("||");
  await grownAtMost("90 queries with filters of 19,990 conditions (180 KB each)", async () => {
    const replies = await Promise.all(
      Array.from({ length: 90 }, (_, i) =>
        server.raw("POST", QUERY, { body: { q: `number${i}`, filter_by } }),
      ),
    );
    for (const { status, text } of replies) expect([200, 503], text).toContain(status);
    expect(replies.some(({ status }) => status === 200)).toBe(true);
  });
});

test("multi-searches whose clients leave stay within their bound", async () => {
  const searches = Array.from({ length: 50 }, (_, i) => ({
    index: "goods",
    q: "thing",
    per_page: 250,
    page: i + 1,
  }));
  await grownAtMost("300 multi-searches of 50 searches for 250 hits, whose clients leave", async () => {
    const body = JSON.stringify({ searches });
    for (let i = 0; i < 30; i++)
      await Promise.all(Array.from({ length: 10 }, () => abandoned("/v1/multi-search", body)));
  });
});

test("batches that decompress to a thousand times their size stay within their bound", async () => {
  const bomb = gzipSync(Buffer.alloc(64 * KIB * KIB, " "));
  await grownAtMost("20 gzipped batches of 64 KB that decompress to 64 MiB", async () => {
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    const send = () => server.raw("POST", "/v1/indexes/goods/documents/batch", { body: bomb, headers });
    for (const { status, text } of await Promise.all(Array.from({ length: 20 }, send)))
      expect([400, 413, 503], text).toContain(status);
  });
});

test("a gzipped batch whose trailer states a part of its length needs no more memory than there is", async () => {
  const members = ['{"documents":[{"id":"m1","title":"member"},', '{"id":"m2","title":"member"}]}'];
  const body = Buffer.concat(members.map((member) => gzipSync(member)));
  const headers = { "content-type": "application/json", "content-encoding": "gzip" };
  const send = () => server.raw("POST", "/v1/indexes/goods/documents/batch", { body, headers });
  for (const reply of await Promise.all(Array.from({ length: 5 }, send))) expectStatus(reply, 200);
});

test("imports that never end and exports that are never read stay within their bound", async () => {
  const sockets = await Promise.all(Array.from({ length: 300 }, () => server.socket()));
  await grownAtMost("100 imports whose line never ends, and 200 exports that are not read", async () => {
    const line = `{"id":"never","title":"${"x".repeat(1_000 * KIB)}`;
    // Refused, or closed: uWebSockets.js closes a connection whose client stops in the middle of a body,
    // which may come just before the server refuses the request.
    const over = new Set<Socket>();
    for (const [i, socket] of sockets.entries()) {
      socket.on("error", () => undefined);
      socket.once("data", (data) => {
        if (String(data).startsWith("HTTP/1.1 503")) over.add(socket);
        socket.pause();
      });
      socket.once("close", () => over.add(socket));
      if (i % 3 > 0) socket.write(requestHead("GET", "/v1/indexes/goods/documents/export", 0));
      else socket.write(requestHead("POST", "/v1/indexes/goods/documents/import", 2 * line.length) + line);
    }
    await eventually(async () => over.size >= 100, "many are refused or closed");
    for (const socket of sockets) socket.destroy();
  });
});

test("batches that never arrive completely stay within their bound", async () => {
  const sockets = await Promise.all(Array.from({ length: 100 }, () => server.socket()));
  await grownAtMost("100 batches of 4 MiB whose last byte never comes", async () => {
    const part = Buffer.alloc(4 * KIB * KIB - 1, " ");
    const head = requestHead("POST", "/v1/indexes/goods/documents/batch", part.length + 1);
    for (const socket of sockets) {
      socket.on("error", () => undefined);
      socket.write(head);
      socket.write(part);
    }
    const refused = sockets.map(
      (socket) =>
        new Promise<boolean>((resolve) => {
          socket.once("data", (data) => resolve(String(data).startsWith("HTTP/1.1 503")));
        }),
    );
    await Promise.race(refused.map(async (reply) => expect(await reply).toBe(true)));
    for (const socket of sockets) socket.destroy();
  });
});
