// Documents are refused while the data directory's disk is nearly full.
import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { Headroom } from "../../../../../server/ground/data-dir/headroom.js";

const { bavail, bsize } = statfsSync(tmpdir());
/** Half of the free space, because other programs use the disk too. */
const SOME = (bavail * bsize) / 2;

function headroom(diskFreeBytesMin: number): Headroom {
  return new Headroom(tmpdir(), { memoryBytesMax: Number.POSITIVE_INFINITY, diskFreeBytesMin });
}

test("headroom is the free space beyond the reserve, also for a large write", () => {
  headroom(SOME).check();
  headroom(0).check(SOME);
  const refusal = expect.objectContaining({ code: "SK-SYS-503", retryAfter: 10 });
  expect(() => headroom(4 * SOME).check()).toThrow(refusal);
  expect(() => headroom(2 * SOME).check(2 * SOME)).toThrow(refusal);
});
