// `npm run demo`: builds what is stale, then runs the demo with the same arguments. A build takes half a
// minute, so the arguments are parsed first: --help and a mistyped option get an immediate response.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const USAGE = `usage: npm run demo -- [--port N] [--data-dir DIRECTORY] [--exit]

Starts a server, fills it with a small shop, runs a few searches, and stays up until Ctrl-C.

  --port N               port to listen on (8800, or a free one)
  --data-dir DIRECTORY   where to keep the data (a temporary directory)
  --exit                 end after the searches
`;
const options = {
  port: { type: "string" },
  "data-dir": { type: "string" },
  exit: { type: "boolean" },
  help: { type: "boolean", short: "h" },
};

function isHelpWanted() {
  try {
    return parseArgs({ options }).values.help === true;
  } catch (error) {
    process.stderr.write(`demo: ${error.message}\n${USAGE}`);
    process.exit(2);
  }
}

if (isHelpWanted()) {
  process.stdout.write(USAGE);
} else {
  const build = [join(ROOT, "scripts/build.mjs"), "--if-stale"];
  process.exitCode = spawnSync(process.execPath, build, { stdio: "inherit" }).status ?? 1;
  if (process.exitCode === 0) await import("../dist/server/cli/demo/main.js");
}
