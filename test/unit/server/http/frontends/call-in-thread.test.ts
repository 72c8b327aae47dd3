// A function of another thread can be called in the middle of that thread's work, even of an endless loop,
// which goes on afterwards.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { callInThread, offerCalls } from "../../../../../server/http/frontends/call-in-thread.js";

/**
 * Loops endlessly when told to, and answers all other messages. It offers its calls in the same way as
 * `offerCalls`, which it cannot import, because it runs uncompiled.
 */
const CIRCLE = `
  const { parentPort } = require("node:worker_threads");
  let rounds = 0;
  let isFree = false;
  globalThis.skeinThreadCalls = {
    rounds: () => rounds,
    free() { isFree = true; },
    fail() { throw new Error("no such luck"); },
  };
  parentPort.on("message", (told) => {
    if (told !== "circle") return parentPort.postMessage("answer to " + told);
    parentPort.postMessage("circling");
    for (isFree = false; !isFree; rounds++);
  });
`;

function startThread(code = CIRCLE): Worker {
  const worker = new Worker(code, { eval: true });
  onTestFinished(async () => void (await worker.terminate()));
  return worker;
}

async function told(worker: Worker, what: string): Promise<unknown> {
  const answer = once(worker, "message");
  worker.postMessage(what);
  return (await answer)[0];
}

/** Resolves when the thread's loop has made another round. */
async function goesOn({ threadId }: Worker): Promise<void> {
  const before = Number(await callInThread(threadId, "rounds"));
  while (Number(await callInThread(threadId, "rounds")) <= before);
}

test("a thread in an endless loop answers a call and goes on", async () => {
  const [one, other] = [startThread(), startThread()];
  for (const thread of [one, other]) expect(await told(thread, "circle")).toBe("circling");
  await goesOn(one);
  expect(await callInThread(one.threadId, "free")).toBe(undefined);
  expect(await told(one, "hello")).toBe("answer to hello");
  await goesOn(other);
  await callInThread(other.threadId, "free");
  expect(await told(other, "hello")).toBe("answer to hello");
});

test("calls to several threads at once reach the right one, even if other threads have come and gone", async () => {
  const gone = startThread();
  expect(await told(gone, "hello")).toBe("answer to hello");
  const [one, other] = [startThread(), startThread()];
  await gone.terminate();
  for (const thread of [one, other]) expect(await told(thread, "circle")).toBe("circling");
  await Promise.all([callInThread(one.threadId, "free"), callInThread(other.threadId, "rounds")]);
  expect(await told(one, "hello")).toBe("answer to hello");
  await goesOn(other);
});

test("a call that throws rejects with the error", async () => {
  const thread = startThread();
  expect(await told(thread, "hello")).toBe("answer to hello");
  await expect(callInThread(thread.threadId, "fail")).rejects.toThrow("no such luck");
});

test("a thread that offers nothing yet answers with undefined", async () => {
  const thread = startThread(`require("node:worker_threads").parentPort.once("message", () => undefined)`);
  await once(thread, "online");
  expect(await callInThread(thread.threadId, "rounds")).toBe(undefined);
});

test("a call to a thread that ends before or during the call resolves", async () => {
  for (let times = 0; times < 20; times++) {
    const thread = startThread(`
      require("node:worker_threads").parentPort.postMessage("waiting");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    `);
    await once(thread, "message");
    const called = callInThread(thread.threadId, "rounds");
    await thread.terminate();
    expect(await called).toBe(undefined);
  }
});

test("an ended thread cannot be called", async () => {
  const thread = startThread();
  const { threadId } = thread;
  await thread.terminate();
  await expect(callInThread(threadId, "rounds")).rejects.toThrow("does not exist");
});

test("offered calls are global functions of this thread", () => {
  onTestFinished(() => void Reflect.deleteProperty(globalThis, "skeinThreadCalls"));
  offerCalls({ two: () => 2 });
  expect(Reflect.get(globalThis, "skeinThreadCalls").two()).toBe(2);
});
