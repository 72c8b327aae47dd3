// Every read and write tells the shards which generations are still read, so that they drop what only older ones see.
// After the last write of an index there may be neither for long; then a message of its own tells them.
import { encodeInUse } from "../../shards/protocol/control.js";
import { decodeEmptyReply } from "../../shards/protocol/reply.js";
import type { Jobs } from "../jobs/jobs.js";
import type { Logger } from "../log.js";
import type { Message } from "../threads/shard-life.js";
import type { Generations } from "./generations.js";

const QUIET_MS = 1_000;

export interface QuietWritesOptions {
  /** Undefined for an index that is not open any more. */
  generations(uid: number): Generations | undefined;
  everywhere(encode: () => Message, decode: (reply: Uint8Array) => void): Promise<unknown>;
  readonly jobs: Jobs;
  readonly log: Logger;
}

export class QuietWrites {
  readonly #options: QuietWritesOptions;

  constructor(options: QuietWritesOptions) {
    this.#options = options;
  }

  /** A write was published. */
  written(uid: number): void {
    const job = { name: "tell which generations are read", subject: `generations of index ${uid}` };
    this.#options.jobs.after(QUIET_MS, job, () => this.#tell(uid));
  }

  async #tell(uid: number): Promise<void> {
    const { generations, everywhere, log } = this.#options;
    const found = generations(uid);
    if (found === undefined) return;
    const { oldest, published } = found;
    // a slow read still holds an older one: once more
    if (oldest < published) this.written(uid);
    try {
      await everywhere(() => encodeInUse(uid, oldest), decodeEmptyReply);
    } catch (error) {
      log.debug({ err: error, uid }, "a shard could not be told which generations are read");
    }
  }
}
