// The server's end of the channel for reads from one life of a shard's thread. Reads sent in the same turn of
// the event loop share one message. Writes never use this channel, so it cannot reorder them.
import type { MessagePort } from "node:worker_threads";
import { Frames, readFrames } from "../../../shards/protocol/frames.js";

interface WaitingRead {
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
   * Sends a request and resolves with its reply. The bytes must not change before the end of this turn of the
   * event loop. `flow`: see FairQueue.
   */
  ask(request: Uint8Array, flow: number): Promise<Uint8Array> {
    if (this.#closed !== null) return Promise.reject(this.#closed);
    return new Promise((resolve, reject) => {
      this.#lastId = (this.#lastId + 1) % IDS;
      this.#inside.set(this.#lastId, { resolve, reject });
      if (this.#requests.empty) setImmediate(this.#send);
      this.#requests.add(this.#lastId, request, flow);
    });
  }

  /** Rejects the reads in flight and all later reads with `reason`, because the other end is gone. */
  close(reason: Error): void {
    this.#closed = reason;
    this.#port.close();
    const reads = [...this.#inside.values()];
    this.#inside.clear();
    for (const { reject } of reads) reject(reason);
  }

  readonly #send = (): void => {
    const message = this.#requests.take();
    this.#port.postMessage(message, [message.buffer]);
  };

  readonly #answered = (id: number, reply: Uint8Array): void => {
    const read = this.#inside.get(id);
    if (read === undefined) return;
    this.#inside.delete(id);
    read.resolve(reply);
  };
}
