// HTTPS: the certificate is checked against the name in the URL, although the connection goes to an address.
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { connect as connectTls } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { type Endpoint, INTERNET, type Network } from "../../../../../server/ground/outbound/connector.js";
import { CERTIFICATE, EXPIRED_CERTIFICATE, TLS_KEY } from "../../../../e2e/world/certificates.js";
import { type FeedServer, startFeedServer } from "../../../../e2e/world/feed-server.js";
import { body, bytesFrom, expectFailure, TestClock } from "./fetching.js";

const servers: FeedServer[] = [];

async function start(cert?: string): Promise<FeedServer> {
  const server = await startFeedServer(cert === undefined ? {} : { tls: { key: TLS_KEY, cert } });
  servers.push(server);
  return server;
}

afterEach(async () => {
  for (const server of servers.splice(0)) await server.quiet().then(() => server.close());
});

/**
 * Resolves each name to loopback and connects as the product does, but trusts the certificate authorities in
 * `ca`.
 */
function trusting(ca: string): Network & { readonly connected: Endpoint[] } {
  const connected: Endpoint[] = [];
  return {
    connected,
    resolve: async () => ["127.0.0.1"],
    connect: (endpoint) => {
      connected.push(endpoint);
      const { address: host, port, certifiedName } = endpoint;
      return certifiedName === null
        ? connect({ host, port })
        : connectTls({ host, port, ca, servername: certifiedName });
    },
  };
}

const ALLOWED = { allowPrivate: true };

describe("a certificate", () => {
  test("for the URL's name is accepted, and the connection carries the feed", async () => {
    const server = await start(CERTIFICATE);
    const bytes = body(300_000);
    const headers = { etag: '"a"' };
    server.route(
      "/feed",
      { headers, body: bytes, cutAfter: 100_000 },
      { headers, body: bytes, ranges: true },
    );
    const network = trusting(CERTIFICATE);
    expect(
      (await bytesFrom(server.url("/feed", "Shop.Example."), { ...ALLOWED, network })).equals(bytes),
    ).toBe(true);
    const endpoint = { address: "127.0.0.1", port: server.port, certifiedName: "shop.example" };
    expect(network.connected).toEqual([endpoint, endpoint]);
    expect(server.requests[1]!.headers.range).toBe("bytes=100000-");
  });

  test.each([
    ["for another name", "other.example", CERTIFICATE, trusting(CERTIFICATE), "is for a different name"],
    ["that expired", "shop.example", EXPIRED_CERTIFICATE, trusting(EXPIRED_CERTIFICATE), "has expired"],
    [
      "that is self-signed",
      "shop.example",
      CERTIFICATE,
      { ...INTERNET, resolve: async () => ["127.0.0.1"] },
      "is self-signed",
    ],
    ["that is self-signed, for an address", "127.0.0.1", CERTIFICATE, INTERNET, "is self-signed"],
  ])("%s is refused without a retry, and nothing is sent", async (_name, host, cert, network, fault) => {
    const server = await start(cert);
    const clock = new TestClock();
    const fetch = { ...ALLOWED, network, clock };
    await expectFailure(server.url("/feed", host), fetch, "SK-DS-525", `the certificate of ${host} ${fault}`);
    expect(server.requests).toEqual([]);
    expect(clock.pauses).toEqual([]);
  });
});

test("a server that does not speak TLS is reported as such", async () => {
  const server = await start();
  const url = server.url("/feed").replace("http:", "https:");
  await expectFailure(url, {}, "SK-DS-525", "no secure connection to 127.0.0.1 could be established");
  expect(server.requests).toEqual([]);
});

test("a server that speaks only TLS is not an HTTP server", async () => {
  const server = await start(CERTIFICATE);
  const url = server.url("/feed").replace("https:", "http:");
  await expectFailure(
    url,
    {},
    "SK-DS-521",
    /^127\.0\.0\.1(:\d+)? (broke off the connection|answered with something)/,
  );
});

test("a server that never completes the handshake is abandoned after the silence limit, leaving no connection", async () => {
  const silent = createServer((socket) => socket.on("error", () => undefined).resume()).listen(
    0,
    "127.0.0.1",
  );
  await once(silent, "listening");
  const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
  const sentence = "127.0.0.1 did not accept the connection within 0.02 s";
  await expectFailure(url, { silenceMsMax: 20 }, "SK-DS-504", sentence);
  await new Promise((resolve) => silent.close(resolve));
});

test("credentials are not sent from HTTPS to HTTP on the same host", async () => {
  const [secure, plain] = await Promise.all([start(CERTIFICATE), start()]);
  secure.route("/feed", { status: 302, headers: { location: "http://shop.example/feed" } });
  plain.route("/feed", { body: "a" });
  // The two servers stand in for shop.example on the default ports.
  const network = trusting(CERTIFICATE);
  const connectTo = (endpoint: Endpoint) =>
    network.connect({ ...endpoint, port: endpoint.certifiedName === null ? plain.port : secure.port });
  const fetch = {
    ...ALLOWED,
    network: { ...network, connect: connectTo },
    credentials: { username: "shop", password: "secret" },
  };
  expect(String(await bytesFrom("https://shop.example/feed", fetch))).toBe("a");
  expect(secure.requests[0]!.headers.authorization).toMatch(/^Basic /);
  expect(plain.requests[0]!.headers.authorization).toBeUndefined();
});
