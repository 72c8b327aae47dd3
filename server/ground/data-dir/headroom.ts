// Refuses writes while memory or disk space is short. The check comes before anything is sent to a shard, so
// a refused write leaves nothing half done. Reads continue, and writes are accepted again once space is free.
import { statfsSync } from "node:fs";
import { SkeinError } from "../errors.js";
import type { Limits } from "../limits.js";

const RETRY_SECONDS = 10;
/** Free disk space is measured at most once in this many milliseconds. */
const DISK_MS = 250;

export class Headroom {
  readonly #dataDir: string;
  readonly #limits: Pick<Limits, "memoryBytesMax" | "diskFreeBytesMin">;
  /** When the data directory's disk was last measured, and how much of it was free. */
  #known = { atMs: Number.NEGATIVE_INFINITY, freeBytes: 0 };

  constructor(dataDir: string, limits: Pick<Limits, "memoryBytesMax" | "diskFreeBytesMin">) {
    this.#dataDir = dataDir;
    this.#limits = limits;
  }

  /**
   * Checks that there is room for a write. Throws SK-SYS-503 if memory is short, or if the disk does not have
   * `diskBytes` free on top of its reserve.
   */
  check(diskBytes = 0): void {
    const { memoryBytesMax, diskFreeBytesMin } = this.#limits;
    if (memoryBytesMax !== Number.POSITIVE_INFINITY && process.memoryUsage.rss() >= memoryBytesMax) {
      throw refusal("the memory limit is reached");
    }
    if (this.#freeBytes() < diskFreeBytesMin + diskBytes) throw refusal("the disk is full");
  }

  #freeBytes(): number {
    const atMs = performance.now();
    if (atMs - this.#known.atMs < DISK_MS) return this.#known.freeBytes;
    const { bavail, bsize } = statfsSync(this.#dataDir);
    this.#known = { atMs, freeBytes: bavail * bsize };
    return this.#known.freeBytes;
  }
}

function refusal(what: string): SkeinError {
  return new SkeinError("SK-SYS-503", `${what}; documents cannot be stored at the moment`, {
    retryAfter: RETRY_SECONDS,
  });
}
