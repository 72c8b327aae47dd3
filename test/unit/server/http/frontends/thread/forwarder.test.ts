// A request that is forwarded to the owner: flow-control windows in both directions, a client that
// disconnects, and what a stop waits for.

import { MessageChannel } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { RequestLife } from "../../../../../../server/ground/jobs/request-life.js";
import { type Calls, ThreadChannel } from "../../../../../../server/http/frontends/channel.js";
import type {
  ForwardedHead,
  FrontEndCalls,
  OwnerCalls,
} from "../../../../../../server/http/frontends/messages.js";
import { Forwarder } from "../../../../../../server/http/frontends/thread/forwarder.js";
import type { HttpRequest, SentReply } from "../../../../../../server/http/transport/port.js";

const KIB = 1024;
const WINDOW_BYTES = KIB * KIB;
/** Longer than any test takes. */
const DRAIN_MS = 600_000;

class Request implements HttpRequest {
  readonly method = "POST";
  readonly path = "/v1/indexes";
  readonly query = "a=b";
  readonly ip = "192.0.2.1";
  readonly aborted = false;
  readonly client = new AbortController();
  readonly signal = this.client.signal;
  readonly life = new RequestLife();

  chargeTo(): void {}
  sent = 0;

  constructor(private readonly pieces: number) {}

  header(name: string): string {
    return name === "origin" ? "https://shop.example" : "";
  }

  async body(): Promise<Uint8Array> {
    throw new Error("bodies are sent on in pieces");
  }

  async *bodyStream(): AsyncGenerator<Uint8Array> {
    for (; this.sent < this.pieces; this.sent++) yield new Uint8Array(64 * KIB).fill(this.sent);
  }
}

/** A forwarder, and an owner played by the test. */
function world() {
  const heads: ForwardedHead[] = [];
  const said: string[] = [];
  let bytes = 0;
  const owner: Partial<OwnerCalls> = {
    request: (head) => void heads.push(head),
    body: (piece) => {
      bytes += piece.bytes.byteLength;
    },
    bodyEnded: ({ error }) => void said.push(error === null ? "body ended" : `body failed: ${error.message}`),
    aborted: () => void said.push("aborted"),
    taken: (part) => void said.push(`taken ${part.bytes}`),
  };
  const { port1, port2 } = new MessageChannel();
  const calls: Calls = {};
  const channel = new ThreadChannel<OwnerCalls>(port1, calls);
  const other = new ThreadChannel<FrontEndCalls & { sync(_: null): void }>(port2, owner as Calls);
  const forwarder = new Forwarder(channel);
  Object.assign(calls, forwarder.calls, { sync: () => undefined });
  onTestFinished(() => {
    for (const end of [channel, other]) end.close(new Error("the test is over"));
  });
  /** Resolves once all messages in both directions have arrived. */
  const settled = async (): Promise<void> => {
    for (let round = 0; round < 40; round++) await other.ask("sync", null);
  };
  return { forwarder, other, heads, said, settled, received: () => bytes };
}

async function isDrained(drained: Promise<void>): Promise<boolean> {
  let is = false;
  void drained.then(() => (is = true));
  await new Promise((resolve) => setImmediate(resolve));
  return is;
}

test("the owner gets the whole request, but no more of the body than it accepts", async () => {
  const { forwarder, other, heads, said, settled, received } = world();
  const request = new Request(64);
  const reply = forwarder.handle(request);
  await settled();
  expect(heads).toEqual([
    expect.objectContaining({ method: "POST", path: "/v1/indexes", query: "a=b", ip: "192.0.2.1" }),
  ]);
  expect(heads[0]!.headers).toContain("https://shop.example");
  expect(received()).toBe(WINDOW_BYTES);
  other.tell("bodyTaken", { id: heads[0]!.id, bytes: WINDOW_BYTES / 2 });
  await settled();
  expect(received()).toBe(1.5 * WINDOW_BYTES);
  other.tell("bodyTaken", { id: heads[0]!.id, bytes: 4 * WINDOW_BYTES });
  await settled();
  expect([received(), said]).toEqual([4 * WINDOW_BYTES, ["body ended"]]);
  other.tell("reply", { id: heads[0]!.id, status: 201, headers: [["x", "y"]], body: "{}" });
  expect((await reply).reply).toMatchObject({ status: 201, headers: [["x", "y"]], body: "{}" });
});

test("an early reply stops the sending of the body", async () => {
  const { forwarder, other, heads, said, settled, received } = world();
  const request = new Request(64);
  const reply = forwarder.handle(request);
  await settled();
  other.tell("reply", { id: heads[0]!.id, status: 413, headers: [], body: "too large" });
  expect((await reply).reply.status).toBe(413);
  other.tell("bodyTaken", { id: heads[0]!.id, bytes: 4 * WINDOW_BYTES });
  await settled();
  expect([received(), said]).toEqual([WINDOW_BYTES, []]);
});

async function streamed(
  pieces: number,
): Promise<ReturnType<typeof world> & { reply: SentReply; request: Request }> {
  const made = world();
  const request = new Request(0);
  const reply = made.forwarder.handle(request);
  await made.settled();
  const { id } = made.heads[0]!;
  made.other.tell("reply", { id, status: 200, headers: [], body: null });
  for (let i = 0; i < pieces; i++) made.other.tell("piece", { id, bytes: new Uint8Array(10).fill(i) });
  return { ...made, reply: await reply, request };
}

test("pieces of a reply are accepted one at a time, and a stop waits until the client has them", async () => {
  const { forwarder, other, heads, reply, said, settled } = await streamed(3);
  other.tell("replyEnded", { id: heads[0]!.id, cut: false });
  const drained = forwarder.drain(DRAIN_MS);
  const seen: number[] = [];
  for await (const piece of reply.reply.body as AsyncIterable<Uint8Array>) {
    await settled();
    expect(said.filter((what) => what === "taken 10")).toHaveLength(seen.length);
    seen.push(piece[0]!);
  }
  expect(seen).toEqual([0, 1, 2]);
  expect(await isDrained(drained)).toBe(false);
  reply.finished(undefined);
  expect(await isDrained(drained)).toBe(true);
});

test("a stop waits until the client has its whole reply", async () => {
  const { forwarder, other, heads, settled } = world();
  await forwarder.drain(DRAIN_MS);
  const handled = forwarder.handle(new Request(0));
  await settled();
  const drained = forwarder.drain(DRAIN_MS);
  other.tell("reply", { id: heads[0]!.id, status: 200, headers: [], body: new Uint8Array(10) });
  const reply = await handled;
  expect(await isDrained(drained)).toBe(false);
  reply.finished(undefined);
  expect(await isDrained(drained)).toBe(true);
});

test("a stop does not wait indefinitely", async () => {
  const { forwarder } = world();
  void forwarder.handle(new Request(0));
  await forwarder.drain(1);
});

test("the owner learns that a client has left, before or during a reply, and nothing waits for it", async () => {
  const before = world();
  const request = new Request(0);
  void before.forwarder.handle(request);
  await before.settled();
  const drained = before.forwarder.drain(DRAIN_MS);
  request.client.abort();
  await before.settled();
  expect([before.said, await isDrained(drained)]).toEqual([["body ended", "aborted"], true]);
  before.other.tell("reply", { id: before.heads[0]!.id, status: 200, headers: [], body: "late" });
  await before.settled();

  const within = await streamed(1);
  const pieces = (within.reply.reply.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  expect((await pieces.next()).value).toEqual(new Uint8Array(10));
  const next = pieces.next();
  within.request.client.abort();
  await expect(next).rejects.toThrow("the reply breaks off");
  await within.settled();
  expect(within.said).toEqual(["body ended", "taken 10", "aborted"]);
});

test("a reply that the owner cuts off breaks off after its pieces", async () => {
  const { other, heads, reply } = await streamed(2);
  other.tell("replyEnded", { id: heads[0]!.id, cut: true });
  const seen: number[] = [];
  const taking = async (): Promise<void> => {
    for await (const piece of reply.reply.body as AsyncIterable<Uint8Array>) seen.push(piece[0]!);
  };
  await expect(taking()).rejects.toThrow("the reply breaks off");
  expect(seen).toEqual([0, 1]);
});
