// HTTPS: the protocol, replacing the certificate of a running server, and errors that prevent a start. Runs
// on both HTTP transports.
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { FIRST_PAIR, SECOND_PAIR, type TestPair } from "../world/certificates.js";
import { ADMIN_KEY, TestServer } from "../world/harness.js";
import { runProgram } from "../world/program.js";
import { TRANSPORTS } from "../world/transports.js";

const CA = [FIRST_PAIR.certificate, SECOND_PAIR.certificate];
const THINGS = { fields: [{ name: "title", type: "string" }] };
const ABOUT_CERTIFICATE = /^the certificate/;

interface PairFiles {
  readonly cert: string;
  readonly key: string;
}

function writePair({ cert, key }: PairFiles, pair: Pick<TestPair, "certificate" | "key">): void {
  writeFileSync(cert, pair.certificate);
  writeFileSync(key, pair.key);
}

function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), "skein-tls-"));
}

function filesIn(folder: string): PairFiles {
  return { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
}

/** Opens a connection and waits for the TLS handshake. */
async function secureSocket(server: TestServer, options: object = {}): Promise<TLSSocket> {
  const socket = connect({ host: "127.0.0.1", port: server.port, ca: CA, ...options });
  onTestFinished(() => void socket.destroy());
  await once(socket, "secureConnect");
  socket.on("error", () => undefined); // a stopping server may reset the connection
  return socket;
}

/** The name in the certificate presented to a new connection. */
async function shownName(server: TestServer): Promise<string> {
  const socket = await secureSocket(server);
  const name = String(socket.getPeerCertificate().subject.CN);
  socket.destroy();
  return name;
}

/** Sends a small request on the connection and returns the status line of the response. */
async function statusLine(socket: TLSSocket): Promise<string> {
  socket.write("GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n");
  const [data] = await once(socket, "data");
  return String(data).split("\r\n")[0]!;
}

describe.each(TRANSPORTS)("https over %s", (http) => {
  const folder = makeFolder();
  const files = filesIn(folder);
  const flags = ["--tls-cert", files.cert];
  const server = new TestServer({
    shards: 1,
    http,
    logLevel: "debug",
    config: {},
    flags,
    env: { SKEIN_TLS_KEY: files.key },
    ca: CA,
  });

  beforeAll(async () => {
    writePair(files, FIRST_PAIR);
    await server.launch();
    await server.createIndex("things", THINGS, [{ id: "1", title: "one thing" }]);
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  test("is what the server speaks and logs as its URL, and browsers are told to stay with it", async () => {
    expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const reply = await server.query("things", { q: "thing" });
    expect([reply.json.found, reply.headers["strict-transport-security"]]).toEqual([1, "max-age=31536000"]);
    const plain = await server.socket();
    plain.on("error", () => undefined);
    plain.write("GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n");
    let answer = "";
    plain.on("data", (data) => (answer += data));
    await once(plain, "close");
    expect(answer).not.toMatch(/^HTTP/);
  });

  test("accepts TLS 1.2 and 1.3, nothing older", async () => {
    const spoken = async (version: string) => {
      const versions = { minVersion: version, maxVersion: version, ciphers: "DEFAULT@SECLEVEL=0" };
      return (await secureSocket(server, versions)).getProtocol();
    };
    expect([await spoken("TLSv1.2"), await spoken("TLSv1.3")]).toEqual(["TLSv1.2", "TLSv1.3"]);
    await expect(spoken("TLSv1.1")).rejects.toThrow(/protocol version|handshake failure/);
  });

  test("answers the command line, which trusts the authorities in NODE_EXTRA_CA_CERTS", async () => {
    const trusted = join(folder, "ca.pem");
    writeFileSync(trusted, CA.join(""));
    const env = { SKEIN_URL: server.url, SKEIN_API_KEY: ADMIN_KEY };
    const search = ["search", "things", "thing", "--json"];
    const run = await runProgram("server/cli/main.js", search, {
      folder,
      env: { ...env, NODE_EXTRA_CA_CERTS: trusted },
    });
    expect([run.code, run.err, JSON.parse(run.out).found]).toEqual([0, "", 1]);
    const refused = await runProgram("server/cli/main.js", search, { folder, env });
    expect([refused.code, refused.err]).toEqual([2, expect.stringMatching(/self-signed certificate/)]);
    expect(refused.err).toContain("NODE_EXTRA_CA_CERTS");
  });

  test("new connections get the new certificate, while open ones and their requests go on", async () => {
    writePair(files, FIRST_PAIR);
    await server.reload(undefined, ABOUT_CERTIFICATE);
    const open = await secureSocket(server);
    const agent = new Agent({ ca: CA });
    const [begin, end] = ['{"id":"2","title":"another', ' thing"}\n'];
    const upload = request(`${server.url}/v1/indexes/things/documents/import`, {
      method: "POST",
      agent,
      headers: {
        authorization: `Bearer ${ADMIN_KEY}`,
        "content-type": "application/x-ndjson",
        "content-length": begin.length + end.length,
      },
    });
    upload.write(begin);
    await server.holds(1);
    for (const pair of [SECOND_PAIR, FIRST_PAIR, SECOND_PAIR]) {
      writePair(files, pair);
      await server.reload(undefined, ABOUT_CERTIFICATE);
      expect(await shownName(server)).toBe(pair.name);
      expect(await statusLine(open)).toBe("HTTP/1.1 200 OK");
    }
    upload.end(end);
    const [response] = await once(upload, "response");
    const summary = JSON.parse(String(await once(response, "data")));
    expect(summary).toMatchObject({ received: 1, succeeded: 1 });
    expect((await server.query("things", { q: "another" })).json.found).toBe(1);
  });

  test("no connection is refused while certificates change", async () => {
    let [changing, made] = [true, 0];
    const connecting = Array.from({ length: 4 }, async () => {
      for (; changing; made++) (await secureSocket(server)).destroy();
    });
    for (let round = 0; round < 10; round++) {
      writePair(files, round % 2 === 0 ? FIRST_PAIR : SECOND_PAIR);
      await server.reload(undefined, ABOUT_CERTIFICATE);
    }
    changing = false;
    await Promise.all(connecting);
    expect(made).toBeGreaterThan(0);
  });

  test.each<[string, Pick<TestPair, "certificate" | "key">, RegExp]>([
    ["of two pairs", { ...SECOND_PAIR, key: FIRST_PAIR.key }, /does not match the certificate/],
    ["with a broken certificate", { ...SECOND_PAIR, certificate: "broken" }, /contains no PEM certificate/],
    ["without a key", { ...SECOND_PAIR, key: "" }, /contains no unencrypted PEM private key/],
  ])("a pair %s is refused as a whole with one log line", async (_what, pair, reason) => {
    writePair(files, FIRST_PAIR);
    await server.reload(undefined, ABOUT_CERTIFICATE);
    writePair(files, pair);
    const before = server.log.length;
    const told = await server.reload(undefined, ABOUT_CERTIFICATE);
    expect(told.at(-1)).toBe("the certificate cannot be used; the one in force stays");
    const lines = server.log.slice(before).filter(({ level }) => level === "error");
    expect(lines.map((line) => line.reason)).toEqual([expect.stringMatching(reason)]);
    expect(await shownName(server)).toBe("first");
    expect((await server.query("things", { q: "one" })).status).toBe(200);
  });
});

describe.each(TRANSPORTS)("start and stop over %s", (http) => {
  test.each<[string, (files: PairFiles) => string[], RegExp]>([
    ["one without the other", ({ cert }) => ["--tls-cert", cert], /--tls-cert needs tls_key/],
    [
      "a missing file",
      ({ cert, key }) => ["--tls-cert", cert, "--tls-key", `${key}.no`],
      /cannot read the private key/,
    ],
    [
      "files that do not belong together",
      ({ cert, key }) => ["--tls-cert", cert, "--tls-key", key],
      /does not match/,
    ],
  ])("%s ends with one line and exit code 2", async (_what, flags, message) => {
    const folder = makeFolder();
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const files = filesIn(folder);
    writePair(files, { ...FIRST_PAIR, key: SECOND_PAIR.key });
    const args = ["serve", "--port", "0", "--data-dir", join(folder, "data"), ...flags(files)];
    const run = await runProgram("server/cli/main.js", args, { folder, env: { SKEIN_HTTP: http } });
    expect([run.code, run.out]).toEqual([2, ""]);
    expect(run.err.trim().split("\n")).toEqual([expect.stringMatching(message)]);
  });

  test("a handshake that never ends does not delay the stop", async () => {
    const folder = makeFolder();
    const files = filesIn(folder);
    writePair(files, FIRST_PAIR);
    const flags = ["--tls-cert", files.cert, "--tls-key", files.key];
    const config = { limits: { bodyIdleMsMax: 3_600_000 } };
    const server = await TestServer.start({ shards: 1, http, flags, config, ca: CA });
    onTestFinished(() => rmSync(folder, { recursive: true }));
    onTestFinished(() => server.close());
    const silent = await server.socket();
    silent.on("error", () => undefined);
    const gone = once(silent, "close");
    await secureSocket(server);
    expect(await server.stop()).toBe(0);
    await gone;
  });
});
