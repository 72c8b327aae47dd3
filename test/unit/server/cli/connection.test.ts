// Which key the command line sends, and which errors it reports for failed requests.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import net, { type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { expect, test } from "vitest";
import { ApiClient, refusal } from "../../../../server/cli/api.js";
import { findKey } from "../../../../server/cli/connection.js";

test("the key comes from the flag, then the environment, then the data directory's key file", () => {
  const folder = mkdtempSync(join(tmpdir(), "skein-key-"));
  try {
    writeFileSync(join(folder, "admin.key"), "from-file\n");
    const env = { SKEIN_DATA_DIR: folder, SKEIN_API_KEY: "api", SKEIN_ADMIN_KEY: "admin" };
    expect(findKey({ key: "flag" }, env)).toBe("flag");
    expect(findKey({}, env)).toBe("api");
    expect(findKey({}, { ...env, SKEIN_API_KEY: "" })).toBe("admin");
    expect(findKey({}, { SKEIN_DATA_DIR: folder })).toBe("from-file");
    expect(findKey({}, { SKEIN_DATA_DIR: join(folder, "nothing") })).toBeNull();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a refusal carries the server's sentence and code; an answer from another program is reported as such", () => {
  const reply = (body: string) => ({ status: 400, retryAfter: 0, body: Buffer.from(body) });
  expect(refusal(reply('{"error":"q is missing","code":"SK-SE-400"}')).message).toBe(
    "q is missing (SK-SE-400)",
  );
  expect(refusal(reply("<html>")).message).toBe("the server answered 400 without an explanation");
});

test.each(["", "127.0.0.1:8800", "ftp://x", "nonsense"])(
  "the address %j is refused with an example",
  (url) => {
    expect(() => new ApiClient(url, null)).toThrow(/--url must be/);
  },
);

test("if nothing is listening, the message says what to do", async () => {
  const client = new ApiClient("http://127.0.0.1:1", null);
  await expect(client.json("GET", "/v1/indexes")).rejects.toThrow(
    /no server answers at http:\/\/127.0.0.1:1; start one/,
  );
  client.close();
});

async function errorFrom(server: Server, protocol: string): Promise<unknown> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new ApiClient(url, null);
  try {
    return await client.json("GET", "/v1/indexes").catch((error: Error) => error.message.replace(url, "URL"));
  } finally {
    client.close();
    server.close();
  }
}

test("https to an http server, and the reverse, is reported in plain words", async () => {
  const plain = http.createServer((_, response) => response.end("{}"));
  expect(await errorFrom(plain, "https")).toMatch(
    /^the server at 127\.0\.0\.1:\d+ speaks HTTP, not HTTPS; use http:\/\/127\.0\.0\.1:\d+$/,
  );
  // A server without a certificate answers every handshake with an alert. Only TLS has alerts, so the client
  // can tell that this is not HTTP.
  expect(await errorFrom(tls.createServer({}), "http")).toMatch(
    /^the server at 127\.0\.0\.1:\d+ speaks HTTPS, not HTTP; use https:\/\/127\.0\.0\.1:\d+$/,
  );
});

test("a server that closes every connection is not mistaken for an https server", async () => {
  const closing = net.createServer((socket) => socket.destroy());
  expect(await errorFrom(closing, "http")).toBe("the connection to URL failed: socket hang up");
});
