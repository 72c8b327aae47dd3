// Writes one shard's part of the copy of an index. Sends the shard its documents in messages of bounded size,
// a few of them in flight at a time.
import { encodeAdopt, type MovedDocument, movedBytes } from "../../../shards/protocol/move.js";
import { decodeEmptyReply } from "../../../shards/protocol/reply.js";
import { decodeReply } from "../../fleet/threads/shard-errors.js";
import type { Message } from "../../fleet/threads/shard-pool.js";

export type AskShard = (shard: number, request: Message) => Promise<Uint8Array>;

/** Document bytes per message. Each message becomes one segment. */
const ADOPT_BYTES = 1024 * 1024;
const ADOPTS_IN_FLIGHT_MAX = 2;

export class NewPart {
  readonly #ask: AskShard;
  readonly #shard: number;
  readonly #uid: number;
  readonly #generation: number;
  readonly #inFlight: Promise<void>[] = [];
  #documents: MovedDocument[] = [];
  #bytes = 0;

  /** The documents become visible in `generation`. */
  constructor(ask: AskShard, shard: number, uid: number, generation: number) {
    this.#ask = ask;
    this.#shard = shard;
    this.#uid = uid;
    this.#generation = generation;
  }

  async add(document: MovedDocument): Promise<void> {
    this.#documents.push(document);
    this.#bytes += movedBytes(document);
    if (this.#bytes >= ADOPT_BYTES) await this.#send(ADOPTS_IN_FLIGHT_MAX);
  }

  /** Sends the remaining documents. Resolves when all documents are durable. */
  async flush(): Promise<void> {
    await this.#send(1);
  }

  async #send(inFlightMax: number): Promise<void> {
    const documents = this.#documents;
    this.#documents = [];
    this.#bytes = 0;
    const last = documents.at(-1);
    if (last !== undefined) {
      const request = { uid: this.#uid, generation: this.#generation, maxSeq: last.seq, documents };
      const sent = this.#adopt(encodeAdopt(request));
      sent.catch(() => undefined);
      this.#inFlight.push(sent);
    }
    while (this.#inFlight.length >= inFlightMax) await this.#inFlight.shift();
  }

  async #adopt(request: Message): Promise<void> {
    decodeReply(await this.#ask(this.#shard, request), decodeEmptyReply);
  }
}
