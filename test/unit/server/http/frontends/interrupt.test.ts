// A thread's current work, even an endless loop, can be interrupted without ending the thread.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { interrupt } from "../../../../../server/http/frontends/interrupt.js";

/** Loops endlessly when told to, reports what it caught, and answers all other messages. */
const CIRCLE = `
  const { parentPort } = require("node:worker_threads");
  process.on("uncaughtException", () => parentPort.postMessage("caught"));
  parentPort.on("message", (told) => {
    if (told !== "circle") return parentPort.postMessage("answer to " + told);
    parentPort.postMessage("circling");
    try {
      for (;;);
    } finally {
      parentPort.postMessage("finally");
    }
  });
`;

interface Circling {
  readonly worker: Worker;
  /** Every message that the thread has sent. */
  readonly said: string[];
}

function startThread(): Circling {
  const worker = new Worker(CIRCLE, { eval: true });
  onTestFinished(async () => void (await worker.terminate()));
  const said: string[] = [];
  worker.on("message", (message: string) => said.push(message));
  return { worker, said };
}

async function told({ worker }: Circling, what: string): Promise<unknown> {
  const answer = once(worker, "message");
  worker.postMessage(what);
  return (await answer)[0];
}

test("a thread in an endless loop continues with its next message", async () => {
  const one = startThread();
  const other = startThread();
  expect(await told(other, "hello")).toBe("answer to hello");
  for (let round = 0; round < 3; round++) {
    expect(await told(one, "circle")).toBe("circling");
    await interrupt(one.worker.threadId);
    expect(await told(one, "hello")).toBe("answer to hello");
  }
  expect(one.said).not.toContain("finally");
  expect(await told(other, "hello")).toBe("answer to hello");
});

test("only the intended one of several looping threads is freed", async () => {
  const [one, other] = [startThread(), startThread()];
  for (const thread of [one, other]) expect(await told(thread, "circle")).toBe("circling");
  await interrupt(other.worker.threadId);
  expect(await told(other, "hello")).toBe("answer to hello");
  expect(one.said).toEqual(["circling"]);
  await interrupt(one.worker.threadId);
  expect(await told(one, "hello")).toBe("answer to hello");
});

test("the right thread is freed even if threads before it have come and gone", async () => {
  const gone = startThread();
  expect(await told(gone, "hello")).toBe("answer to hello");
  const [one, other] = [startThread(), startThread()];
  await gone.worker.terminate();
  for (const thread of [one, other]) expect(await told(thread, "circle")).toBe("circling");
  await interrupt(one.worker.threadId);
  expect(await told(one, "hello")).toBe("answer to hello");
  expect(other.said).toEqual(["circling"]);
});

test("an ended thread cannot be interrupted", async () => {
  const { worker } = startThread();
  const { threadId } = worker;
  await worker.terminate();
  await expect(interrupt(threadId)).rejects.toThrow("no such thread");
});
