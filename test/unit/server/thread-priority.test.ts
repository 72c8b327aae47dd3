// Priorities of single threads, which only Linux has. Changes those of the test's own process.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { helpersGiveWay } from "../../../server/thread-priority.js";

/** Of /proc/PID/stat, counted behind the name. */
const NICE_COLUMN = 16;

function niceOf(thread: string): number {
  const stat = readFileSync(`/proc/self/task/${thread}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[NICE_COLUMN]);
}

test.runIf(process.platform === "linux")(
  "helpers give way, this thread and those it starts do not",
  async () => {
    const own = readlinkSync("/proc/thread-self").split("/").at(-1)!;
    const before = niceOf(own);
    const helpers = readdirSync("/proc/self/task").filter((thread) => thread !== String(process.pid));
    await helpersGiveWay();
    expect(niceOf(own)).toBe(before);
    for (const helper of helpers) expect(niceOf(helper)).toBeGreaterThanOrEqual(5);
    const code = 'require("worker_threads").parentPort.postMessage(require("os").getPriority())';
    const worker = new Worker(code, { eval: true });
    const nice = await new Promise((resolve) => worker.once("message", resolve));
    expect(nice).toBe(before);
  },
);
