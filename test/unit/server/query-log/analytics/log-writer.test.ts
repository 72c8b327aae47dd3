// The query log's writer when the server stops: rows that could not be stored before are tried once more at
// once, and rows that are lost are not passed over in silence.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { Secrets } from "../../../../../server/ground/data-dir/secrets.js";
import { Recorder } from "../../../../../server/ground/metrics/recorder.js";
import { LogStorageError } from "../../../../../server/query-log/analytics/analytics-pool.js";
import { LogWriter } from "../../../../../server/query-log/analytics/log-writer.js";
import { People } from "../../../../../server/query-log/analytics/people.js";

const CLICK = {
  log: 1,
  type: "click",
  atMs: 1_000,
  search: null,
  query: "lamp",
  document: "1",
  position: 1,
  value: 0,
  eventId: "",
  user: 0,
  session: 0,
} as const;

/** A writer whose chunks are refused while `isFull` is true. */
function world() {
  const directory = mkdtempSync(join(tmpdir(), "skein-log-writer-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const disk = { isFull: false, stored: 0, attempts: 0 };
  const writer = new LogWriter({
    send: async () => {
      disk.attempts++;
      if (disk.isFull) throw new LogStorageError("the disk is full");
      disk.stored++;
    },
    people: new People(new Secrets(directory).pseudonymKey),
    waitingBytesMax: 1_000_000,
    meter: new Recorder().queryLog,
    log: pino({ level: "silent" }),
  });
  return { writer, disk };
}

test("a stop stores what was written last", async () => {
  const { writer, disk } = world();
  writer.happened(CLICK);
  await writer.stop();
  expect(disk.stored).toBe(1);
});

test("a stop tries refused rows once more, without waiting for the next attempt", async () => {
  const { writer, disk } = world();
  disk.isFull = true;
  writer.happened(CLICK);
  await writer.flush();
  expect(disk).toMatchObject({ attempts: 1, stored: 0 });
  disk.isFull = false;
  await writer.stop();
  expect(disk).toMatchObject({ attempts: 2, stored: 1 });
});

test("a stop on a full disk ends and tells how much is lost", async () => {
  const { writer, disk } = world();
  disk.isFull = true;
  writer.happened(CLICK);
  await expect(writer.stop()).rejects.toThrow(/^\d+ bytes of searches could not be logged$/);
  expect(disk.stored).toBe(0);
});
