// What `npm run torture -- --hostile` measures with: clients tell how their requests ended, and every bound
// that does not hold is reported. The attacks themselves take minutes and are no part of the tests.
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Attack, BOUNDS, type Manner } from "./attack.js";
import { ATTACKS } from "./attacks.js";
import { beHostile } from "./client.js";
import { judge } from "./judge.js";
import type { Seen } from "./outcome.js";
import { numbered, type Place, post } from "./place.js";

const REPLY = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n";
const BUSY = "HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n";

describe("a client", () => {
  let server: Server;
  /** What the server does once a request has begun to arrive. */
  let react: (socket: Socket) => void;

  beforeAll(async () => {
    server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => react(socket));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
  });

  afterAll(() => server.close());

  const ending = async (manner: Manner, reaction: typeof react, endMsMax = 60_000): Promise<string> => {
    react = reaction;
    const { port } = server.address() as { port: number };
    const { how, status, hasRetryAfter } = await beHostile(
      { host: "127.0.0.1", port },
      Buffer.from("POST / HTTP/1.1\r\n\r\n"),
      manner,
      endMsMax,
    );
    return `${how} ${status}${hasRetryAfter ? " retry" : ""}`;
  };
  const reads: Manner = { kind: "reads" };
  const silent = (): void => undefined;

  test("that reads is answered, cut, closed or overdue", async () => {
    expect(await ending(reads, (socket) => socket.write(`${REPLY}all.`))).toBe("answered 200");
    expect(await ending(reads, (socket) => socket.write(BUSY))).toBe("answered 503 retry");
    expect(await ending(reads, (socket) => socket.end(`${REPLY}al`))).toBe("cut 200");
    expect(await ending(reads, (socket) => socket.destroy())).toBe("closed 0");
    expect(await ending(reads, silent, 20)).toBe("overdue 0");
  });

  test("that does not wait leaves in its own time", async () => {
    expect(await ending({ kind: "leaves", afterMs: 10 }, silent)).toBe("left 0");
    expect(await ending({ kind: "breaks off", share: 0.5 }, silent)).toBe("left 0");
    expect(await ending({ kind: "dribbles", bytesPerSecond: 0, holdMs: 20 }, silent)).toBe("left 0");
    const sips: Manner = { kind: "sips", bytesPerSecond: 1, holdMs: 50 };
    expect(await ending(sips, (socket) => socket.write(`${REPLY}all.`))).toBe("left 0");
  });

  test("that stalls waits for the server to end it", async () => {
    const stalls: Manner = { kind: "stalls", share: 0.5 };
    expect(await ending(stalls, (socket) => socket.destroy())).toBe("closed 0");
    expect(await ending(stalls, silent, 20)).toBe("overdue 0");
  });
});

describe("the judge", () => {
  const visitor = { searches: 100, p50: 5, p99: 20, max: 40, refused: 0, failed: 0, withoutRetryAfter: 0 };
  const attack: Attack = { name: "one", what: "nothing", waves: [] };
  const good: Seen = {
    attack,
    load: 0,
    counts: { sent: 3, endings: { 200: 2, 503: 1 }, longestMs: 400, withoutRetryAfter: 0 },
    same: visitor,
    other: visitor,
    resident: { before: 200, peak: 400, after: 210 },
    lived: true,
    drainMs: 10,
    stop: { ms: 500, code: 0 },
    errors: [],
  };
  const findings = (changed: Partial<Seen>): string[] => judge({ ...good, ...changed }, BOUNDS, 512);

  test("is content with an attack that changes little", () => {
    expect(findings({})).toEqual([]);
  });

  test.each<[string, Partial<Seen>, RegExp]>([
    ["the end of the process", { lived: false, stop: { ms: 0, code: 134 } }, /the process ended \(134\)/],
    ["memory at its peak", { resident: { before: 200, peak: 713, after: 200 } }, /grew by 513 MiB/],
    ["memory that is kept", { resident: { before: 200, peak: 460, after: 460 } }, /260 MiB more/],
    ["late requests", { counts: { ...good.counts, longestMs: 12_100 } }, /a request took 12\.1 s/],
    [
      "requests without end",
      { counts: { ...good.counts, endings: { overdue: 2 } } },
      /2 requests had not ended/,
    ],
    [
      "answers that blame the server",
      { counts: { ...good.counts, endings: { 500: 1 } } },
      /1 answers were 500/,
    ],
    ["refusals that name no time", { counts: { ...good.counts, withoutRetryAfter: 1 } }, /no Retry-After/],
    ["requests that stay in flight", { drainMs: 60_000 }, /in flight 60\.0 s/],
    ["a stop that takes long", { stop: { ms: 13_000, code: 0 } }, /the stop took 13\.0 s/],
    ["a stop that fails", { stop: { ms: 500, code: null } }, /ended with a signal/],
    ["errors in the log", { errors: ["it broke"] }, /it broke/],
    ["slow answers to visitors", { other: { ...visitor, p99: 2_100 } }, /another tenant took 2\.1 s/],
    ["refused visitors", { same: { ...visitor, refused: 0.6 } }, /60\.0 % .* the same tenant were refused/],
    ["visitors without an answer", { same: { ...visitor, failed: 0.01 } }, /1\.0 % .* failed/],
  ])("reports %s", (_what, changed, expected) => {
    expect(findings(changed)).toEqual([expect.stringMatching(expected)]);
  });

  test("does not blame a server that was told to stop for answering nobody", () => {
    const stop = { attack: { ...attack, mishap: { kind: "stop", afterMs: 0 } } } as const;
    expect(findings({ ...stop, drainMs: null, same: { ...visitor, failed: 1 } })).toEqual([]);
  });
});

test("attacks have names of their own, and requests have numbers of their own", () => {
  expect(new Set(ATTACKS.map(({ name }) => name)).size).toBe(ATTACKS.length);
  const place = { host: "127.0.0.1", port: 1 } as Place;
  const request = numbered([post(place, "/", "key", { q: "0.@@@@@@@@" }), post(place, "/", "key", {})]);
  expect(String(request(2))).toContain('{"q":"0.00000002"}');
  expect(String(request(4))).toContain('{"q":"0.00000004"}');
  expect(String(request(3))).toBe(String(request(5)));
});
