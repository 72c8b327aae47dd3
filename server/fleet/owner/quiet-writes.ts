// Tells the shards the oldest generation still being read, so that they can drop data that only older
// generations need. Every read and write carries this number. But an index may see no read or write for a
// long time after its last write, so this class then sends the number in a message of its own.
import { encodeInUse } from "../../../shards/protocol/control.js";
import { decodeEmptyReply } from "../../../shards/protocol/reply.js";
import type { Places } from "../../catalog/schema/placement.js";
import type { Jobs } from "../../ground/jobs/jobs.js";
import type { Logger } from "../../ground/log.js";
import type { Message } from "../threads/shard-life.js";
import type { IndexState } from "./index-state.js";

const QUIET_MS = 1_000;

export interface QuietWritesOptions {
  /** Returns the index's state, or undefined if the index is no longer open. */
  find(uid: number): Pick<IndexState, "generations" | "newest"> | undefined;
  /** Sends the message to each of the shards. */
  tell(shards: Places, encode: () => Message, decode: (reply: Uint8Array) => void): Promise<unknown>;
  readonly jobs: Jobs;
  readonly log: Logger;
}

export class QuietWrites {
  readonly #options: QuietWritesOptions;

  constructor(options: QuietWritesOptions) {
    this.#options = options;
  }

  /** Call when a write has been published. */
  written(uid: number): void {
    const job = { name: "tell which generations are read", subject: `generations of index ${uid}` };
    this.#options.jobs.after(QUIET_MS, job, () => this.#tell(uid));
  }

  async #tell(uid: number): Promise<void> {
    const { find, tell, log } = this.#options;
    const found = find(uid);
    if (found === undefined) return;
    const { oldest, published } = found.generations;
    // A slow read still holds an older generation, so try again later.
    if (oldest < published) this.written(uid);
    try {
      const { data, places } = found.newest;
      await tell(places, () => encodeInUse(data, oldest), decodeEmptyReply);
    } catch (error) {
      log.debug({ err: error, uid }, "a shard could not be told which generations are read");
    }
  }
}
