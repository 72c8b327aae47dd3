// Ends a hanging test process and reports where it hangs. Vitest's time limits are timers on the test thread,
// so they never fire while that thread is stuck in a loop, and importing a test file has no limit at all.
import { Worker } from "node:worker_threads";
import { beforeEach, expect } from "vitest";
import { effort } from "./effort.js";

/** Longer than every time limit in vitest.config.ts. */
const SILENCE_MS = effort(600_000, 7_200_000);
const STACK_MS = 5_000;
const FRAMES = 12;

/**
 * Receives a message whenever a file or test begins. If no message arrives for too long, prints the last
 * message and the stack, and ends the process.
 */
const GUARD = `
  const { writeSync } = require("node:fs");
  const { Session } = require("node:inspector");
  const { parentPort, workerData } = require("node:worker_threads");

  // Not through process.stderr, which the hanging thread would have to forward.
  const say = (line) => writeSync(2, line + "\\n");
  const end = () => process.kill(process.pid, "SIGKILL");

  function hangs(what) {
    say("Error: this test process hangs in " + what);
    setTimeout(end, workerData.stackMs); // a thread that waits for a lock shows no stack
    const session = new Session();
    session.connectToMainThread();
    const scripts = new Map();
    session.on("Debugger.scriptParsed", ({ params }) => scripts.set(params.scriptId, params.url));
    session.on("Debugger.paused", ({ params }) => {
      for (const { functionName, location } of params.callFrames.slice(0, workerData.frames)) {
        say("    at " + functionName + " (" + scripts.get(location.scriptId) + ":" + (location.lineNumber + 1) + ")");
      }
      end();
    });
    session.post("Debugger.enable");
    session.post("Debugger.pause");
  }

  let timer;
  parentPort.on("message", (what) => {
    clearTimeout(timer);
    timer = setTimeout(hangs, workerData.silenceMs, what);
  });
`;

const guarded = globalThis as { hangGuard?: Worker };

/** Starts the guard for all test files in a process. */
function guard(): Worker {
  if (guarded.hangGuard === undefined) {
    const workerData = { silenceMs: SILENCE_MS, stackMs: STACK_MS, frames: FRAMES };
    guarded.hangGuard = new Worker(GUARD, { eval: true, workerData });
    guarded.hangGuard.unref();
  }
  return guarded.hangGuard;
}

guard().postMessage(expect.getState().testPath);
beforeEach(({ task }) => guard().postMessage(`${task.file.name} > ${task.name}`));
