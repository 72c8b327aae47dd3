// Refuses documents while memory or disk are short, before anything of them is sent to a shard: a refusal here
// leaves nothing half done. Reads go on, and writes are taken again as soon as there is room.
import { statfsSync } from "node:fs";
import type { Cluster } from "../cluster/cluster.js";
import { SkeinError } from "../errors.js";

const RETRY_SECONDS = 10;
/** The disk is asked no more often. */
const DISK_MS = 250;

/** What was known last of the disk under a data directory. */
const known = new Map<string, { atMs: number; freeBytes: number }>();

/** Throws SK-SYS-503. */
export function refuseWithoutRoom({ limits, dataDir }: Pick<Cluster, "limits" | "dataDir">): void {
  const { memoryBytesMax, diskFreeBytesMin } = limits;
  if (memoryBytesMax !== Number.POSITIVE_INFINITY && process.memoryUsage.rss() >= memoryBytesMax) {
    throw refusal("The memory limit is reached");
  }
  if (freeBytes(dataDir) < diskFreeBytesMin) throw refusal("The disk is full");
}

function refusal(what: string): SkeinError {
  return new SkeinError("SK-SYS-503", `${what}; documents cannot be taken at the moment.`, {
    retryAfter: RETRY_SECONDS,
  });
}

function freeBytes(dataDir: string): number {
  const atMs = performance.now();
  const last = known.get(dataDir);
  if (last !== undefined && atMs - last.atMs < DISK_MS) return last.freeBytes;
  const { bavail, bsize } = statfsSync(dataDir);
  const freeBytes = bavail * bsize;
  known.set(dataDir, { atMs, freeBytes });
  return freeBytes;
}
