// Refuses documents while memory or disk are short. It does so before anything is sent to a shard, so a refusal leaves
// nothing half done. Reads go on, and writes are taken again as soon as there is room.
import { statfsSync } from "node:fs";
import { SkeinError } from "../../ground/errors.js";
import type { Limits } from "../../ground/limits.js";

const RETRY_SECONDS = 10;
/** The free bytes of the disk are asked for no more often than this. */
const DISK_MS = 250;

export class Room {
  readonly #dataDir: string;
  readonly #limits: Pick<Limits, "memoryBytesMax" | "diskFreeBytesMin">;
  /** The last known free bytes of the disk under the data directory. */
  #known = { atMs: Number.NEGATIVE_INFINITY, freeBytes: 0 };

  constructor(dataDir: string, limits: Pick<Limits, "memoryBytesMax" | "diskFreeBytesMin">) {
    this.#dataDir = dataDir;
    this.#limits = limits;
  }

  /** Throws SK-SYS-503 while there is no room, for something of so many bytes if it is given. */
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
  return new SkeinError("SK-SYS-503", `${what}; documents cannot be taken at the moment`, {
    retryAfter: RETRY_SECONDS,
  });
}
