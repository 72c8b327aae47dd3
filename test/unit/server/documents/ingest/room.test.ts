// Documents are refused while the disk under the data directory has too little room.
import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { Room } from "../../../../../server/documents/ingest/room.js";

const { bavail, bsize } = statfsSync(tmpdir());
/** Others use the disk, too. */
const SOME = (bavail * bsize) / 2;

function room(diskFreeBytesMin: number): Room {
  return new Room(tmpdir(), { memoryBytesMax: Number.POSITIVE_INFINITY, diskFreeBytesMin });
}

test("what is free beyond the least that must be is room, also for something large", () => {
  room(SOME).check();
  room(0).check(SOME);
  const refusal = expect.objectContaining({ code: "SK-SYS-503", retryAfter: 10 });
  expect(() => room(4 * SOME).check()).toThrow(refusal);
  expect(() => room(2 * SOME).check(2 * SOME)).toThrow(refusal);
});
