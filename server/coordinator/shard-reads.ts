// The way of reads to the shards: those of one turn share a message, those that have ended a shard do not get there.
import type { Limits } from "../limits.js";
import type { Logger } from "../log.js";
import { Quarantine, type Subject } from "./quarantine.js";
import { ReadBatcher } from "./read-batcher.js";
import type { Message } from "./shard-pool.js";

type AskShard = (shard: number, request: Message) => Promise<Uint8Array>;

export class ShardReads {
  readonly #ask: AskShard;
  /** By shard; empty with one shard, where sharing messages gains nothing. */
  readonly #batchers: readonly ReadBatcher[];
  /** By shard. */
  readonly #quarantines: readonly Quarantine[];

  constructor(shards: number, ask: AskShard, log: Logger) {
    this.#ask = ask;
    this.#batchers = Array.from(
      { length: shards > 1 ? shards : 0 },
      (_, shard) => new ReadBatcher((request) => ask(shard, request)),
    );
    this.#quarantines = Array.from({ length: shards }, (_, shard) => new Quarantine(shard, log));
  }

  /** One read from one shard, its reply decoded. A read with a subject is refused when it has ended the shard before. */
  read<T>(
    shard: number,
    request: Message,
    decode: (reply: Uint8Array) => T,
    subject: Subject | undefined,
  ): Promise<T> {
    const send = async (alone: boolean): Promise<T> => {
      const batcher = alone ? undefined : this.#batchers[shard];
      return decode(await (batcher?.ask(request) ?? this.#ask(shard, request)));
    };
    return subject === undefined ? send(false) : (this.#quarantines[shard] as Quarantine).run(subject, send);
  }
}

/** Date.now() after which the answer to a search that begins now is not wanted any more. */
export function searchDeadline({ searchMsMax }: Pick<Limits, "searchMsMax">): number {
  return Math.ceil(Date.now() + searchMsMax);
}
