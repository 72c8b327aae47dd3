// Everything a reply contains besides its content, such as browser headers and the request id. Also tests
// which address the server takes to be the client's. Runs on both HTTP transports.
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { ADMIN_KEY, eventually, type TestServer } from "../world/harness.js";
import { serverOverEachHttp } from "../world/shared-server.js";

const ORIGIN = "https://shop.example";
const CONFIG = {
  cors: [ORIGIN],
  trust_proxy: ["127.0.0.1", "10.0.0.0/8"],
  closed_routes: ["/metrics", "/openapi.json"],
  plans: [{ name: "throttled", requests_per_second_per_ip: 1 }],
};
const THINGS = { fields: [{ name: "title", type: "string" }] };

const SERVERS = serverOverEachHttp(
  { shards: 1, logLevel: "debug", config: { ...CONFIG, closed_routes: [] } },
  async (server) => {
    await server.createIndex("things", THINGS, [{ id: "1", title: "one thing" }]);
    await server.reload(CONFIG); // closes routes only now, after the harness has read /openapi.json
  },
);

/** Sends `bytes` on a new connection and returns everything the server replies. */
async function answerTo(server: TestServer, bytes: string): Promise<string> {
  const socket = await server.socket();
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  let answer = "";
  socket.on("data", (data) => (answer += data));
  socket.write(bytes);
  await once(socket, "close");
  return answer;
}

function lineWith(server: TestServer, id: string, message: string): Record<string, unknown> | undefined {
  return server.log.find((entry) => entry.id === id && entry.msg === message);
}

describe.each(SERVERS)("reply headers over %s", (_http, server) => {
  const FOR_BROWSERS = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  };

  test.each<[string, string, string, number]>([
    ["an open route", "GET", "/health/live", 200],
    ["JSON", "GET", "/v1/indexes", 200],
    ["a stream", "GET", "/v1/indexes/things/documents/export", 200],
    ["no body", "HEAD", "/v1/indexes", 200],
    ["the methods of a path", "OPTIONS", "/v1/indexes", 204],
    ["an unknown path", "GET", "/nowhere", 404],
    ["an unknown index", "GET", "/v1/indexes/none", 404],
    ["another method", "PUT", "/v1/indexes", 405],
  ])("%s carries the headers for browsers, but none for https", async (_what, method, path, status) => {
    const { status: answered, headers } = await server.raw(method, path);
    expect(answered).toBe(status);
    expect(headers).toMatchObject(FOR_BROWSERS);
    expect(headers["strict-transport-security"]).toBeUndefined();
  });

  test("a preflight names what a page may send, and every reply varies by origin", async () => {
    const asked = { origin: ORIGIN, "access-control-request-method": "POST" };
    const preflight = await server.raw("OPTIONS", "/v1/indexes/things/query", { key: null, headers: asked });
    expect([preflight.status, preflight.headers]).toMatchObject([
      204,
      {
        vary: "origin",
        "access-control-allow-origin": ORIGIN,
        "access-control-allow-methods": "GET, POST, PATCH, DELETE",
        "access-control-max-age": "86400",
      },
    ]);
    for (const headers of [{ origin: "https://other.example" }, {} as Record<string, string>]) {
      const other = await server.get("/v1/indexes", { headers });
      expect(other.headers.vary).toBe("origin");
      expect(other.headers["access-control-allow-origin"]).toBeUndefined();
    }
  });

  test.each(["/metrics", "/openapi.json"])("a closed %s looks like an unknown path", async (path) => {
    const unknown = await server.raw("GET", "/nowhere", { key: null });
    for (const [method, key] of [
      ["GET", null],
      ["GET", ADMIN_KEY],
      ["POST", null],
      ["OPTIONS", null],
    ] as const) {
      const closed = await server.raw(method, path, { key });
      expect([closed.status, closed.text]).toEqual([404, unknown.text]);
      expect(Object.keys(closed.headers)).toEqual(Object.keys(unknown.headers));
    }
  });
});

describe.each(SERVERS)("request ids over %s", (_http, server) => {
  test("appear in the log lines about a request", async () => {
    const id = "lines-about:one.request";
    const headers = { "x-request-id": id };
    const reply = await server.post("/v1/indexes/things/query", { q: "thing" }, { headers });
    expect(reply.headers["x-request-id"]).toBe(id);
    await eventually(async () => lineWith(server, id, "request") !== undefined, "the line");
    const { path, status } = lineWith(server, id, "request")!;
    expect([path, status]).toEqual(["/v1/indexes/things/query", reply.status]);
  });

  test.each([
    ["a b", "spaces"],
    ['x","level":"fatal', "JSON"],
    ["x".repeat(101), "too many characters"],
    ["é", "other letters"],
  ])("%j is not accepted as an id: %s", async (given) => {
    const bytes = `GET /health/live HTTP/1.1\r\nhost: x\r\nx-request-id: ${given}\r\nconnection: close\r\n\r\n`;
    const answer = await answerTo(server, bytes);
    const id = /^x-request-id: (.*)$/im.exec(answer)?.[1]?.trim();
    expect(id).toMatch(/^[\da-f]{8}-[\da-z]+$/);
    expect(server.log.every((entry) => entry.level !== "fatal")).toBe(true);
  });

  test("a path with any characters stays within its log line", async () => {
    const path = "/%0a%22%7d/\\u000a/'\"{}";
    const answer = await answerTo(server, `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    await eventually(async () => server.log.some((entry) => entry.path === path), "the line");
  });
});

describe("bytes that are not a request", () => {
  const [, node] = SERVERS.at(-1)!;
  const LARGE = `GET / HTTP/1.1\r\nhost: x\r\nx-a: ${"a".repeat(70_000)}\r\n\r\n`;

  test.each([
    ["no HTTP", "hello\r\n\r\n", 400],
    ["a header without a name", "GET / HTTP/1.1\r\n: x\r\n\r\n", 400],
    ["a request id with control characters", "GET / HTTP/1.1\r\nx-request-id: \u001b[31m\r\n\r\n", 400],
    ["a head that is too large", LARGE, 431],
  ])("%s is refused over node:http like any other request", async (_what, bytes, status) => {
    const [head, body] = (await answerTo(node, bytes)).split("\r\n\r\n") as [string, string];
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [A-Z]`));
    expect(head).toMatch(/^x-content-type-options: nosniff$/m);
    expect(JSON.parse(body)).toEqual({ code: `SK-SYS-${status}`, error: expect.any(String) });
    const id = /^x-request-id: (\S+)$/m.exec(head)![1]!;
    await eventually(async () => lineWith(node, id, "malformed request") !== undefined, "the line");
  });

  describe.each(SERVERS.slice(0, -1))(
    "are refused by uWebSockets.js (%s) itself, without a request id",
    (_http, uws) => {
      test.each([
        ["a header without a name", "GET / HTTP/1.1\r\n: x\r\n\r\n"],
        ["a head that is too large", LARGE],
      ])("%s", async (_what, bytes) => {
        expect(await answerTo(uws, bytes)).toMatch(/^($|HTTP\/1\.1 4\d\d )/);
      });
    },
  );
});

describe.each(SERVERS)("the client's address over %s", (_http, server) => {
  test("is the one that known proxies name, line by line, and a /64 counts as one client", async () => {
    const made = await server.post("/v1/tenants", { name: "acme", plan: "throttled" });
    const { key } = (made.json.data as unknown as { admin_key: { key: string } }).admin_key;
    const status = async (...forwarded: string[]): Promise<number> => {
      const lines = forwarded.map((value) => `x-forwarded-for: ${value}\r\n`).join("");
      const head = `GET /v1/indexes HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n`;
      const answer = await answerTo(server, `${head}${lines}connection: close\r\n\r\n`);
      return Number(answer.slice(9, 12));
    };
    const twice = async (first: string[], second: string[]): Promise<number[]> => [
      await status(...first),
      await status(...second),
    ];
    // The server ignores addresses that a client forges: they precede the addresses that trusted proxies add.
    expect(await twice(["198.51.100.1"], ["6.6.6.6, 198.51.100.1, 10.0.0.9"])).toEqual([200, 429]);
    // A proxy may add a header line of its own instead of extending the client's line.
    expect(await twice(["198.51.100.2"], ["7.7.7.7", "198.51.100.2"])).toEqual([200, 429]);
    expect(await twice(["2001:db8::1"], ["2001:DB8:0:0:ffff::2"])).toEqual([200, 429]);
    expect(await twice(["2001:db8:0:1::1"], ["2001:db8:0:2::1"])).toEqual([200, 200]);
    expect(await twice(["198.51.100.3:1234"], ["::ffff:198.51.100.3"])).toEqual([200, 429]);
    await eventually(
      async () => server.log.some(({ ip }) => ip === "198.51.100.3"),
      "the address in the log",
    );
  });
});
