// Runs before the tests in `npm test`: builds stale targets while it runs the type checks and the lint. They
// run in parallel because each step uses only one core. Repeated type checks are incremental (tsconfig.json).
// A step prints its output when it ends. The exit code is 1 if any step failed.
import { spawn } from "node:child_process";

/** The steps of a lane run one after the other. In a fresh checkout both lanes take about the same time. */
const LANES = [
  ["node scripts/build.mjs --if-stale"],
  ["npm run --silent typecheck", "npm run --silent lint"],
];

/** Resolves with the exit code. */
function run(step) {
  return new Promise((resolve) => {
    const child = spawn(step, { shell: true, stdio: ["ignore", "pipe", "pipe"] });
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => output.push(bytes));
    child.once("close", (code) => {
      process.stdout.write(Buffer.concat(output));
      if (code !== 0) console.log(`failed: ${step}`);
      resolve(code);
    });
  });
}

async function runLane(steps) {
  let failed = false;
  for (const step of steps) failed = (await run(step)) !== 0 || failed;
  return failed;
}

const failed = await Promise.all(LANES.map(runLane));
process.exitCode = failed.includes(true) ? 1 : 0;
