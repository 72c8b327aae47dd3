// Redirects: which are followed, how many at most, and which servers receive the credentials.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { INTERNET, type Network } from "../../../../../server/ground/outbound/connector.js";
import { type FeedServer, startFeedServer } from "../../../../e2e/world/feed-server.js";
import { bytesFrom, expectFailure, fetchFrom } from "./fetching.js";

const CREDENTIALS = { username: "shop", password: "secret" };
const BASIC = `Basic ${Buffer.from("shop:secret").toString("base64")}`;

let server: FeedServer;
let other: FeedServer;
let host: string;

beforeAll(async () => {
  [server, other] = await Promise.all([startFeedServer(), startFeedServer()]);
  host = `127.0.0.1:${server.port}`;
});
afterEach(async () => {
  await Promise.all([server.quiet(), other.quiet()]);
  server.requests.length = 0;
  other.requests.length = 0;
});
afterAll(() => Promise.all([server.close(), other.close()]));

test.each([301, 302, 303, 307, 308])(
  "%i is followed, relative or absolute, with credentials within the origin",
  async (status) => {
    server.route("/a/feed", { status, headers: { location: "../b?x=1#part" } });
    server.route("/b", { status, headers: { location: server.url("/c") } });
    server.route("/c", { basicAuth: CREDENTIALS, body: "a" });
    expect(String(await bytesFrom(server.url("/a/feed"), { credentials: CREDENTIALS }))).toBe("a");
    expect(server.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ["/a/feed", BASIC],
      ["/b?x=1", BASIC],
      ["/c", BASIC],
    ]);
  },
);

test("validators are sent along, so that the last server may answer that nothing has changed", async () => {
  server.route("/feed", { status: 302, headers: { location: "/b" } });
  server.route("/b", { headers: { etag: '"b"' }, body: "a" });
  expect(await fetchFrom(server.url("/feed"), { etag: '"b"' })).toEqual({ notModified: true });
});

test("credentials never go to another port, name or scheme, not even on the same server", async () => {
  const network: Network = { ...INTERNET, resolve: async () => ["127.0.0.1"] };
  const targets = [
    other.url("/feed"),
    server.url("/feed", "other.example"),
    other.url("/feed", "shop.example"),
  ];
  for (const location of [...targets, ...targets.map((url) => url.replace("//", "//user:secret@"))]) {
    server.route("/start", { status: 302, headers: { location } });
    for (const target of [server, other]) target.route("/feed", { body: "a" });
    const fetch = { credentials: CREDENTIALS, network, allowPrivate: true };
    expect(String(await bytesFrom(server.url("/start", "shop.example"), fetch))).toBe("a");
  }
  const reached = [...server.requests, ...other.requests].filter(({ path }) => path === "/feed");
  expect(reached.map(({ headers }) => headers.authorization)).toEqual(
    targets.flatMap(() => [undefined, undefined]),
  );
});

test("credentials are sent again where a detour leads back", async () => {
  server.route("/start", { status: 302, headers: { location: other.url("/feed") } });
  other.route("/feed", { status: 302, headers: { location: server.url("/back") } });
  server.route("/back", { body: "a" });
  await bytesFrom(server.url("/start"), { credentials: CREDENTIALS });
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([BASIC, BASIC]);
  expect(other.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
});

test("more redirects than allowed, including a loop, end the download", async () => {
  server.route("/loop", { status: 302, headers: { location: "/loop" } });
  await expectFailure(
    server.url("/loop"),
    { redirectsMax: 3 },
    "SK-DS-502",
    `${host} redirects more than 3 times`,
  );
  expect(server.requests).toHaveLength(4);
  await expectFailure(
    server.url("/loop"),
    { redirectsMax: 0 },
    "SK-DS-502",
    `${host} redirects more than 0 times`,
  );
});

test("a redirect without a target ends the download", async () => {
  const nowhere: Record<string, string>[] = [{}, { location: "http://" }, { location: "http://1.2.3.4.5/" }];
  for (const headers of nowhere) {
    server.route("/feed", { status: 302, headers });
    await expectFailure(server.url("/feed"), {}, "SK-DS-502", `${host} redirects without saying where`);
  }
});

test("a redirect whose body does not end is abandoned at once", async () => {
  server.route("/feed", {
    status: 302,
    headers: { location: "/b" },
    body: "x".repeat(1_000),
    stallAfter: 10,
  });
  server.route("/b", { body: "a" });
  expect(String(await bytesFrom(server.url("/feed")))).toBe("a");
});
