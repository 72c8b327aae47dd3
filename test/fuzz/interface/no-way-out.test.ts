// The fuzzed servers' network guard: nothing leaves loopback, and loopback connections work.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const GUARD = join(import.meta.dirname, "no-way-out.mjs");

/** Runs the code under the guard and returns the lines that it prints about its connection attempts. */
async function attempts(code: string): Promise<string[]> {
  const args = [`--import=${GUARD}`, "--input-type=module", "--eval", code];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout.trim().split("\n");
}

test("connections beyond loopback are refused, by address and by name, with TLS too", async () => {
  const lines = await attempts(`
    import { connect } from "node:net";
    import { connect as connectTls } from "node:tls";
    const attempt = (socket) => new Promise((resolve) => socket.on("error", ({ message }) => resolve(message)));
    console.log(await attempt(connect({ host: "192.0.2.1", port: 80 })));
    console.log(await attempt(connect(80, "feed.example")));
    console.log(await attempt(connect({ host: "2001:db8::1", port: 80 })));
    console.log(await attempt(connect({ host: "::ffff:192.0.2.1", port: 80 })));
    console.log(await attempt(connectTls({ host: "192.0.2.1", port: 443 })));
  `);
  for (const line of lines) expect(line).toMatch(/^ECONNREFUSED: .* is off loopback$/);
  expect(lines).toHaveLength(5);
});

test("names are not resolved", async () => {
  const lines = await attempts(`
    import { lookup } from "node:dns";
    import { lookup as asked } from "node:dns/promises";
    lookup("feed.example", { all: true }, ({ message }) => console.log(message));
    await asked("feed.example", { all: true }).catch(({ message }) => console.log(message));
    console.log(JSON.stringify(await asked("127.0.0.1")));
  `);
  const refused = "ENOTFOUND: feed.example is off loopback";
  expect(lines.sort()).toEqual([refused, refused, '{"address":"127.0.0.1","family":4}']);
});

test("loopback can be reached", async () => {
  const lines = await attempts(`
    import { createServer, connect } from "node:net";
    const server = createServer((socket) => socket.end("hello")).listen(0, "127.0.0.1", () => {
      const socket = connect(server.address().port, "127.0.0.1");
      socket.on("data", (data) => console.log(String(data)));
      socket.on("close", () => server.close());
    });
  `);
  expect(lines).toEqual(["hello"]);
});
