// Requests that break a rule of HTTP are refused before they reach a route, in the form of all errors, and
// the connection is closed. test/property/framing sends the HTTP implementations many more.
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { ADMIN_KEY, type TestServer } from "../world/harness.js";
import { serverOverEachHttp } from "../world/shared-server.js";

const KEY = `Authorization: Bearer ${ADMIN_KEY}\r\n`;
const HEAD = `Host: x\r\n${KEY}`;
const LIST = `GET /v1/indexes HTTP/1.1\r\n${HEAD}\r\n`;
const QUERY = "POST /v1/indexes/things/query HTTP/1.1\r\n";
const CHUNKED = "Transfer-Encoding: chunked\r\n";

/** What the server sees in the head, so that its reply is the same over all implementations. */
const SEEN: readonly [what: string, code: string, bytes: string][] = [
  ["two Host headers", "SK-SYS-400", `GET /v1/indexes HTTP/1.1\r\nHost: y\r\n${HEAD}\r\n`],
  ["a Host header with a path", "SK-SYS-400", `GET /v1/indexes HTTP/1.1\r\nHost: x/y\r\n${KEY}\r\n`],
  ["two lengths", "SK-SYS-400", `${QUERY}${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} `],
  ["an empty length", "SK-SYS-400", `${QUERY}${HEAD}Content-Length: \r\n\r\n{}`],
  [
    "codings after chunked",
    "SK-SYS-400",
    `${QUERY}${HEAD}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
  ],
  ["chunked twice", "SK-SYS-400", `${QUERY}${HEAD}${CHUNKED}${CHUNKED}\r\n0\r\n\r\n`],
  ["an unknown coding", "SK-SYS-501", `${QUERY}${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
  ["an unknown expectation", "SK-SYS-417", `${QUERY}${HEAD}Expect: 200-ok\r\nContent-Length: 2\r\n\r\n{}`],
  ["a method that is not a token", "SK-SYS-400", `G@T /v1/indexes HTTP/1.1\r\n${HEAD}\r\n`],
  ["a method for proxies", "SK-SYS-400", `CONNECT /v1/indexes HTTP/1.1\r\n${HEAD}\r\n`],
  ["a target that is not ASCII", "SK-SYS-400", `GET /v1/indexes/\xfc HTTP/1.1\r\n${HEAD}\r\n`],
  ["a control character", "SK-SYS-400", `GET /v1/indexes HTTP/1.1\r\n${HEAD}A: \x7f\r\n\r\n`],
];

/** What the HTTP library refuses. Only node:http lets the server word the reply. */
const REFUSED_BY_LIBRARY: readonly [what: string, code: string, bytes: string][] = [
  ["no Host header", "SK-SYS-400", `GET /v1/indexes HTTP/1.1\r\n${KEY}\r\n`],
  ["another version", "SK-SYS-400", `GET /v1/indexes HTTP/2.0\r\n${HEAD}\r\n`],
  ["a length and chunks", "SK-SYS-400", `${QUERY}${HEAD}Content-Length: 5\r\n${CHUNKED}\r\n0\r\n\r\n`],
  ["a signed length", "SK-SYS-400", `${QUERY}${HEAD}Content-Length: +2\r\n\r\n{}`],
  ["an invalid header line", "SK-SYS-400", `GET /v1/indexes HTTP/1.1\r\n${HEAD}A : b\r\n\r\n`],
  ["a folded header line", "SK-SYS-400", `GET /v1/indexes HTTP/1.1\r\n${HEAD}A: b\r\n c\r\n\r\n`],
  [
    "a head that is too large",
    "SK-SYS-431",
    `GET /v1/indexes HTTP/1.1\r\n${HEAD}A: ${"b".repeat(2 ** 17)}\r\n\r\n`,
  ],
  ["an invalid chunk size", "SK-SYS-400", `${QUERY}${HEAD}${CHUNKED}\r\n0x2\r\n{}\r\n0\r\n\r\n`],
  ["junk after a chunk", "SK-SYS-400", `${QUERY}${HEAD}${CHUNKED}\r\n2\r\n{}XX0\r\n\r\n`],
];

/** All that the server replies to the bytes until it closes the connection. */
async function repliesTo(server: TestServer, bytes: string): Promise<string> {
  const socket = await server.socket();
  socket.on("error", () => undefined);
  let replies = "";
  socket.on("data", (data) => {
    replies += data.toString("latin1");
  });
  const closed = Promise.race([once(socket, "end"), once(socket, "close")]);
  socket.write(bytes, "latin1");
  await closed;
  socket.destroy();
  return replies;
}

function expectRefusal(replies: string, code: string): void {
  const [head = "", body = ""] = replies.split("\r\n\r\n");
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${code.slice(-3)} \\w`));
  expect(head).toMatch(/^connection: close$/im);
  expect(head).toMatch(/^x-request-id: \S+$/im);
  expect(head).toMatch(/^x-content-type-options: nosniff$/im);
  expect(JSON.parse(body)).toEqual({ error: expect.any(String), code });
}

const SERVERS = serverOverEachHttp({ shards: 1, quiet: true }, async (server) => {
  await server.createIndex("things", { fields: [{ name: "title", type: "string" }] });
});

describe.each(SERVERS)("over %s", (http, server) => {
  test.each(SEEN)("%s: the request is refused with %s", async (_what, code, bytes) => {
    expectRefusal(await repliesTo(server, bytes), code);
  });

  test.skipIf(http !== "node").each(REFUSED_BY_LIBRARY)(
    "%s: the reply has the usual form",
    async (_what, code, bytes) => {
      expectRefusal(await repliesTo(server, bytes), code);
    },
  );

  test("a request behind a refused one is not taken", async () => {
    for (const [, , bytes] of SEEN) {
      expect(await repliesTo(server, bytes + LIST)).not.toContain("200 OK");
    }
  });

  test("a refused request does nothing", async () => {
    for (const line of [
      "Content-Length: 0\r\nContent-Length: 0\r\n",
      "Content-Length: +0\r\n",
      "Host: y\r\n",
    ]) {
      await repliesTo(server, `DELETE /v1/indexes/things HTTP/1.1\r\n${HEAD}${line}\r\n`);
    }
    expect((await server.get("/v1/indexes/things")).status).toBe(200);
  });

  test("the refusal of a HEAD request has no body", async () => {
    const replies = await repliesTo(server, `HEAD /v1/indexes HTTP/1.1\r\nHost: y\r\n${HEAD}\r\n`);
    expect(replies).toMatch(/^HTTP\/1\.1 400 [^{]*\r\n\r\n$/);
  });

  test("nothing is taken after a request that asks to close the connection", async () => {
    const last = `GET /v1/indexes HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`;
    expect((await repliesTo(server, last)).split("200 OK")).toHaveLength(2);
    expect((await repliesTo(server, last + LIST)).split("200 OK").length).toBeLessThan(3);
  });

  test(`a body in chunks is ${http === "node" ? "taken" : "refused with SK-SYS-411"}`, async () => {
    const head = `${QUERY}${HEAD}Content-Type: application/json\r\n${CHUNKED}`;
    const last = http === "node" ? "Connection: close\r\n" : "";
    const replies = await repliesTo(server, `${head}${last}\r\n9\r\n{"q":"*"}\r\n0\r\n\r\n`);
    if (http === "node") expect(replies).toMatch(/^HTTP\/1\.1 200 /);
    else expectRefusal(replies, "SK-SYS-411");
  });

  test.skipIf(http !== "node")("the refusal comes after the replies to the requests before", async () => {
    const replies = await repliesTo(server, `${LIST}BAD\r\n\r\n`);
    expect(replies).toMatch(/^HTTP\/1\.1 200 /);
    expectRefusal(replies.slice(replies.indexOf("HTTP/1.1 400")), "SK-SYS-400");
  });
});
