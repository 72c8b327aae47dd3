// HTTP: methods, headers, bodies of every kind, back-pressure, start and stop. The two transports must be
// indistinguishable.
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { effort } from "../../effort.js";
import { ADMIN_KEY, eventually, MAIN, sleep, type TestServer } from "../world/harness.js";
import { serverOverEachHttp } from "../world/shared-server.js";
import type { Transport } from "../world/transports.js";

const SCHEMA = { fields: [{ name: "title", type: "string" }] };
const ORIGIN = "https://shop.example";
const NDJSON = { "content-type": "application/x-ndjson" };

/** Number of one-kilobyte documents in one stream. */
const STREAMED = effort(6_000, 20_000);

const SERVERS = serverOverEachHttp(
  {
    shards: 2,
    logLevel: "debug",
    config: { cors: [ORIGIN], limits: { documentBytesMax: 100_000 } },
  },
  (server) => server.createIndex("things", SCHEMA, [{ id: "1", title: "one thing" }]),
);

describe.each(SERVERS)("methods and headers over %s", (_http, server) => {
  test("HEAD is GET without a body, OPTIONS lists the methods, others get 405", async () => {
    const get = await server.get("/v1/indexes");
    const head = await server.raw("HEAD", "/health/live");
    expect([head.status, head.text, head.headers["content-type"]]).toEqual([
      200,
      "",
      get.headers["content-type"],
    ]);
    expect((await server.raw("HEAD", "/v1/indexes/things/documents/export")).status).toBe(200);
    const options = await server.raw("OPTIONS", "/v1/indexes/things");
    expect([options.status, options.headers.allow]).toEqual([204, "GET, PATCH, DELETE, HEAD, OPTIONS"]);
    const put = await server.raw("PUT", "/v1/indexes", { body: "{}" });
    expect([put.status, put.headers.allow, put.json.code]).toEqual([
      405,
      "POST, GET, HEAD, OPTIONS",
      "SK-SYS-405",
    ]);
    expect((await server.get("/v1/indexes")).status).toBe(200);
  });

  test("a request id is generated, or accepted and logged", async () => {
    expect((await server.get("/health/live")).headers["x-request-id"]).toMatch(/^[\w-]+$/);
    const headers = { "x-request-id": "from-the-client.1" };
    expect((await server.get("/v1/indexes", { headers })).headers["x-request-id"]).toBe("from-the-client.1");
    await eventually(
      async () => server.log.some((entry) => entry.id === "from-the-client.1"),
      "the log line",
    );
    const odd = await server.get("/health/live", { headers: { "x-request-id": "a b" } });
    expect(odd.headers["x-request-id"]).not.toBe("a b");
  });

  test("browsers from the configured origin may call; others get no CORS headers", async () => {
    const allowed = await server.raw("OPTIONS", "/v1/indexes", { key: null, headers: { origin: ORIGIN } });
    expect(allowed.headers["access-control-allow-origin"]).toBe(ORIGIN);
    expect(allowed.headers["access-control-allow-headers"]).toContain("authorization");
    const refused = await server.get("/v1/indexes", { key: null, headers: { origin: ORIGIN } });
    expect([refused.status, refused.headers["access-control-allow-origin"]]).toEqual([401, ORIGIN]);
    const other = await server.get("/v1/indexes", { headers: { origin: "https://other.example" } });
    expect(other.headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("401 says how to authenticate", async () => {
    const reply = await server.get("/v1/indexes", { key: null });
    expect([reply.status, reply.json.code]).toEqual([401, "SK-SYS-401"]);
    expect(reply.headers["www-authenticate"]).toMatch(/^Bearer/);
  });
});

describe.each(SERVERS)("bodies over %s", (http, server) => {
  test("documents may be sent as gzip, and invalid gzip is refused", async () => {
    const post = (path: string, body: Uint8Array, headers: Record<string, string>) =>
      server.raw("POST", `/v1/indexes/things/documents/${path}`, {
        body,
        headers: { "content-encoding": "gzip", ...headers },
      });
    const batch = await post("batch", gzipSync('{"documents":[{"id":"g1","title":"packed"}]}'), {});
    expect(batch.json.data).toMatchObject({ received: 1, succeeded: 1 });
    const lines = await post(
      "import",
      gzipSync('{"id":"g2","title":"packed"}\n{"id":"g3","title":"packed"}'),
      NDJSON,
    );
    expect(JSON.parse(lines.text)).toMatchObject({ received: 2, succeeded: 2, failed: 0 });
    expect((await server.query("things", { q: "packed" })).json.found).toBe(3);
    expect((await post("batch", Buffer.from("not gzip"), {})).json.code).toBe("SK-DOC-400");
    expect((await post("import", Buffer.from("not gzip"), NDJSON)).json.code).toBe("SK-DOC-400");
    expect((await post("batch", gzipSync(Buffer.alloc(80 * 1024 * 1024)), {})).status).toBe(413);
    expect(await post("batch", gzipSync("{}"), { "content-encoding": "br" })).toMatchObject({
      status: 415,
      json: { error: "the Content-Encoding must be gzip or absent, not br" },
    });
  });

  test("a body may be declared unencoded, but not declared gzip when it is not", async () => {
    const query = (encoding: string) =>
      server.post("/v1/indexes/things/query", { q: "*" }, { headers: { "content-encoding": encoding } });
    expect((await query("identity")).status).toBe(200);
    expect((await query("gzip")).status).toBe(415);
  });

  test("a body that is too large is refused before all of it arrives, and the connection stays usable", async () => {
    const body = Buffer.alloc(3 * 1024 * 1024, 0x20);
    const declared = await server.raw("POST", "/v1/indexes", { body });
    expect([declared.status, declared.json.code]).toEqual([413, "SK-SYS-413"]);
    if (http === "node") {
      const chunked = await streamedPost(server, "/v1/indexes", [body, body], "application/json", true);
      expect(chunked.status).toBe(413);
    }
    const unread = await server.raw("POST", "/v1/indexes/things/documents/batch", { body, key: null });
    expect(unread.status).toBe(401);
    expect((await server.get("/v1/indexes")).status).toBe(200);
  });

  test("content types that the route does not accept are refused", async () => {
    const query = (type: string) =>
      server.raw("POST", "/v1/indexes/things/query", {
        body: '{"q":"thing"}',
        headers: { "content-type": type },
      });
    for (const type of [
      "application/json",
      "application/json; charset=UTF-8",
      "application/vnd.api+json",
      "",
    ]) {
      expect((await query(type)).status, type).toBe(200);
    }
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/json; charset=latin1",
      "json",
    ]) {
      expect([(await query(type)).status, type]).toEqual([415, type]);
    }
    expect((await query("application/x-www-form-urlencoded")).json.error).toBe(
      "the Content-Type must be application/json, not application/x-www-form-urlencoded; " +
        'with curl -d, add -H "Content-Type: application/json"',
    );
  });
});

describe.each(SERVERS)("streams over %s", (_http, server) => {
  test("an import of many megabytes is streamed", async () => {
    const line = (id: number): string => `{"id":"s${id}","title":"streamed","text":"${"x".repeat(1000)}"}\n`;
    const chunks = Array.from({ length: STREAMED / 100 }, (_, at) =>
      Buffer.from(Array.from({ length: 100 }, (_, i) => line(at * 100 + i)).join("")),
    );
    const reply = await streamedPost(
      server,
      "/v1/indexes/things/documents/import",
      chunks,
      NDJSON["content-type"],
    );
    expect(JSON.parse(reply.text)).toMatchObject({ received: STREAMED, succeeded: STREAMED, failed: 0 });
    expect((await server.query("things", { q: "streamed" })).json.found).toBe(STREAMED);
  });

  test("a slowly read export delays nobody and is complete", async () => {
    const exported = await new Promise<string>((resolve, reject) => {
      const options = { headers: { authorization: `Bearer ${ADMIN_KEY}` } };
      const request = httpRequest(
        `${server.url}/v1/indexes/things/documents/export`,
        options,
        async (response) => {
          response.pause();
          await sleep(300); // simulates a slow reader
          const others = await Promise.all(
            Array.from({ length: 10 }, () => server.query("things", { q: "thing" })),
          );
          if (others.some((reply) => reply.status !== 200))
            reject(new Error("a query failed beside the export"));
          let text = "";
          response.setEncoding("utf8");
          for await (const chunk of response) text += chunk;
          resolve(text);
        },
      );
      request.on("error", reject);
      request.end();
    });
    const ids = exported
      .trimEnd()
      .split("\n")
      .map((text) => (JSON.parse(text) as { id: string }).id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBe((await server.get("/v1/indexes/things")).json.data.records_count);
  });

  test("the server recovers from exports and imports that the client cuts off", async () => {
    for (let i = 0; i < 20; i++) {
      const socket = await server.socket();
      socket.on("error", () => undefined);
      const target =
        i % 2 === 0 ? "GET /v1/indexes/things/documents/export" : "POST /v1/indexes/things/documents/import";
      socket.write(
        `${target} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ADMIN_KEY}\r\ncontent-length: 100\r\n\r\n`,
      );
      if (i % 2 === 0) await once(socket, "data");
      else socket.write('{"id":"cut","title":"cut"}');
      socket.destroy();
    }
    expect((await server.get("/health/ready")).status).toBe(200);
    expect(server.log.filter((entry) => entry.level === "error")).toEqual([]);
  });

  test("an error after an import's reply has begun is its last line", async () => {
    const bad = Buffer.from(`{"id":1,"note":"${"y".repeat(100)}"}\n`.repeat(100_000));
    const packed = gzipSync(bad);
    expect(gunzipSync(packed).length).toBe(bad.length);
    const reply = await server.raw("POST", "/v1/indexes/things/documents/import", {
      body: packed.subarray(0, packed.length - 20),
      headers: { ...NDJSON, "content-encoding": "gzip" },
    });
    expect(reply.status).toBe(200);
    const last = JSON.parse(reply.text.trimEnd().split("\n").at(-1)!) as { code: string };
    expect(last.code).toBe("SK-DOC-400");
  });
});

describe.each(SERVERS)("start and stop over %s", (http, server) => {
  test("a start on a used port fails and says so", () => {
    const other = mkdtempSync(join(tmpdir(), "skein-http-"));
    onTestFinished(() => rmSync(other, { recursive: true }));
    const result = serve(["--port", String(server.port), "--data-dir", other], http);
    expect(result.status).toBe(2);
    expect(result.stderr).toMatch(
      /^(Admin key[^\n]*\n)?skein: cannot listen on 127\.0\.0\.1:\d+: the address is in use[^\n]*\n$/,
    );
  });

  test("a start on a data directory in use fails and names the server", () => {
    const result = serve(["--port", "0", "--data-dir", server.dataDir], http);
    expect(result.status).toBe(2);
    expect(result.stderr).toBe(
      `skein: another server (pid ${server.pid}) is running on the data directory ${server.dataDir}\n`,
    );
  });

  test("an invalid value stops the start", () => {
    const result = serve(["--port", "eighty"], http);
    expect([result.status, result.stderr]).toEqual([
      2,
      'skein: --port must be a whole number from 0 to 65535, not "eighty"\n',
    ]);
  });
});

/** Runs a server that must fail to start. */
function serve(args: string[], http: Transport) {
  const env = { ...process.env, SKEIN_HTTP: http };
  return spawnSync(process.execPath, [MAIN, "serve", "--log-level", "silent", ...args], {
    env,
    encoding: "utf8",
    timeout: 60_000,
  });
}

/** A POST that is written piece by piece as fast as the server reads it, if wanted without Content-Length. */
function streamedPost(
  server: TestServer,
  path: string,
  pieces: Buffer[],
  type: string,
  inChunks = false,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${ADMIN_KEY}`,
      "content-type": type,
      ...(inChunks
        ? { "transfer-encoding": "chunked" }
        : { "content-length": pieces.reduce((sum, { length }) => sum + length, 0) }),
    };
    let answered = false;
    const request = httpRequest(`${server.url}${path}`, { method: "POST", headers }, async (response) => {
      answered = true;
      let text = "";
      response.setEncoding("utf8");
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode!, text });
    });
    request.on("error", (error) => {
      if (!answered) reject(error);
    });
    void (async () => {
      for (const piece of pieces) {
        if (answered) break;
        if (!request.write(piece)) await once(request, "drain");
      }
      request.end();
    })().catch(() => undefined); // the error listener above handles it
  });
}
