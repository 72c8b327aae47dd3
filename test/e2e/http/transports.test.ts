// HTTP transport selection: the best transport that loads on this machine, or exactly the requested one. One
// log line names it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { runProgram } from "../world/program.js";
import { serverOverEachHttp, sharedServer } from "../world/shared-server.js";
import { MISSING, TRANSPORTS, type Transport } from "../world/transports.js";

const ALL: readonly Transport[] = ["uwsjs", "uws-pack", "node"];
const UWS = TRANSPORTS.filter((transport) => transport !== "node");
const REASON = expect.stringMatching(/^.+$/);

/** The log lines about the transport. */
function said(log: Record<string, unknown>[]): Record<string, unknown>[] {
  return log.filter(({ transport }) => transport !== undefined);
}

describe("a server free to choose", () => {
  const server = sharedServer({ shards: 1 });

  test("uses the best transport that loads here, and logs once which one and why the better ones failed", async () => {
    expect((await server.get("/v1/indexes")).status).toBe(200);
    const [transport] = TRANSPORTS;
    const before = ALL.slice(0, ALL.indexOf(transport!));
    expect(said(server.log)).toEqual([
      expect.objectContaining({
        level: transport === "node" ? "warn" : "info",
        transport,
        configured: "auto",
        notLoaded: Object.fromEntries(before.map((build) => [build, REASON])),
      }),
    ]);
  });
});

describe.each(serverOverEachHttp({ shards: 1 }))("a server told to use %s", (transport, server) => {
  test("does", async () => {
    expect((await server.get("/v1/indexes")).status).toBe(200);
    expect(said(server.log)).toEqual([
      expect.objectContaining({ level: "info", transport, configured: transport, notLoaded: {} }),
    ]);
  });
});

test.each(UWS.length === 0 ? ["uws", ...MISSING] : MISSING)(
  "a server told to use %s, which does not load here, does not start",
  async (http) => {
    const folder = mkdtempSync(join(tmpdir(), "skein-transports-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const args = [
      "serve",
      "--port",
      "0",
      "--data-dir",
      "data",
      "--log-level",
      "silent",
      "--admin-key",
      "12345678",
    ];
    const run = await runProgram("server/cli/main.js", args, { folder, env: { SKEIN_HTTP: http } });
    expect([run.code, run.out]).toEqual([2, ""]);
    const builds = http === "uws" ? "uwsjs: .+; uws-pack" : http;
    expect(run.err).toMatch(
      new RegExp(`^skein: uWebSockets\\.js does not load here: ${builds}: [^\\n]+\\n$`),
    );
  },
);
