// A stand-in for a shard's worker: echoes the request, or exits or fails if the request's first byte says so.
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { threadId, workerData } from "node:worker_threads";
import { move } from "piscina";
import { ReadScheduler } from "../../../../../dist/shards/read-scheduler.js";

const ECHO_LATE = 1;
const EXIT = 2;
const CRASH = 3;
const THROW = 4;
const HANG = 5;
const ECHO_SLOW = 6;

const { beats, dieDir, shard } = workerData;
setInterval(() => Atomics.add(beats, 0, 1), 50).unref();

// With `dieDir`, the second, third and fourth thread of shard 0 exit while loading.
if (dieDir !== undefined && shard === 0) {
  const file = join(dieDir, "die");
  appendFileSync(file, `${threadId}\n`);
  const lives = readFileSync(file, "utf8").trim().split("\n").length;
  if (lives > 1 && lives < 5) process.exit(1);
}

export default async function echo(request) {
  if (!(request instanceof Uint8Array)) {
    new ReadScheduler(answer).connect(request.reads);
    return new Uint8Array(0);
  }
  return move(await answer(request));
}

let late = 0;

async function answer(request) {
  switch (request[0]) {
    case ECHO_LATE:
      request[2] = ++late; // the message has three bytes
      await new Promise((resolve) => setTimeout(resolve, 50));
      late--;
      break;
    case EXIT:
      process.exit(1);
      break;
    case CRASH:
      setImmediate(() => {
        throw new Error("crash");
      });
      await new Promise(() => {});
      break;
    case HANG:
      Atomics.add(beats, 0, 1); // without a heartbeat, the longer limit for starts would apply
      for (;;);
    case ECHO_SLOW:
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      break;
    case THROW:
      throw new RangeError("refused");
    default:
  }
  return request;
}
