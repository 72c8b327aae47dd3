// The server's end of the channel for reads to one life of a shard's thread: reads of the same turn of the
// event loop leave in one message. Writes never pass through here, so their order is untouched.
import type { MessagePort } from "node:worker_threads";
import { Frames, readFrames } from "../../../shards/protocol/frames.js";

interface WaitingRead {
  readonly resolve: (reply: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
}

/** Ids come round after so many reads; the oldest of them has been answered or has failed long before. */
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

  /** Reads that wait for their answer. */
  get inside(): number {
    return this.#inside.size;
  }

  /**
   * One request, one reply. The bytes must stay as they are until the end of this turn. `flow`: see
   * FairQueue.
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

  /** The other end is gone: fails the reads inside and all later ones. */
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
