// Once the log reports a reload, all front-ends use the reloaded files.
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { FIRST_PAIR, SECOND_PAIR, type TestPair } from "../world/certificates.js";
import { ADMIN_KEY, TestServer } from "../world/harness.js";
import { SHARING } from "../world/transports.js";

const FRONT_ENDS = 3;
/** Enough connections to reach every front-end, however the operating system distributes them. */
const CONNECTIONS = 30;
const QUERY = "/v1/indexes/shop/query";
const ORIGIN = "https://shop.example";
const SCHEMA = { fields: [{ name: "name", type: "string" }] };

describe.each(SHARING)("a reload over %s", (http) => {
  const folder = mkdtempSync(join(tmpdir(), "skein-reload-"));
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  const ca = [FIRST_PAIR.certificate, SECOND_PAIR.certificate];
  const server = new TestServer({
    shards: 1,
    frontEnds: FRONT_ENDS,
    http,
    config: {},
    flags: ["--tls-cert", files.cert],
    env: { SKEIN_TLS_KEY: files.key },
    ca,
  });

  function write({ certificate, key }: TestPair): void {
    writeFileSync(files.cert, certificate);
    writeFileSync(files.key, key);
  }

  beforeAll(async () => {
    write(FIRST_PAIR);
    await server.launch();
    await server.createIndex("shop", SCHEMA, [{ id: "1", name: "lamp" }]);
  });

  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
    expect(server.log.filter(({ level }) => level === "error")).toEqual([]);
  });

  /** Sends the request on new connections; returns the replies and the certificate names shown. */
  async function everywhere(path = QUERY): Promise<{ name: string; answer: string }[]> {
    const body = '{"q":"lamp"}';
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ADMIN_KEY}\r\norigin: ${ORIGIN}\r\n`;
    const ask = async () => {
      const socket = connect({ host: "127.0.0.1", port: server.port, ca });
      onTestFinished(() => void socket.destroy());
      await once(socket, "secureConnect");
      socket.on("error", () => undefined);
      const name = String(socket.getPeerCertificate().subject.CN);
      socket.write(`${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
      const answer = String((await once(socket, "data"))[0]);
      socket.destroy();
      return { name, answer };
    };
    return Promise.all(Array.from({ length: CONNECTIONS }, ask));
  }

  async function statuses(path?: string): Promise<Set<string>> {
    return new Set((await everywhere(path)).map(({ answer }) => answer.slice(9, 12)));
  }

  test("changes origins and closed routes, for searches and for the owner's routes", async () => {
    const isAllowed = async (): Promise<Set<boolean>> =>
      new Set((await everywhere()).map(({ answer }) => answer.includes(`allow-origin: ${ORIGIN}`)));
    expect(await isAllowed()).toEqual(new Set([false]));
    for (let round = 0; round < 5; round++) {
      await server.reload({ cors: ORIGIN, closed_routes: ["/openapi.json"] });
      expect(await isAllowed()).toEqual(new Set([true]));
      expect(await statuses("/openapi.json")).toEqual(new Set(["404"]));
      expect(await statuses()).toEqual(new Set(["200"]));
      await server.reload({});
      expect(await isAllowed()).toEqual(new Set([false]));
      expect(await statuses("/openapi.json")).toEqual(new Set(["405"]));
    }
  });

  test("changes the certificate", async () => {
    for (const pair of [SECOND_PAIR, FIRST_PAIR, SECOND_PAIR]) {
      write(pair);
      await server.reload(undefined, /^the certificate/);
      expect(new Set((await everywhere()).map(({ name }) => name))).toEqual(new Set([pair.name]));
    }
    expect(await statuses()).toEqual(new Set(["200"]));
  });
});
