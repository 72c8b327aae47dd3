// The entry point of a front-end's thread. Starts the front-end described by workerData and updates the
// thread's heartbeat (Pulse). Contains no other logic.
import { workerData } from "node:worker_threads";
import { collectWhenIdle } from "../../../../engine-wasm/host/runtime/discards.js";
import { within } from "../../../ground/jobs/deadline.js";
import type { FrontEndData } from "../messages.js";
import { Pulse } from "../pulse.js";
import { startFrontEnd } from "./front-end.js";

const BEAT_MS = 250;
const CLOSE_MS_MAX = 3_000;

const data = workerData as FrontEndData;
showLife(new Pulse(data.places, data.shared.pulse));
collectWhenIdle();

const frontEnd = await startFrontEnd(data, () => void end(0));

function showLife(pulse: Pulse): void {
  setInterval(() => pulse.beat(data.place), BEAT_MS).unref();
}

/**
 * Closes the front-end, starting with its sockets, because a thread that exits with open uWebSockets.js
 * sockets ends the process. Waits only for a limited time: V8 drops pending promises after an interruption,
 * so closing might never finish.
 */
async function end(code: number): Promise<void> {
  await within(frontEnd.close(), CLOSE_MS_MAX, () => undefined);
  setImmediate(() => setImmediate(() => process.exit(code)));
}

process.on("uncaughtException", (error) => {
  process.stderr.write(`${JSON.stringify({ level: "fatal", place: data.place, detail: error.stack })}\n`);
  void end(1);
});
