// A body whose connection breaks midway: resumed from the break, or fetched again and compared.
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type FeedAnswer, type FeedServer, startFeedServer } from "../../../../e2e/world/feed-server.js";
import { body, bodyFrom, bytesFrom, expectFailure, TestClock } from "./fetching.js";

const BYTES = body(300_000);
const ETAG = { etag: '"a"' };
const CHANGED = "the feed changed while it was being read";

let server: FeedServer;
let host: string;

beforeAll(async () => {
  server = await startFeedServer();
  host = `127.0.0.1:${server.port}`;
});
afterEach(async () => {
  await server.quiet();
  server.requests.length = 0;
});
afterAll(() => server.close());

function ranges(): (string | undefined)[] {
  return server.requests.map(({ headers }) => headers.range);
}

describe("a server that supports ranges", () => {
  test.each([
    ["a strong ETag", ETAG, '"a"'],
    ["Last-Modified", { "last-modified": "Thu, 01 Jan 2026 00:00:00 GMT" }, "Thu, 01 Jan 2026 00:00:00 GMT"],
    [
      "a weak ETag and Last-Modified",
      { etag: 'W/"a"', "last-modified": "Thu, 01 Jan 2026 00:00:00 GMT" },
      "Thu, 01 Jan 2026 00:00:00 GMT",
    ],
  ])("is asked for the rest of the body, given %s", async (_name, headers, validator) => {
    const clock = new TestClock();
    const whole: FeedAnswer = { headers, body: BYTES, ranges: true };
    server.route("/feed", { ...whole, cutAfter: 70_000 }, { ...whole, cutAfter: 50_000 }, whole);
    expect((await bytesFrom(server.url("/feed"), { clock })).equals(BYTES)).toBe(true);
    expect(ranges()).toEqual([undefined, "bytes=70000-", "bytes=120000-"]);
    expect(server.requests.map((request) => request.headers["if-range"])).toEqual([
      undefined,
      validator,
      validator,
    ]);
    expect(clock.pauses).toEqual([2_000, 10_000]);
  });

  test("is not asked again when both retries are used up", async () => {
    const whole: FeedAnswer = { headers: ETAG, body: BYTES, ranges: true };
    server.route("/feed", { status: 503 }, { ...whole, cutAfter: 70_000 }, { ...whole, cutAfter: 7 });
    const sentence = `${host} ended the answer before it was complete`;
    await expectFailure(server.url("/feed"), {}, "SK-DS-520", sentence);
    expect(server.requests).toHaveLength(3);
  });

  test("whose body has changed sends it from the start, and it is compared with the received part", async () => {
    const cut: FeedAnswer = { headers: ETAG, body: BYTES, ranges: true, cutAfter: 70_000 };
    const longer = Buffer.concat([BYTES, body(10, 2)]);
    server.route("/longer", cut, { headers: { etag: '"b"' }, body: longer, ranges: true });
    expect((await bytesFrom(server.url("/longer"))).equals(longer)).toBe(true);
    server.route("/other", cut, { headers: { etag: '"b"' }, body: body(300_000, 2), ranges: true });
    await expectFailure(server.url("/other"), {}, "SK-DS-520", CHANGED);
    expect(server.requests).toHaveLength(4);
  });

  test("uses up a retry if it does not send the rest", async () => {
    const rest = BYTES.subarray(70_000);
    const cut: FeedAnswer = { headers: ETAG, body: BYTES, cutAfter: 70_000 };
    const wrong: FeedAnswer[] = [
      { status: 206, body: rest },
      { status: 206, body: rest, headers: { "content-range": "bytes 69999-299999/300000" } },
      { status: 206, body: rest, headers: { "content-range": "bytes 70000-299999/300001" } },
      { status: 206, body: rest, headers: { "content-range": "bytes 70000-299998/300000" } },
      { status: 206, body: rest, headers: { "content-range": "bytes 70000-300000/300001" } },
      { status: 206, body: rest, headers: { "content-range": "bytes 70000-299999/300000", etag: '"b"' } },
      { status: 416 },
    ];
    for (const answer of wrong) {
      server.requests.length = 0;
      server.route("/feed", cut, answer, { headers: ETAG, body: BYTES });
      expect((await bytesFrom(server.url("/feed"))).equals(BYTES)).toBe(true);
      expect(ranges()).toEqual([undefined, "bytes=70000-", undefined]);
      server.route("/feed", cut, { status: 503 }, answer);
      await expectFailure(
        server.url("/feed"),
        {},
        "SK-DS-520",
        `${host} did not send the rest of its answer`,
      );
    }
  });

  test("that sends less of the rest than it announced is detected", async () => {
    const range = { "content-range": "bytes 70000-299999/300000" };
    const short = BYTES.subarray(70_000, 299_999);
    const chunked = `${short.length.toString(16)}\r\n`;
    const head = `HTTP/1.1 206 Partial\r\ncontent-range: ${range["content-range"]}\r\ntransfer-encoding: chunked\r\n\r\n`;
    const raw = Buffer.concat([Buffer.from(head + chunked), short, Buffer.from("\r\n0\r\n\r\n")]);
    server.route("/feed", { headers: ETAG, body: BYTES, cutAfter: 70_000 }, { raw });
    await expectFailure(server.url("/feed"), {}, "SK-DS-520", CHANGED);
  });
});

describe("a server without ranges", () => {
  test.each([0, 1, 70_000, 299_999])(
    "sends the whole body again after a cut at byte %i",
    async (cutAfter) => {
      const clock = new TestClock();
      server.route("/feed", { body: BYTES, cutAfter }, { body: BYTES });
      expect((await bytesFrom(server.url("/feed"), { clock })).equals(BYTES)).toBe(true);
      expect(ranges()).toEqual([undefined, undefined]);
      expect(clock.pauses).toEqual([2_000]);
    },
  );

  test("may break again before, at or after the first cut", async () => {
    for (const second of [0, 50_000, 70_000, 90_000]) {
      server.route(
        "/feed",
        { body: BYTES, cutAfter: 70_000 },
        { body: BYTES, cutAfter: second },
        { body: BYTES },
      );
      expect((await bytesFrom(server.url("/feed"))).equals(BYTES)).toBe(true);
    }
  });

  test("whose body has changed is detected, whatever has changed", async () => {
    const other = Buffer.from(BYTES);
    other[69_999]! ^= 1;
    const changes: FeedAnswer[] = [
      { body: other },
      { body: BYTES.subarray(0, 69_999) },
      { body: BYTES, headers: { "content-type": "text/plain" } },
      { body: BYTES, headers: { "content-encoding": "br" } },
    ];
    for (const change of changes) {
      server.route("/feed", { body: BYTES, cutAfter: 70_000 }, change);
      await expectFailure(server.url("/feed"), {}, "SK-DS-520", CHANGED);
    }
  });

  test("may fail temporarily in between, but not permanently", async () => {
    server.route("/feed", { body: BYTES, cutAfter: 70_000 }, { status: 503 }, { body: BYTES });
    expect((await bytesFrom(server.url("/feed"))).equals(BYTES)).toBe(true);
    for (const [status, code] of [
      [401, "SK-DS-401"],
      [404, "SK-DS-502"],
      [304, "SK-DS-502"],
    ] as const) {
      server.route("/feed", { body: BYTES, cutAfter: 70_000 }, { status });
      await expectFailure(server.url("/feed"), {}, code, `${host} answered with status ${status}`);
    }
  });

  test("may go silent instead of breaking", async () => {
    server.route("/feed", { body: BYTES, stallAfter: 70_000 }, { body: BYTES });
    expect((await bytesFrom(server.url("/feed"), { silenceMsMax: 1_000 })).equals(BYTES)).toBe(true);
  });

  test("is not asked again after the reader has stopped", async () => {
    server.route("/feed", { body: BYTES, cutAfter: 70_000 });
    const { chunks } = await bodyFrom(server.url("/feed"));
    await chunks.next();
    await chunks.return!();
    expect(await chunks.next()).toEqual({ done: true, value: undefined });
    expect(server.requests).toHaveLength(1);
  });
});

describe("an early end", () => {
  test("is detected from the length, or from missing final chunks", async () => {
    const sentence = `${host} ended the answer before it was complete`;
    for (const raw of [
      "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc",
      "HTTP/1.1 200 OK\r\ncontent-length: 10\r\nconnection: close\r\n\r\nabc",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n5\r\nabc",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nbroken",
    ]) {
      server.route("/feed", { raw });
      await expectFailure(server.url("/feed"), {}, "SK-DS-520", sentence);
    }
  });

  test("met by a slow reader ends nothing but the download", async () => {
    const resetting = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 9999999\r\n\r\n");
        socket.write(body(150_000), () => setTimeout(() => socket.resetAndDestroy(), 20));
      });
    }).listen(0, "127.0.0.1");
    await once(resetting, "listening");
    const { port } = resetting.address() as AddressInfo;
    const { chunks } = await bodyFrom(`http://127.0.0.1:${port}/`);
    await chunks.next();
    await new Promise((resolve) => setTimeout(resolve, 100)); // reads slowly
    await expect(
      (async () => {
        for await (const _ of chunks);
      })(),
    ).rejects.toMatchObject({ code: "SK-DS-520" });
    resetting.close();
  });
});
