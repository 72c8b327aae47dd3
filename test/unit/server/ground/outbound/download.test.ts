// What a download requests, how it handles each answer, and when it retries.

import { getEventListeners, once } from "node:events";
import { createServer } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { type FeedServer, startFeedServer } from "../../../../e2e/world/feed-server.js";
import { body, bodyFrom, bytesFrom, expectFailure, fetchFrom, TestClock } from "./fetching.js";

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

describe("a reply", () => {
  test("with status 200 yields its headers and the bytes of its body", async () => {
    const bytes = body(300_000);
    const headers = {
      "content-type": "text/csv",
      etag: '"a"',
      "last-modified": "Thu, 01 Jan 2026 00:00:00 GMT",
    };
    server.route("/feed", { headers, body: bytes });
    const downloaded = await bodyFrom(server.url("/feed"));
    expect(downloaded).toMatchObject({
      contentType: "text/csv",
      contentEncoding: null,
      etag: '"a"',
      lastModified: "Thu, 01 Jan 2026 00:00:00 GMT",
    });
    const pieces: Uint8Array[] = [];
    for await (const piece of downloaded.chunks) pieces.push(piece);
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
    expect(downloaded.bytesRead()).toBe(300_000);
    expect(await downloaded.chunks.next()).toEqual({ done: true, value: undefined });
  });

  test("without a length, or without a single byte, is read to its end", async () => {
    const bytes = body(200_000);
    server.route("/chunked", { body: () => [bytes.subarray(0, 7), bytes.subarray(7)] });
    server.route("/empty", { body: "" });
    server.route("/until-close", { raw: "HTTP/1.0 200 OK\r\n\r\nto the end" });
    expect((await bytesFrom(server.url("/chunked"))).equals(bytes)).toBe(true);
    expect((await bytesFrom(server.url("/empty"))).length).toBe(0);
    expect(String(await bytesFrom(server.url("/until-close")))).toBe("to the end");
  });

  test.each([
    ["a length", true, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nab"],
    ["chunks", true, "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"],
    ["neither", false, "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nab"],
    ["neither, over HTTP/1.0", false, "HTTP/1.0 200 OK\r\n\r\nab"],
  ])("with %s: that the end is known is %j", async (_, known, raw) => {
    server.route("/feed", { raw });
    const { chunks, isDelimited } = await bodyFrom(server.url("/feed"));
    const pieces: Uint8Array[] = [];
    for await (const piece of chunks) pieces.push(piece);
    expect(String(Buffer.concat(pieces))).toBe("ab");
    expect(isDelimited()).toBe(known);
  });

  test("that is compressed is passed on as sent", async () => {
    server.route("/feed", { body: "a,b", gzip: true });
    const { contentEncoding, chunks } = await bodyFrom(server.url("/feed"));
    expect(contentEncoding).toBe("gzip");
    expect(Buffer.from((await chunks.next()).value!).equals(gzipSync("a,b"))).toBe(true);
    await chunks.return!();
  });

  test.each([204, 206, 300, 304, 400, 404, 410, 418])("with %i ends the download", async (status) => {
    server.route("/feed", { status });
    await expectFailure(server.url("/feed"), {}, "SK-DS-502", `${host} answered with status ${status}`);
    expect(server.requests).toHaveLength(1);
  });

  test.each([401, 403])("with %i means bad credentials and is not retried", async (status) => {
    server.route("/feed", { status });
    await expectFailure(server.url("/feed"), {}, "SK-DS-401", `${host} answered with status ${status}`);
    expect(server.requests).toHaveLength(1);
  });

  test("that is not HTTP, or whose head never ends, is refused", async () => {
    server.route("/feed", { raw: "SSH-2.0-OpenSSH_9.2\r\n" });
    await expectFailure(
      server.url("/feed"),
      {},
      "SK-DS-521",
      `${host} answered with something that is not HTTP`,
    );
    server.route("/feed", { raw: `HTTP/1.1 200 OK\r\nx: ${"x".repeat(100_000)}` });
    await expectFailure(
      server.url("/feed"),
      {},
      "SK-DS-521",
      `${host} answered with headers that are too large`,
    );
    server.route("/feed", { raw: "HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n" });
    await expectFailure(server.url("/feed"), {}, "SK-DS-521", `${host} broke off the connection`);
  });
});

describe("a request", () => {
  test("states what it accepts and who sends it, and carries given credentials", async () => {
    const basicAuth = { username: "shop", password: "geheim ü" };
    server.route("/feed", { basicAuth, body: "a" });
    expect(String(await bytesFrom(server.url("/feed?token=1"), { credentials: basicAuth }))).toBe("a");
    expect(server.requests[0]).toMatchObject({
      path: "/feed?token=1",
      headers: { host, accept: "text/csv", "accept-encoding": "gzip, deflate", "user-agent": "Skein" },
    });
    await expectFailure(server.url("/feed"), {}, "SK-DS-401", `${host} answered with status 401`);
  });

  test("with a validator learns that nothing has changed, or gets the new body", async () => {
    server.route("/etag", { headers: { etag: '"b"' }, body: "new" });
    expect(await fetchFrom(server.url("/etag"), { etag: '"b"' })).toEqual({ notModified: true });
    expect(String(await bytesFrom(server.url("/etag"), { etag: '"a"' }))).toBe("new");
    const lastModified = "Thu, 01 Jan 2026 00:00:00 GMT";
    server.route("/date", { headers: { "last-modified": lastModified }, body: "new" });
    expect(await fetchFrom(server.url("/date"), { lastModified })).toEqual({ notModified: true });
  });

  test("never shows the URL's user, path or query in an error", async () => {
    server.route("/feed/s3cret", { status: 404 });
    const url = server.url("/feed/s3cret?token=s3cret").replace("//", "//user:s3cret@");
    await expectFailure(url, {}, "SK-DS-502", `${host} answered with status 404`);
    expect(server.requests[0]!.headers.authorization).toBeUndefined();
  });
});

describe("a retry", () => {
  test.each([429, 500, 502, 503, 504, 599])("follows %i twice, after growing pauses", async (status) => {
    const clock = new TestClock();
    server.route("/feed", { status }, { status }, { body: "a" });
    expect(String(await bytesFrom(server.url("/feed"), { clock }))).toBe("a");
    expect(clock.pauses).toEqual([2_000, 10_000]);
    server.route("/feed", { status });
    await expectFailure(server.url("/feed"), {}, "SK-DS-502", `${host} answered with status ${status}`);
    expect(server.requests).toHaveLength(6);
  });

  test.each([
    ["30", 30_000],
    ["Thu, 01 Jan 2026 00:01:00 GMT", 60_000],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 2_000],
    ["0", 2_000],
    ["soon", 2_000],
  ])("waits as long as Retry-After says: %s", async (header, ms) => {
    const clock = new TestClock();
    server.route("/feed", { status: 429, headers: { "retry-after": header } }, { body: "a" });
    expect(String(await bytesFrom(server.url("/feed"), { clock }))).toBe("a");
    expect(clock.pauses).toEqual([ms]);
  });

  test("is skipped if Retry-After exceeds the remaining time", async () => {
    const clock = new TestClock();
    server.route("/feed", { status: 503, headers: { "retry-after": "600" } });
    await expectFailure(server.url("/feed"), { clock }, "SK-DS-502", `${host} answered with status 503`);
    expect(clock.pauses).toEqual([]);
  });

  test("follows a connection that breaks before the reply", async () => {
    server.route("/feed", { cutAfter: "head" }, { raw: "" }, { body: "a" });
    expect(String(await bytesFrom(server.url("/feed")))).toBe("a");
    server.route("/feed", { cutAfter: "head" });
    await expectFailure(server.url("/feed"), {}, "SK-DS-521", `${host} broke off the connection`);
  });

  test("follows a refused connection, and an unresolved name", async () => {
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const { port } = closed.address() as { port: number };
    closed.close();
    const clock = new TestClock();
    const refused = `http://127.0.0.1:${port}/`;
    await expectFailure(refused, { clock }, "SK-DS-521", "127.0.0.1 refused the connection");
    expect(clock.pauses).toHaveLength(2);
    const resolve = () => Promise.reject(Object.assign(new Error(), { code: "ENOTFOUND" }));
    await expectFailure(
      "http://shop.example/",
      { clock, network: { resolve } },
      "SK-DS-523",
      "the name shop.example cannot be resolved",
    );
    expect(clock.pauses).toHaveLength(4);
  });
});

describe("a limit", () => {
  test("on bytes applies to the announced length, or when the body exceeds it", async () => {
    const sentence = "the feed is larger than 99999 bytes";
    server.route("/length", { body: body(100_000) });
    await expect(fetchFrom(server.url("/length"), { bytesMax: 99_999 })).rejects.toMatchObject({
      code: "SK-DS-413",
    });
    server.route("/chunked", { body: () => [body(50_000), body(50_000)] });
    await expectFailure(server.url("/chunked"), { bytesMax: 99_999 }, "SK-DS-413", sentence);
    expect((await bytesFrom(server.url("/chunked"), { bytesMax: 100_000 })).length).toBe(100_000);
    expect(server.requests).toHaveLength(3);
  });

  test("on silence ends a wait for the connection, the head or the body", async () => {
    const silenceMsMax = 20;
    const resolve = () => new Promise<string[]>(() => undefined);
    await expectFailure(
      "http://shop.example/",
      { silenceMsMax, network: { resolve } },
      "SK-DS-523",
      "the name shop.example cannot be resolved",
    );
    server.route("/head", { stallAfter: "head" });
    await expectFailure(
      server.url("/head"),
      { silenceMsMax },
      "SK-DS-504",
      `${host} did not answer within 0.02 s`,
    );
    server.route("/body", { stallAfter: 10, body: body(1_000) });
    await expectFailure(
      server.url("/body"),
      { silenceMsMax },
      "SK-DS-504",
      /^127.* did not (answer|continue sending) within 0\.02 s$/,
    );
  });

  test("on time ends the download wherever it is, even during a pause", async () => {
    const sentence = "the download took longer than 0.05 s";
    server.route("/head", { stallAfter: "head" });
    await expectFailure(server.url("/head"), { msMax: 50 }, "SK-DS-504", sentence);
    server.route("/body", { stallAfter: 10, body: body(1_000) });
    await expectFailure(server.url("/body"), { msMax: 50 }, "SK-DS-504", sentence);
    server.route("/pause", { status: 503 });
    const pause = (_ms: number, signal: AbortSignal) =>
      new Promise<void>((_, reject) => signal.addEventListener("abort", reject));
    const times = [1e9];
    const clock = { now: () => times.pop() ?? 0, pause };
    await expectFailure(server.url("/pause"), { msMax: 50, clock }, "SK-DS-504", sentence);
  });
});

describe("a reader", () => {
  test("that stops early, before or after the first piece, leaves no connection behind", async () => {
    server.route("/feed", { body: body(5_000_000) });
    for (const pieces of [0, 1]) {
      const { chunks } = await bodyFrom(server.url("/feed"));
      for (let i = 0; i < pieces; i++) await chunks.next();
      expect(server.openConnections()).toBe(1);
      await chunks.return!();
      await server.quiet();
      expect(await chunks.next()).toEqual({ done: true, value: undefined });
    }
  });

  test("that is slow slows down the server", async () => {
    let sent = 0;
    const endless = function* () {
      for (; sent < 1 << 28; sent += 1 << 16) yield Buffer.alloc(1 << 16);
    };
    server.route("/feed", { body: endless });
    const { chunks } = await bodyFrom(server.url("/feed"), { bytesMax: 1 << 30 });
    await chunks.next();
    let before = -1;
    while (before !== sent) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(sent).toBeLessThan(1 << 26);
    await chunks.return!();
  });

  test("leaves neither timer nor listener behind, however the download ends", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    server.route("/good", { body: body(100_000) });
    server.route("/same", { headers: { etag: '"a"' } });
    server.route("/bad", { status: 404 });
    server.route("/cut", { body: body(100_000), cutAfter: 10 });
    const { signal } = new AbortController();
    const ends = [
      bytesFrom(server.url("/good"), { signal }),
      fetchFrom(server.url("/same"), { signal, etag: '"a"' }),
      fetchFrom(server.url("/bad"), { signal }),
      bytesFrom(server.url("/cut"), { signal }),
      bytesFrom(server.url("/good"), { signal, bytesMax: 10 }),
      bodyFrom(server.url("/good"), { signal }).then(({ chunks }) => chunks.return!()),
    ];
    const outcomes = await Promise.allSettled(ends);
    expect(outcomes.map(({ status }) => status === "fulfilled")).toEqual([
      true,
      true,
      false,
      false,
      false,
      true,
    ]);
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(signal, "abort")).toEqual([]);
    vi.useRealTimers();
  });

  test("that aborts gets the signal's reason, and nothing is left behind", async () => {
    server.route("/head", { stallAfter: "head" });
    server.route("/body", { stallAfter: 10, body: body(1_000) });
    const reason = new Error("no more");
    for (const path of ["/head", "/body"]) {
      const controller = new AbortController();
      const failed = bytesFrom(server.url(path), { signal: controller.signal });
      setTimeout(() => controller.abort(reason), 20);
      await expect(failed).rejects.toBe(reason);
      await server.quiet();
    }
    await expect(fetchFrom(server.url("/head"), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});
