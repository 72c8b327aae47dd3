// The channel between two threads: answers, refusals and notifications, in order, and how it closes.
import { MessageChannel } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { SkeinError } from "../../../../../server/ground/errors.js";
import { type Calls, carried, errorOf, ThreadChannel } from "../../../../../server/http/frontends/channel.js";

type Theirs = {
  double(value: number): number;
  later(value: string): Promise<string>;
  refuse(error: Error): never;
  note(value: number): void;
  never(_: null): Promise<void>;
  length(bytes: Uint8Array): number;
};

/** Returns both ends of a channel. `theirs` handles the calls that reach the other end. */
function ends(theirs: Partial<Theirs>): [mine: ThreadChannel<Theirs>, other: ThreadChannel<Calls>] {
  const { port1, port2 } = new MessageChannel();
  const channels: [ThreadChannel<Theirs>, ThreadChannel<Calls>] = [
    new ThreadChannel<Theirs>(port1, {}),
    new ThreadChannel<Calls>(port2, theirs as Calls),
  ];
  onTestFinished(() => {
    for (const channel of channels) channel.close(new Error("the test is over"));
  });
  return channels;
}

async function refusalOf(asked: Promise<unknown>): Promise<SkeinError> {
  return asked.then(
    () => expect.fail("was answered"),
    (error: SkeinError) => error,
  );
}

describe("questions on a channel", () => {
  test("get their own answers, in whatever order they are answered", async () => {
    const waiting: (() => void)[] = [];
    const [channel] = ends({
      double: (value) => 2 * value,
      later: (value) => new Promise((resolve) => waiting.push(() => resolve(value))),
    });
    const asked = ["a", "b", "c"].map((value) => channel.ask("later", value));
    expect(await channel.ask("double", 21)).toBe(42);
    for (const answer of waiting.reverse()) answer();
    expect(await Promise.all(asked)).toEqual(["a", "b", "c"]);
  });

  test("fail with every part of a refusal", async () => {
    const [channel] = ends({
      refuse: () => {
        throw new SkeinError("SK-SE-503", "not now", { retryAfter: 7, details: { shard: 3 } });
      },
    });
    const error = await refusalOf(channel.ask("refuse", new Error("")));
    expect(error).toBeInstanceOf(SkeinError);
    expect(error).toMatchObject({
      code: "SK-SE-503",
      status: 503,
      message: "not now",
      retryAfter: 7,
      details: { shard: 3 },
    });
  });

  test("fail with the stack of any other error", async () => {
    const thrown = new TypeError("a fault");
    const [channel] = ends({ refuse: () => Promise.reject(thrown) as never });
    const error = await refusalOf(channel.ask("refuse", thrown));
    expect(error).not.toBeInstanceOf(SkeinError);
    expect([error.message, error.stack]).toEqual(["a fault", thrown.stack]);
    const [other] = ends({});
    expect((await refusalOf(other.ask("double", 1))).message).toMatch(
      /asks for "double", which nobody answers/,
    );
  });

  test("transfer their buffers, which the sender loses", async () => {
    const [channel] = ends({ length: (bytes) => bytes.byteLength });
    const bytes = new Uint8Array(1000);
    expect(await channel.ask("length", bytes, [bytes.buffer])).toBe(1000);
    expect(bytes.byteLength).toBe(0);
  });
});

test("messages arrive in the order in which they were sent", async () => {
  const noted: number[] = [];
  const [channel] = ends({
    note: (value) => void noted.push(value),
    double: () => noted.length,
  });
  for (let i = 0; i < 100; i++) channel.tell("note", i);
  expect(await channel.ask("double", 0)).toBe(100);
  expect(noted).toEqual(Array.from({ length: 100 }, (_, i) => i));
});

test("a closed channel fails waiting and later questions, and sends nothing more", async () => {
  const noted: number[] = [];
  const [channel, other] = ends({
    never: () => new Promise(() => undefined),
    note: (value) => void noted.push(value),
  });
  const waiting = [channel.ask("never", null), channel.ask("never", null)];
  channel.close(new Error("the thread has ended"));
  channel.close(new Error("again"));
  for (const asked of [...waiting, channel.ask("double", 1)])
    await expect(asked).rejects.toThrow("the thread has ended");
  channel.tell("note", 1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(noted).toEqual([]);
  other.close(new Error("also here"));
});

test("anything thrown can be carried as an error and comes back unchanged", () => {
  expect(errorOf(carried("only text")).message).toBe("only text");
  const plain = errorOf(carried(new SkeinError("SK-SYS-413", "too large")));
  expect(plain).toMatchObject({ code: "SK-SYS-413", status: 413, message: "too large" });
  expect((plain as SkeinError).retryAfter).toBe(new SkeinError("SK-SYS-413", "too large").retryAfter);
});
