// A log that cannot be written: lines are dropped and counted, the process continues, and the next line is
// complete.
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createLogger } from "../../../../server/ground/log.js";

const FULL = "/dev/full";

test("writes one JSON object per line", () => {
  const folder = mkdtempSync(join(tmpdir(), "skein-test-log-"));
  const file = join(folder, "log");
  const descriptor = openSync(file, "w");
  const log = createLogger("info", () => expect.unreachable(), descriptor);
  log.info({ shards: 2 }, "listening");
  log.debug("not asked for");
  log.warn("élan");
  closeSync(descriptor);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  rmSync(folder, { recursive: true });
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: "info", shards: 2, msg: "listening" },
    { level: "warn", msg: "élan" },
  ]);
});

test.skipIf(!existsSync(FULL))("drops and counts lines that a full disk does not accept", async () => {
  const descriptor = openSync(FULL, "w");
  let dropped = 0;
  const log = createLogger("info", () => dropped++, descriptor);
  for (let i = 0; i < 3; i++) log.info({ i }, "a line");
  await new Promise(setImmediate); // lets any unhandled error surface
  closeSync(descriptor);
  expect(dropped).toBe(3);
});
