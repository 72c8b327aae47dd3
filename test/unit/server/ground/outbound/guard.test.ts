// No request reaches a forbidden address, whichever name or redirect leads there. The public addresses in
// these tests are stand-ins: the network passed to the download routes them to a loopback server, so no
// packet leaves the machine.
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Endpoint, Network } from "../../../../../server/ground/outbound/connector.js";
import { type FeedServer, startFeedServer } from "../../../../e2e/world/feed-server.js";
import { bytesFrom, expectFailure, TestClock } from "./fetching.js";

const NOT_SENT = (host: string) => `${host} does not resolve to a public address, so nothing was sent to it`;

/** Allows no hosts beyond the defaults, so the trap's address is forbidden. */
const STRICT = { allowHosts: [] };

let server: FeedServer;
let trap: FeedServer;

beforeAll(async () => {
  [server, trap] = await Promise.all([startFeedServer(), startFeedServer()]);
  trap.route("/", { body: "secret" });
});
afterEach(async () => {
  await server.quiet();
  expect(trap.requests).toEqual([]);
  expect(trap.openConnections()).toBe(0);
  server.requests.length = 0;
});
afterAll(() => Promise.all([server.close(), trap.close()]));

/**
 * Resolves each name to the answers in its list in turn, repeating the last one, and routes connections to
 * 93.184.216.x to `server`.
 */
function network(names: Record<string, string[][]>): Network & { readonly connected: Endpoint[] } {
  const connected: Endpoint[] = [];
  return {
    connected,
    resolve: async (name) => {
      const answers = names[name]!;
      return answers.length > 1 ? answers.shift()! : answers[0]!;
    },
    connect: (endpoint) => {
      connected.push(endpoint);
      // 93.184.216.x stands for `server`. Any other address is used unchanged, so a forbidden address that
      // slips through reaches the trap.
      const isServer = endpoint.address.startsWith("93.184.216.");
      return connect({
        host: isServer ? "127.0.0.1" : endpoint.address,
        port: isServer ? server.port : endpoint.port,
      });
    },
  };
}

describe("a name", () => {
  test("is connected to at exactly the address that was checked", async () => {
    server.route("/feed", { body: "a" });
    const net = network({ "shop.example": [["93.184.216.34"], ["127.0.0.1"]] });
    expect(String(await bytesFrom("http://Shop.Example/feed", { ...STRICT, network: net }))).toBe("a");
    expect(net.connected).toEqual([{ address: "93.184.216.34", port: 80, certifiedName: null }]);
    expect(server.requests[0]!.headers.host).toBe("shop.example");
  });

  test("that later resolves to a private address is then refused", async () => {
    server.route("/feed", { status: 503 });
    const net = network({ "shop.example": [["93.184.216.34"], ["127.0.0.1"]] });
    const url = `http://shop.example:${trap.port}/feed`;
    await expectFailure(url, { ...STRICT, network: net }, "SK-DS-403", NOT_SENT("shop.example"));
    expect(net.connected.map(({ address }) => address)).toEqual(["93.184.216.34"]);
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ["127.0.0.1"],
    ["::1"],
    ["10.0.0.1"],
    ["169.254.169.254"],
    ["::ffff:127.0.0.1"],
    ["fe80::1%lo"],
    ["0.0.0.0"],
  ])("that resolves to %s is refused without a retry", async (address) => {
    const clock = new TestClock();
    const net = network({ "shop.example": [[address]] });
    const url = `http://shop.example:${trap.port}/`;
    await expectFailure(url, { ...STRICT, network: net, clock }, "SK-DS-403", NOT_SENT("shop.example"));
    expect(net.connected).toEqual([]);
    expect(clock.pauses).toEqual([]);
  });

  test("without an address is refused", async () => {
    const net = network({ "shop.example": [[]] });
    await expectFailure(
      "http://shop.example/",
      { ...STRICT, network: net },
      "SK-DS-403",
      NOT_SENT("shop.example"),
    );
  });

  test("with both private and public addresses is connected to at a public one", async () => {
    server.route("/feed", { body: "a" });
    const net = network({ "shop.example": [["127.0.0.1", "::1", "93.184.216.34", "10.0.0.1"]] });
    const url = `http://shop.example:${trap.port}/feed`;
    expect(String(await bytesFrom(url, { ...STRICT, network: net }))).toBe("a");
    expect(net.connected.map(({ address }) => address)).toEqual(["93.184.216.34"]);
  });

  test("with several addresses is tried at one after another", async () => {
    server.route("/feed", { body: "a" });
    const addresses = ["127.0.0.2", "127.0.0.3", "93.184.216.34", "93.184.216.35"];
    const net = network({ "shop.example": [addresses] });
    const clock = new TestClock();
    const url = `http://shop.example:${trap.port}/feed`;
    const rules = { allowHosts: ["127.0.0.2", "127.0.0.3"] };
    expect(String(await bytesFrom(url, { ...rules, network: net, clock }))).toBe("a");
    expect(net.connected.map(({ address }) => address)).toEqual(addresses.slice(0, 3));
    expect(clock.pauses).toEqual([]);
  });

  test("whose connection breaks while being established is retried", async () => {
    server.route("/feed", { body: "a" });
    const net = network({ "shop.example": [["93.184.216.34"]] });
    const breaking = (endpoint: Endpoint) => {
      const socket = net.connect(endpoint);
      if (net.connected.length === 1)
        socket.once("connect", () => process.nextTick(() => socket.destroy(new Error("broken"))));
      return socket;
    };
    const fetch = { ...STRICT, network: { ...net, connect: breaking } };
    expect(String(await bytesFrom("http://shop.example/feed", fetch))).toBe("a");
    expect(net.connected).toHaveLength(2);
  });

  test("that the operator allows may resolve to anything, and no other name may", async () => {
    server.route("/feed", { body: "a" });
    const names = { "shop.internal": [["127.0.0.1"]], "other.internal": [["127.0.0.1"]] };
    const port = server.port;
    const rules = { allowHosts: ["SHOP.internal."] };
    expect(
      String(await bytesFrom(`http://shop.internal:${port}/feed`, { ...rules, network: network(names) })),
    ).toBe("a");
    const other = `http://other.internal:${trap.port}/`;
    await expectFailure(
      other,
      { ...rules, network: network(names) },
      "SK-DS-403",
      NOT_SENT("other.internal"),
    );
    const all = { allowHosts: [], allowPrivate: true, network: network(names) };
    expect(String(await bytesFrom(`http://other.internal:${port}/feed`, all))).toBe("a");
  });
});

describe("a URL", () => {
  test.each([
    "127.0.0.1",
    "localhost",
    "[::ffff:127.0.0.1]",
    "0x7f.1",
    "2130706433",
    "[::1]",
    "127.0.0.1.",
    "x.localhost",
  ])("with %s is refused, both at the start and as a redirect", async (host) => {
    const net = network({ "shop.example": [["93.184.216.34"]] });
    const target = `http://${host}:${trap.port}/`;
    const refusal = /^the feed's URL must resolve to a public address, not to /;
    await expectFailure(target, { ...STRICT, network: net }, "SK-DS-403", refusal);
    for (const status of [301, 302, 303, 307, 308]) {
      server.route("/feed", { status, headers: { location: target } });
      const redirected = /^the URL that shop\.example redirects to must resolve to a public address, not to /;
      await expectFailure("http://shop.example/feed", { ...STRICT, network: net }, "SK-DS-403", redirected);
    }
    expect(new Set(net.connected.map(({ address }) => address))).toEqual(new Set(["93.184.216.34"]));
  });

  test("whose name resolves to loopback is refused as a redirect", async () => {
    const net = network({ "shop.example": [["93.184.216.34"]], "trap.example": [["127.0.0.1"]] });
    server.route("/feed", { status: 302, headers: { location: `http://trap.example:${trap.port}/` } });
    await expectFailure(
      "http://shop.example/feed",
      { ...STRICT, network: net },
      "SK-DS-403",
      NOT_SENT("trap.example"),
    );
  });

  test.each(["ftp://shop.example/", "file:///etc/passwd", "gopher://127.0.0.1:6379/_INFO"])(
    "with another scheme is refused as a redirect: %s",
    async (location) => {
      server.route("/feed", { status: 302, headers: { location } });
      const refusal = /^the URL that 127\.0\.0\.1:\d+ redirects to must begin with http:\/\/ or https:\/\/$/;
      await expectFailure(server.url("/feed"), {}, "SK-DS-403", refusal);
    },
  );
});
