// Reads that reach one shard in the same turn of the event loop share one message: a thread hop costs more
// than a small read, and with several shards every query hops once per shard. Writes never pass through here,
// so their order is untouched.
import { decodeTogetherReply, encodeTogether } from "../../shards/protocol/together.js";
import type { Message } from "./shard-pool.js";

/** Each read of a message waits for the slowest of it. */
const READS_MAX = 8;

interface WaitingRead {
  readonly request: Message;
  readonly resolve: (reply: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
}

export class ReadBatcher {
  readonly #send: (request: Message) => Promise<Uint8Array>;
  #waiting: WaitingRead[] = [];

  constructor(send: (request: Message) => Promise<Uint8Array>) {
    this.#send = send;
  }

  /** As if the request were sent alone. */
  ask(request: Message): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#flush());
      this.#waiting.push({ request, resolve, reject });
    });
  }

  #flush(): void {
    const reads = this.#waiting;
    this.#waiting = [];
    for (let at = 0; at < reads.length; at += READS_MAX)
      void this.#sendTogether(reads.slice(at, at + READS_MAX));
  }

  async #sendTogether(reads: readonly WaitingRead[]): Promise<void> {
    try {
      const only = reads.length === 1 ? reads[0] : undefined;
      if (only !== undefined) {
        only.resolve(await this.#send(only.request));
        return;
      }
      const reply = await this.#send(encodeTogether(reads.map((read) => read.request)));
      const replies = decodeTogetherReply(reply);
      reads.forEach((read, i) => {
        read.resolve(replies[i] as Uint8Array);
      });
    } catch (error) {
      for (const read of reads) read.reject(error);
    }
  }
}
