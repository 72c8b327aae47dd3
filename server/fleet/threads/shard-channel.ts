// The server's end of the channel for reads from one life of a shard's thread. Reads sent in the same turn of
// the event loop share one message. Writes never use this channel, so it cannot reorder them.
import type { MessagePort } from "node:worker_threads";
import { CANCEL, Frames, readFrames } from "../../../shards/protocol/frames.js";
import type { LifeMember, RequestLife } from "../../ground/jobs/request-life.js";

/** A read in flight. When the request's life ends, the read is cancelled. */
interface WaitingRead extends LifeMember {
  readonly life: RequestLife;
  readonly resolve: (reply: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Ids wrap around after this many reads. By then, the earlier read with the same id has long been answered or
 * has failed.
 */
const IDS = 2 ** 32;

export class ShardChannel {
  readonly #port: MessagePort;
  readonly #requests = new Frames();
  readonly #inside = new Map<number, WaitingRead>();
  #lastId = 0;
  #closed: Error | null = null;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on("message", (message: Uint8Array) => readFrames(message, this.#answered));
  }

  /** Number of reads in flight. */
  get inside(): number {
    return this.#inside.size;
  }

  /**
   * Sends a request and resolves with its reply. If `life` ends first, tells the shard, which then refuses
   * the read soon. The read counts as in flight until it does, so that the quarantine knows what runs. The
   * bytes must not change before the end of this turn of the event loop. `flow`: see FairQueue.
   */
  ask(request: Uint8Array, flow: number, life: RequestLife): Promise<Uint8Array> {
    if (this.#closed !== null) return Promise.reject(this.#closed);
    if (life.reason !== null) return Promise.reject(life.reason);
    return new Promise((resolve, reject) => {
      this.#lastId = (this.#lastId + 1) % IDS;
      const id = this.#lastId;
      const read: WaitingRead = { life, resolve, reject, lifeEnded: () => this.#add(id, CANCEL, flow) };
      life.join(read);
      this.#inside.set(id, read);
      this.#add(id, request, flow);
    });
  }

  #add(id: number, request: Uint8Array, flow: number): void {
    if (this.#requests.empty) setImmediate(this.#send);
    this.#requests.add(id, request, flow);
  }

  /** Rejects the reads in flight and all later reads with `reason`, because the other end is gone. */
  close(reason: Error): void {
    this.#closed = reason;
    this.#port.close();
    const reads = [...this.#inside.values()];
    this.#inside.clear();
    for (const read of reads) {
      read.life.leave(read);
      read.reject(reason);
    }
  }

  readonly #send = (): void => {
    const message = this.#requests.take();
    this.#port.postMessage(message, [message.buffer]);
  };

  readonly #answered = (id: number, reply: Uint8Array): void => {
    const read = this.#inside.get(id);
    if (read === undefined) return;
    this.#inside.delete(id);
    read.life.leave(read);
    read.resolve(reply);
  };
}
