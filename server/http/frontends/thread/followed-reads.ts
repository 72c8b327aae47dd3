// How reads of a front-end reach the shards: by its own lines, or through the owner while some read is suspected of ending a
// shard (quarantine.ts). The owner hears of each read that was inside at an end.
import type { Subject } from "../../../fleet/threads/quarantine.js";
import type { ReadSender } from "../../../fleet/threads/read-calls.js";
import type { ReadGate } from "../../../fleet/threads/read-gate.js";
import { ShardEndedError } from "../../../fleet/threads/shard-errors.js";
import type { Message } from "../../../fleet/threads/shard-pool.js";
import { carried, type ThreadLine } from "../line.js";
import type { OwnerCalls } from "../messages.js";
import type { FollowedShards } from "./followed-shards.js";

export class FollowedReads implements ReadSender {
  readonly #shards: FollowedShards;
  readonly #gate: ReadGate;
  readonly #place: number;
  readonly #owner: ThreadLine<OwnerCalls>;

  constructor(shards: FollowedShards, gate: ReadGate, place: number, owner: ThreadLine<OwnerCalls>) {
    this.#shards = shards;
    this.#gate = gate;
    this.#place = place;
    this.#owner = owner;
  }

  async read<T>(
    shard: number,
    tenant: number,
    request: Message,
    decode: (reply: Uint8Array) => T | Promise<T>,
    subject: Subject | undefined,
  ): Promise<T> {
    if (subject === undefined) return decode(await this.#shards.read(shard, request, tenant));
    if (!this.#gate.enter(shard, this.#place))
      return decode(await this.#owner.ask("read", { shard, tenant, request, subject: subject() }));
    try {
      return await decode(await this.#shards.read(shard, request, tenant));
    } catch (error) {
      if (error instanceof ShardEndedError)
        this.#owner.tell("blame", { shard, subject: subject(), life: error.life, error: carried(error) });
      throw error;
    } finally {
      this.#gate.leave(shard, this.#place);
    }
  }
}
